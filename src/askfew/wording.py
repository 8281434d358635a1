"""Numbers as words of a sentence."""

from __future__ import annotations

import math

__all__ = ["confidence", "counted", "money", "ratio"]

_CENT = 0.01


def counted(number: float, one: str, many: str | None = None) -> str:
    """A number with its noun, singular or plural.

    >>> counted(1, "item"), counted(1200, "item"), counted(2, "is", "are")
    ('1 item', '1,200 items', '2 are')
    """
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"


def confidence(delta: float) -> str:
    """One minus delta, never rounded up to 1.

    >>> confidence(0.05), confidence(1e-7), confidence(1e-20)
    ('0.95', '0.9999999', '1 - 1e-20')
    """
    text = f"{1 - delta:.10g}"
    return f"1 - {delta:g}" if text == "1" else text


def ratio(value: float) -> str:
    """A ratio in words; small ones are written as a fraction 1/n.

    >>> ratio(0.00427), ratio(0.53), ratio(33.21), ratio(1234.5)
    ('1/234', '0.53', '33.2', '1,234')
    """
    if 0 < value < 0.1:
        return f"1/{1 / value:,.0f}"
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def money(amount: float) -> str:
    """An amount in any currency, with enough digits to show that it is not zero.

    >>> money(1234.5), money(0.0), money(0.003549)
    ('1,234.50', '0.00', '0.0035')
    """
    digits = 2 if amount == 0 or abs(amount) >= _CENT else 1 - math.floor(math.log10(abs(amount)))
    return f"{amount:,.{digits}f}"
