"""Parts of sentences about refused input: the place, the value on one line, a near match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from askfew.errors import InvalidInput

__all__ = ["chance", "located", "nearest", "shown"]

_LONGEST = 60
"""Characters of a value in a sentence, so that the sentence stays readable. A round number."""
_NEARLY_SURE = 0.99
"""Above this, an estimate is not told more precisely: it would round to 100 %."""


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put the place of the input before the sentence of InvalidInput.

    >>> with located("birds/items.csv line 7"):
    ...     raise InvalidInput("an id must not be empty", "none", "name the item")
    Traceback (most recent call last):
    askfew.errors.InvalidInput: birds/items.csv line 7: an id must not be empty, got none: ...
    """
    try:
        yield
    except InvalidInput as error:
        expected, got, do = error.args
        raise InvalidInput(f"{place}: {expected}", got, do) from error


def chance(share: float) -> str:
    """An estimated probability in percent, never 100.

    >>> chance(0.873), chance(0.9999)
    ('87 %', 'over 99 %')
    """
    return "over 99 %" if share > _NEARLY_SURE else f"{100 * share:.0f} %"


def shown(value: object) -> str:
    """A value on one line, cut if it is long.

    >>> shown("a" * 1000)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an int of thousands of digits, or deeply nested lists
        text = f"an oversized {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """Advice about an unknown word: the closest known one, or all of them.

    >>> nearest("prise", ["name", "price"])
    'did you mean price?'
    """
    known = list(known)
    close = get_close_matches(word[:_LONGEST].strip().lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else f"use {', '.join(known)}"
