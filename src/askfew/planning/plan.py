"""``askfew.plan``: a forecast from what a user can say about a campaign."""

from __future__ import annotations

from collections.abc import Mapping

from askfew.answers import AnswerKind, YesNo
from askfew.planning.defaults import default_unknown
from askfew.planning.forecast import Forecast, forecast
from askfew.planning.ranges import Range
from askfew.planning.told import Told
from askfew.rule import Rule

__all__ = ["plan"]

Guess = float | tuple[float, float]
"""A number, or the ends of a range."""


def plan(
    items: int,
    questions: int,
    *,
    gap: Guess | None = None,
    share: Guess | None = None,
    useful: Guess | None = None,
    answers: AnswerKind | None = None,
    groups: int = 2,
    spread: float | None = None,
    method: str = "frugal",
    options: Mapping[str, object] | None = None,
    anchors: int = 0,
    defining: int = 0,
    rule: Rule | None = None,
    delta: float = 0.05,
    price: float = 0.0,
    cap: int | None = None,
    repeats: int = 5,
    runs: int = 1000,
    seed: int = 0,
    jobs: int = -1,
) -> Forecast:
    """Forecast the answers and the money of a campaign before its first answer.

    ``gap`` is how far the two groups' means differ on a useful question, in the answers' units;
    ``share`` the small group's part of the items; ``useful`` how many questions separate. Each may
    be a number or a range ``(low, high)``; what is left out is what campaigns, too, are forecast
    with. ``spread`` is how far items of a group differ, in gaps; ``options`` are the method's own;
    ``anchors`` items of each group are known beforehand, ``defining`` questions define the split,
    and a ``rule`` that was brought is applied as it is.

    >>> bill = plan(60, 10, gap=(0.6, 0.8), useful=(2, 4), price=0.02, runs=20, jobs=1)
    >>> bool(bill.least < bill.median <= bill.q90)
    True
    """
    kind = YesNo() if answers is None else answers
    told = Told((anchors,) * groups if anchors else (), defining, rule)
    told.check(items, questions)
    unknown = default_unknown(
        kind,
        items,
        questions,
        method=method,
        gap=_range("gap", gap),
        share=_range("share", share),
        useful=_range("useful", useful),
        groups=groups,
        spread=spread,
        told=told,
    )
    return forecast(
        unknown,
        method=method,
        options={"groups": groups, **(options or {})} if groups > 2 else options,
        told=told,
        answers=kind,
        delta=delta,
        price=price,
        cap=cap,
        repeats=repeats,
        runs=runs,
        seed=seed,
        jobs=jobs,
    )


def _range(name: str, guess: Guess | None) -> Range | None:
    match guess:
        case None:
            return None
        case (low, high):
            return Range.named(name, low, high)
        case _:
            return Range.named(name, guess, guess)
