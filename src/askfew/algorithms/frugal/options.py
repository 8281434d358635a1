"""The knobs of the frugal method: none touches the guarantee, all touch the bill."""

from __future__ import annotations

from dataclasses import dataclass

from askfew.errors import InvalidInput

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """How the answers are spread; every default was chosen on the table in docs and benchmarks."""

    pair_share: float = 0.15
    """At most this share of delta confirms the representatives; the rest is for the labels."""
    hunt: float = 3.0
    """Look for a better question while this times the expected saving exceeds its cost."""
    rotate: bool = True
    """Draw references from all items labelled so far, instead of the two representatives only."""
    growth: float = 0.07
    """A search round asks this share of all that was asked before it."""
    step: float = 0.15
    """A labelling step asks of each item this share of the answers it still needs."""

    def __post_init__(self) -> None:
        for name, most in (("pair_share", 0.9), ("growth", 10.0), ("step", 1.0)):
            value = getattr(self, name)
            if not 0.01 <= value <= most:
                raise InvalidInput(f"{name} must lie between 0.01 and {most}", value, "see Options")
        if not self.hunt >= 0:
            raise InvalidInput("hunt must not be negative", self.hunt, "0 never hunts")
