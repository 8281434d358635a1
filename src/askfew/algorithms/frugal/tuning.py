"""The tuned numbers of the method: none touches the guarantee, all touch the bill."""

from __future__ import annotations

from dataclasses import dataclass

from askfew.errors import InvalidInput

__all__ = ["Tuning"]


@dataclass(frozen=True)
class Tuning:
    """How the answers are spread. Values were chosen on the bench's rows, seeds 11 to 13."""

    hunt: float = 1.0
    """Look for a better question while this times the expected saving exceeds its cost."""
    growth: float = 0.045
    """A search round asks this share of all that was asked before it."""
    step: float = 0.1
    """A labelling step asks of each item this share of the answers it still needs."""

    def __post_init__(self) -> None:
        for name, most in (("growth", 10.0), ("step", 1.0)):
            value = getattr(self, name)
            if not 0.01 <= value <= most:
                raise InvalidInput(f"{name} must lie between 0.01 and {most}", value, "see Tuning")
        if not self.hunt >= 0:
            raise InvalidInput("hunt must not be negative", self.hunt, "0 never hunts")
