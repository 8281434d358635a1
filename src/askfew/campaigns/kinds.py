"""Reading the kind of answers from settings, in TOML or JSON."""

from __future__ import annotations

from askfew.answers import KINDS, AnswerKind
from askfew.campaigns.sentences import located, shown
from askfew.errors import InvalidInput

__all__ = ["read_kind"]


def read_kind(value: object) -> AnswerKind:
    """The kind of answers that a setting names; a kind itself is returned as it is.

    >>> read_kind("yes-no"), read_kind({"scale": [1, 5]}), read_kind({"number": {"sigma": 2.0}})
    (YesNo(), Scale(low=1.0, high=5.0), Number(sigma=2.0))
    """
    with located("answers"):
        kind = value if isinstance(value, AnswerKind) else _read(value)
    # The ends of a scale may differ by so little that half its width is rounded to 0; a method
    # cannot use noise without width.
    if kind is None or not kind.sigma > 0:
        *most, last = (each.written for each in KINDS)
        raise InvalidInput(
            f"answers must be {', '.join(most)} or {last}",
            shown(value),
            "write for example answers = { scale = [1, 5] }",
        )
    return kind


def _read(value: object) -> AnswerKind | None:
    found = (each.from_setting(value) for each in KINDS)
    return next((kind for kind in found if kind is not None), None)
