"""The tuned numbers of the method: none touches the guarantee, all touch the bill."""

from __future__ import annotations

from dataclasses import dataclass

from askfew.errors import InvalidInput

__all__ = ["Tuning"]


@dataclass(frozen=True)
class Tuning:
    """How the answers are spread: a prototype's values, confirmed on the bench (seeds 11, 13)."""

    hunt: float = 1.0
    """Look for a better question while this times the expected saving exceeds its cost."""
    growth: float = 0.045
    """A search round asks this share of all that was asked before it."""
    step: float = 0.1
    """A labelling step asks of each item this share of the answers it still needs."""

    def __post_init__(self) -> None:
        for name, least, most in (("growth", 0.01, 10.0), ("step", 0.01, 1.0), ("hunt", 0, 1e9)):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and least <= value <= most):
                raise InvalidInput(
                    f"{name} must be a number from {least:g} to {most:g}",
                    repr(value),
                    f"leave it out for {getattr(Tuning, name)}",
                )
