"""A bound: a number, what it bounds and where it comes from. Also the checks of its inputs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias

from askfew.errors import InvalidInput

__all__ = [
    "Bound",
    "Kind",
    "check_delta",
    "check_divergence",
    "check_items",
    "check_positive",
    "check_share",
    "one_answer_is_proof",
    "too_few_items",
]

Kind: TypeAlias = Literal["lower", "upper", "shape", "forecast"]
"""``shape`` is an upper bound without its unknown constant; ``forecast`` is no bound at all."""

_SIGNS: dict[Kind, str] = {"lower": ">=", "upper": "<=", "shape": "<= C *", "forecast": "about"}


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One bound at one set of numbers. If the bound says nothing, ``void`` says why.

    >>> Bound(name="toy", kind="lower", value=3.0, of="mean answers", when="always",
    ...       formula="3", reference="none").to_dict()["value"]
    3.0
    """

    name: str
    kind: Kind
    value: float
    """In answers, unless ``unit`` says otherwise; 0 for a void lower bound, else infinity."""
    of: str
    """The quantity that is bounded."""
    when: str
    """For which methods and problems it holds."""
    formula: str
    reference: str
    unit: str = "answers"
    void: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values; infinity becomes None, because JSON has no infinity."""
        return {**asdict(self), "value": self.value if math.isfinite(self.value) else None}

    def __str__(self) -> str:
        if self.void is not None:
            return f"{self.name}: {self.void}"
        return f"{self.name}: {self.of} {_SIGNS[self.kind]} {self.value:,.4g}"


# If a bound is not defined for an input, that is an error; if it says nothing there, it is void.


def check_items(items: int) -> None:
    """Two groups need two items."""
    if not isinstance(items, Integral) or items < 2:
        raise InvalidInput("items must be a whole number, at least 2", items, "count the items")


def check_delta(delta: float) -> None:
    """A probability of error, neither 0 nor 1."""
    if not 0 < delta < 1:
        raise InvalidInput(
            "delta, the allowed probability of any wrong label, must lie strictly between 0 and 1",
            delta,
            "pass for example 0.05",
        )


def check_share(share: float, items: int) -> None:
    """Both groups must have an item; a smaller share would give a false lower bound."""
    check_items(items)
    # A little slack, because a share k / items is seldom exact in floats.
    if not 1 - 1e-9 <= share * items <= items - 1 + 1e-9:
        raise InvalidInput(
            f"share, one group's part of the {items} items, must leave an item in each group",
            share,
            f"pass at least 1/{items} and at most 1 - 1/{items}",
        )


def check_positive(name: str, value: float) -> None:
    """A positive, finite number."""
    if not (math.isfinite(value) and value > 0):
        raise InvalidInput(f"{name} must be a positive number", value, "pass for example 1.0")


def check_divergence(value: float, name: str) -> None:
    """Positive; infinite is allowed."""
    if not value > 0:
        raise InvalidInput(
            f"{name} must be positive", value, "groups that differ nowhere cannot be told apart"
        )


def too_few_items(items: int) -> str | None:
    """Why a bound for two groups is void, if it is: of two items, one is in each group."""
    return "void: two items need no answer" if items == 2 else None


def one_answer_is_proof(divergence: float) -> str | None:
    """Why a bound by divergence is void, if it is."""
    return "void: one answer can be proof" if math.isinf(divergence) else None
