"""Answers added up by item, question, group and worker; and all answers about one item.

Everything that depends on values (gaps between groups, who agrees) is from closed steps only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from askfew.answers import AnswerKind, YesNo
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries import answers as told
from askfew.campaigns.db.queries.answers import (
    above_by_worker_and_item,
    count_by_item,
    skips_by_worker,
)
from askfew.campaigns.reading.knowledge import cells_of
from askfew.checks.gaps import gap_interval
from askfew.estimates.cells import CellSums
from askfew.records import Ints

__all__ = [
    "AnsweredQuestion",
    "Given",
    "ItemAnswers",
    "RankedQuestion",
    "Tallies",
    "answers_about",
    "answers_by_item",
    "tallies_of",
]

_MOST_COMPARED = 10_000
"""The most items by which agreement is measured; of more items, every second or third and so on is
used. A plain choice: from this many answers a share is known to a percent, and reading more takes
long (benchmarks/scale.md)."""


@dataclass(frozen=True)
class RankedQuestion:
    """The gap between the groups' mean answers to a question, with a 95 % interval.

    Of more than two groups, the two that are furthest apart.
    """

    id: str
    text: str
    answers: int
    gap: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Tallies:
    """Answers by item; questions by how well they separate; skips and agreement by worker."""

    by_item: Ints
    """The number of answers, those of the open step included."""
    questions: tuple[RankedQuestion, ...]
    skips: dict[str, int]
    agreement: dict[str, float]


def tallies_of(campaign: Campaign, labels: Ints, cells: CellSums | None = None) -> Tallies:
    """Read and add up the answers; ``cells`` are given if the caller has read them already."""
    with campaign.database.snapshot() as connection:
        cells = cells_of(connection, campaign).sums() if cells is None else cells
        by_item = _by_item(connection, campaign)
        skips = skips_by_worker(connection, campaign.id)
        agreement = _agreement(connection, campaign.id, cells, labels)
    ranked = [_separation(campaign, cells, labels, n) for n in range(campaign.problem.questions)]
    # Questions without a gap come last, the most answered of them first.
    ranked.sort(key=lambda each: (-(each.gap if each.gap is not None else -1.0), -each.answers))
    return Tallies(by_item, tuple(ranked), skips, agreement)


def _by_item(connection: Connection, campaign: Campaign) -> Ints:
    count = np.zeros(campaign.problem.items, dtype=np.int64)
    for item, times in count_by_item(connection, campaign.id).items():
        count[item] = times
    return count


def _separation(campaign: Campaign, cells: CellSums, labels: Ints, number: int) -> RankedQuestion:
    question, here = campaign.questions[number], cells.question == number
    group = labels[cells.item[here]]
    count = int(cells.count[here].sum())
    ends = _furthest(cells, here, group)
    if ends is None:
        return RankedQuestion(question.id, question.text, count, None, None, None)
    (_, first), (_, second) = ends
    low, high = gap_interval(campaign.settings.answers, first, second)
    gap = abs(second[0] - first[0])
    return RankedQuestion(question.id, question.text, count, gap, low, high)


def _furthest(
    cells: CellSums, here: Ints, group: Ints
) -> tuple[tuple[int, tuple[float, int]], tuple[int, tuple[float, int]]] | None:
    """The groups with the lowest and the highest mean answer, if there are two."""
    means = {g: _mean(cells, here, group == g) for g in range(int(group.max(initial=-1)) + 1)}
    known = [(g, mean) for g, mean in means.items() if mean is not None]
    if len(known) < 2:
        return None
    known.sort(key=lambda each: each[1][0])
    return known[0], known[-1]


def _mean(cells: CellSums, here: Ints, side: Ints) -> tuple[float, int] | None:
    """The mean answer about one group, and the number of answers; None for fewer than two."""
    count = int(cells.count[here][side].sum())
    # One answer says nothing about a mean.
    return (float(cells.sum[here][side].sum()) / count, count) if count >= 2 else None


def _agreement(
    connection: Connection, campaign: int, cells: CellSums, labels: Ints
) -> dict[str, float]:
    """By worker: how often their answers lie on the side of the item's group.

    Only of the most answered question; the sides are split half-way between the two outer groups.
    """
    decided = labels[cells.item] >= 0
    if not decided.any():
        return {}
    # One question for all workers, so that their shares can be compared; with the most answers it
    # says most.
    number = int(np.bincount(cells.question[decided], weights=cells.count[decided]).argmax())
    here = cells.question == number
    group = labels[cells.item[here]]
    ends = _furthest(cells, here, group)
    if ends is None:
        return {}
    (low, below), (top, highest) = ends
    middle = (below[0] + highest[0]) / 2
    # Of a large campaign a part of the items is enough for a share.
    every = -(-len(labels) // _MOST_COMPARED)  # rounded up
    rows = above_by_worker_and_item(connection, campaign, number, middle, every)
    right: dict[str, int] = {}
    given: dict[str, int] = {}
    for worker, item, count, high in rows:
        label = int(labels[item])
        # Of more than two groups, those between the outer ones have no side.
        if label in (low, top):
            given[worker] = given.get(worker, 0) + count
            agreeing = high if label == top else count - high
            right[worker] = right.get(worker, 0) + agreeing
    return {worker: right[worker] / count for worker, count in given.items()}


_Told = tuple[int, str, float, float | None]
"""Question, worker, value, seconds."""


@dataclass(frozen=True)
class Given:
    """One answer, and who gave it."""

    worker: str
    answer: str
    seconds: float | None


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question and the answers to it about the item."""

    text: str
    mean: str
    given: tuple[Given, ...]


