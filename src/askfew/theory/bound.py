"""A bound: a number, what it is a bound of, and where it comes from."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Bound", "Kind"]

Kind: TypeAlias = Literal["lower", "upper", "shape", "forecast"]
"""``shape`` is an upper bound without its unknown constant; ``forecast`` is no bound at all."""

_SIGNS: dict[Kind, str] = {"lower": ">=", "upper": "<=", "shape": "<= C *", "forecast": "about"}


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One bound at one set of numbers. Where it says nothing, ``void`` says why.

    >>> Bound(name="toy", kind="lower", value=3.0, of="mean answers", when="always",
    ...       formula="3", reference="none").to_dict()["value"]
    3.0
    """

    name: str
    kind: Kind
    value: float
    """Answers, unless ``unit`` says otherwise; 0 for a void lower bound, else infinity."""
    of: str
    """The quantity that is bounded."""
    when: str
    """For which methods and problems it holds."""
    formula: str
    reference: str
    unit: str = "answers"
    void: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values: infinity, which JSON has not, is None."""
        return {**asdict(self), "value": self.value if math.isfinite(self.value) else None}

    def __str__(self) -> str:
        if self.void is not None:
            return f"{self.name}: {self.void}"
        return f"{self.name}: {self.of} {_SIGNS[self.kind]} {self.value:,.4g}"
