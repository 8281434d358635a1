"""Numbers and lists as they are written in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["chance", "confidence", "counted", "listed", "money", "ratio"]

_CENT = 0.01
"""Smaller amounts are written with more digits."""
_NEARLY_SURE = 0.99
"""Above this, an estimate is not told more precisely: it would round to 100 %."""


def counted(number: float, one: str, many: str | None = None) -> str:
    """A number with its noun, singular or plural.

    >>> counted(1, "item"), counted(1200, "item"), counted(2, "is", "are")
    ('1 item', '1,200 items', '2 are')
    """
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[object], most: int = 10) -> str:
    """The first names of a list, and how many more there are. Ten is a plain choice.

    >>> listed(["owl", "elk", "hen"], 2)
    'owl, elk and 1 more'
    """
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def confidence(delta: float) -> str:
    """One minus delta, never rounded up to 1.

    >>> confidence(0.05), confidence(1e-7), confidence(1e-20)
    ('0.95', '0.9999999', '1 - 1e-20')
    """
    text = f"{1 - delta:.10g}"
    return f"1 - {delta:g}" if text == "1" else text


def chance(share: float) -> str:
    """An estimated probability in percent, never 100.

    >>> chance(0.873), chance(0.9999)
    ('87 %', 'over 99 %')
    """
    return "over 99 %" if share > _NEARLY_SURE else f"{100 * share:.0f} %"


def ratio(value: float) -> str:
    """A ratio to a hundredth, or to three digits; less than a half is written as 1/n.

    >>> ratio(0.00427), ratio(0.104), ratio(0.53), ratio(1), ratio(33.21), ratio(1234.5)
    ('1/234', '1/9.62', '0.53', '1.00', '33.2', '1,234')
    """
    if 0 < value < 0.5:
        return f"1/{ratio(1 / value)}"
    return f"{value:,.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def money(amount: float) -> str:
    """An amount in any currency, with enough digits to show that it is not zero.

    >>> money(1234.5), money(0.0), money(0.003549)
    ('1,234.50', '0.00', '0.0035')
    """
    digits = 2 if amount == 0 or abs(amount) >= _CENT else 1 - math.floor(math.log10(abs(amount)))
    return f"{amount:,.{digits}f}"