@dataclass(frozen=True)
class ItemAnswers:
    """All answers about an item, the most answered question first, and the reasons of skips."""

    questions: tuple[AnsweredQuestion, ...]
    skips: tuple[tuple[str, int], ...]
    """Each reason, and how often it was given."""


def answers_about(campaign: Campaign, item: int) -> ItemAnswers:
    """Read the answers about one item from the store."""
    with campaign.database.read() as connection:
        rows = told.answers_about(connection, campaign.id, item)
        skips = Counter(told.skips_about(connection, campaign.id, item)).most_common()
    return ItemAnswers(_by_question(campaign, rows), tuple(skips))


def answers_by_item(
    connection: Connection, campaign: Campaign
) -> list[tuple[str, tuple[AnsweredQuestion, ...]]]:
    """All answers of closed steps, by the ids of their items."""
    by_item: dict[int, list[_Told]] = {}
    for each in told.counted_answers(connection, campaign.id):
        row = (each.question, each.worker, each.value, each.seconds)
        by_item.setdefault(each.item, []).append(row)
    return [
        (campaign.items[item].id, _by_question(campaign, rows))
        for item, rows in sorted(by_item.items())
    ]


def _by_question(campaign: Campaign, rows: Iterable[_Told]) -> tuple[AnsweredQuestion, ...]:
    """The answers by question, the most answered question first."""
    kind = campaign.settings.answers
    by_question: dict[int, list[tuple[Given, float]]] = {}
    for question, worker, value, seconds in rows:
        given = Given(worker, kind.spoken(value), seconds)
        by_question.setdefault(question, []).append((given, value))
    return tuple(
        AnsweredQuestion(
            campaign.questions[number].text or campaign.questions[number].id,
            _mean_in_words(kind, [value for _, value in all_of_it]),
            tuple(given for given, _ in all_of_it),
        )
        for number, all_of_it in sorted(by_question.items(), key=lambda each: -len(each[1]))
    )


def _mean_in_words(kind: AnswerKind, values: list[float]) -> str:
    if isinstance(kind, YesNo):
        return f"{sum(values):.0f} of {len(values)} yes"
    return f"mean {sum(values) / len(values):.3g} of {len(values)}"
