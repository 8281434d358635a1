"""Refuse numbers for which no bound is stated."""

from __future__ import annotations

import math
from numbers import Integral

from askfew.errors import InvalidInput

__all__ = ["check_delta", "check_items", "check_positive", "check_share"]


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
    """Both groups have at least one item; a smaller share would make a false lower bound."""
    check_items(items)
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
