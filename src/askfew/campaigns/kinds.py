"""How a kind of answer is written in settings, as TOML or as JSON."""

from __future__ import annotations

import math
from numbers import Real

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.campaigns.sentences import located, shown
from askfew.errors import InvalidInput

__all__ = ["read_kind", "write_kind"]


def read_kind(value: object) -> AnswerKind:
    """The kind that is written so; a kind itself is taken as it is.

    >>> read_kind("yes-no"), read_kind({"scale": [1, 5]}), read_kind({"number": {"sigma": 2.0}})
    (YesNo(), Scale(low=1.0, high=5.0), Number(sigma=2.0))
    """
    with located("answers"):
        kind = value if isinstance(value, AnswerKind) else _read(value)
    # The ends of a scale may differ and its half width be nothing: noise of no width needs no
    # answers.
    if kind is None or not kind.sigma > 0:
        raise InvalidInput(
            'answers must be "yes-no", { scale = [low, high] } or { number = { sigma = spread } }',
            shown(value),
            "write for example answers = { scale = [1, 5] }",
        )
    return kind


def write_kind(kind: AnswerKind) -> str | dict[str, object]:
    """The kind as JSON-ready values, for ``read_kind``."""
    match kind:
        case Scale(low, high):
            return {"scale": [float(low), float(high)]}
        case Number(sigma):
            return {"number": {"sigma": float(sigma)}}
        case YesNo():
            return "yes-no"


def _read(value: object) -> AnswerKind | None:
    match value:
        case "yes-no":
            return YesNo()
        case {"scale": [low, high], **rest} if not rest:
            ends = _number(low), _number(high)
            return Scale(*ends) if ends[0] < ends[1] else None
        case {"number": {"sigma": sigma, **others}, **rest} if not rest and not others:
            spread = _number(sigma)
            return Number(spread) if spread > 0 else None
        case _:
            return None


def _number(value: object) -> float:
    """The value as a finite float; NaN, which compares with nothing, where it is none."""
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) and not isinstance(value, bool) else math.nan
