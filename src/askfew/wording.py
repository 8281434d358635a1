"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: float, one: str, many: str | None = None) -> str:
    """So many things, in words that fit the number.

    >>> counted(1, "item"), counted(1200, "item"), counted(2, "is", "are")
    ('1 item', '1,200 items', '2 are')
    """
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"
