"""Are a worker's repeated answers fresh draws, or the same answer given again?

The certificate counts every answer as new evidence. A judge who errs on the same cells (item,
question) every time repeats itself: its second answer to a cell is worth nothing.

**Model.** Items of one group have the same mean on every question, and answers are independent.
Then the answers of one worker to one question about the items of one group, a *block*, are
exchangeable: it is pure chance which of them fell on which cell. Each answer becomes a bit
(above its block's mean or not; for yes/no, itself). The answers to one cell are paired in the order
they were asked; cells that were answered once show what is usual in their block. Of M pairs and S
single answers with K ones among their N = 2M + S bits, d pairs disagree with probability

    P(D = d) = sum over a of M! / (d! a! (M - d - a)!) * 2^d * C(S, K - d - 2a) / C(N, K),

with a pairs of two ones, and E D = M * 2 K (N - K) / (N (N - 1)). The p-value of a worker is the
chance that all blocks together show no more disagreement than was seen. It is exact, whatever the
worker's reliability on each block, for K is given: who is always right has K = 0 or N in every
block, nothing to disagree about, and p = 1; who errs at random disagrees with itself as often as
with others; who errs on the same cells never disagrees with itself, and p falls by a factor of
about N with every error. (Blocks cannot be thrown together: a worker who is good at one question
and bad at another would look like one who errs on the same cells. A block of a single pair says
nothing without single answers beside it.)

A worker is flagged if p is at most ``ALPHA`` and the disagreement less than half of what was
expected. The second condition bounds false alarms of those who look again and again: with more
pairs it is ever less likely to hold by chance. Items without a group yet are left out.

A single worker who decides the groups alone, by one question, cannot be told from one who is
right about it: the groups are then what it said. Other questions, or other workers, show it. So
where one worker gave all answers and never contradicted itself, that is said beside the labels.

>>> cells = [[0, 0]] * 17 + [[1, 1]] * 3
>>> verdict = judge_repeats([cells])
>>> verdict.pairs, verdict.disagreed, round(verdict.expected, 1), verdict.suspect
(20, 0, 5.2, True)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy.special import gammaln
from sqlalchemy import Connection, func, select

from askfew.answer_warnings import ALONE, REPEATS, AnswerWarning, sentence
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.steps.counted import counted
from askfew.campaigns.steps.log import newest_step
from askfew.campaigns.tables.schema import answers, campaigns
from askfew.campaigns.tables.snapshot import snapshot
from askfew.records import Floats, Ints

__all__ = [
    "ALPHA",
    "Repeats",
    "judge_repeats",
    "qualified",
    "repeats_of",
    "warnings_about",
    "warnings_of",
]

ALPHA = 0.002
_HALF = 0.5
_PLENTY = 100
"""Pairs that say enough by themselves: single answers beside so many are left out."""


@dataclass(frozen=True)
class Repeats:
    """How often a worker's repeated answers disagreed with each other, and how often they would
    if they were independent.
    """

    pairs: int
    disagreed: int
    expected: float
    p_value: float

    @property
    def suspect(self) -> bool:
        """Whether these are no independent draws."""
        return self.p_value <= ALPHA and self.disagreed < _HALF * self.expected


def judge_repeats(blocks: Iterable[Sequence[Sequence[float]]]) -> Repeats:
    """The verdict over blocks; a block is a list of cells, a cell its answers in order."""
    pairs, disagreed, expected = 0, 0, 0.0
    chance = np.ones(1)
    for block in blocks:
        twice = [_paired(cell) for cell in block if len(cell) >= 2]
        if not twice:
            continue
        paired = np.concatenate(twice)
        m = len(paired)
        once = [cell[0] for cell in block if len(cell) == 1 and m < _PLENTY]
        middle = np.concatenate([paired.ravel(), once]).mean()
        bits = paired > middle
        n, ones = 2 * m + len(once), int(bits.sum() + (np.array(once) > middle).sum())
        pairs += m
        disagreed += int((bits[:, 0] != bits[:, 1]).sum())
        expected += m * 2 * ones * (n - ones) / (n * (n - 1))
        if 0 < ones < n:  # else there is nothing to disagree about
            chance = np.convolve(chance, _disagreements(m, len(once), ones))
    p_value = min(1.0, float(chance[: disagreed + 1].sum()))
    return Repeats(pairs, disagreed, expected, p_value)


def _paired(cell: Sequence[float]) -> Floats:
    """First and second, third and fourth, ...: one row each."""
    return np.array(cell[: len(cell) // 2 * 2], dtype=np.float64).reshape(-1, 2)


def _disagreements(pairs: int, singles: int, ones: int) -> Floats:
    """The chance of 0, 1, ... pairs that disagree, if so many ones fell at random."""
    total = 2 * pairs + singles
    apart = np.arange(min(pairs, ones, total - ones) + 1)
    alone = np.arange(max(0, ones - 2 * pairs), min(singles, ones) + 1)  # ones outside of pairs
    d, r = (each.ravel() for each in np.meshgrid(apart, alone))
    left = ones - d - r
    possible = (left >= 0) & (left % 2 == 0) & (d + left // 2 <= pairs)
    d, r, both = d[possible], r[possible], left[possible] // 2
    ways = _log_ways(pairs, d, both, pairs - d - both) + d * np.log(2.0)
    ways = ways + _log_ways(singles, r, singles - r) - _log_ways(total, ones, total - ones)
    chance = np.zeros(len(apart))
    np.add.at(chance, d, np.exp(ways))
    return chance


def _log_ways(n: int, *parts: Ints | int) -> Floats:
    """How many ways there are to part n things so."""
    return _log_factorial(n) - sum((_log_factorial(part) for part in parts), np.zeros(1))


def _log_factorial(n: object) -> Floats:
    return np.asarray(gammaln(np.asarray(n, dtype=np.float64) + 1.0))


def qualified(certificate: str | None, warnings: Sequence[AnswerWarning]) -> str | None:
    """The certificate's text as it may be shown: what speaks against it comes first.

    >>> alone = AnswerWarning(ALONE, {"worker": "ann", "pairs": 7})
    >>> qualified("All right.", [alone]).splitlines()
    ['WARNING: all answers are by worker ann, ... by hand.', 'All right.']
    """
    if certificate is None:
        return None
    return "\n".join([*(f"WARNING: {sentence(each)}." for each in warnings), certificate])


def warnings_about(campaign: Campaign, worker: str | None) -> tuple[AnswerWarning, ...]:
    """What is to be said of one worker, or of every one, by what is known now."""
    with snapshot(campaign.database) as connection:
        outcome = connection.execute(
            select(campaigns.c.outcome).where(campaigns.c.id == campaign.id)
        ).scalar_one()
        newest = newest_step(connection, campaign.id)
        found = outcome or (newest.known if newest is not None else None)
        labels = (json.loads(found).get("labels") or []) if found else []
        return warnings_of(connection, campaign, labels, worker)


def warnings_of(
    connection: Connection, campaign: Campaign, labels: Sequence[int], worker: str | None = None
) -> tuple[AnswerWarning, ...]:
    """One about every worker (or that one) who is flagged, under these labels; and about one who
    decided them all alone and never contradicted itself, which no test can see through.
    """
    if campaign.settings.answers_per_worker_and_cell == 1:
        return ()
    repeats = repeats_of(connection, campaign.id, labels, worker)
    flagged = [_repeating(name, each) for name, each in repeats.items() if each.suspect]
    if not flagged and labels and min(labels) >= 0:
        flagged = [
            AnswerWarning(ALONE, {"worker": name, "pairs": each.pairs})
            for name, each in repeats.items()
            if each.pairs and not each.disagreed and _is_alone(connection, campaign.id, name)
        ]
    return tuple(flagged)


def _repeating(worker: str, repeats: Repeats) -> AnswerWarning:
    numbers = {
        "pairs": repeats.pairs,
        "disagreed": repeats.disagreed,
        "expected": round(float(repeats.expected), 1),
    }
    return AnswerWarning(REPEATS, {"worker": worker, **numbers})


def repeats_of(
    connection: Connection, campaign: int, labels: Sequence[int], worker: str | None = None
) -> dict[str, Repeats]:
    """The verdict on every worker, or one, who answered some cell twice, by items with a group."""
    here = [counted(campaign)]
    if worker is not None:
        here.append(answers.c.worker == worker)
    cell = (answers.c.worker, answers.c.item, answers.c.question)
    repeated = select(answers.c.worker).where(*here).group_by(*cell).having(func.count() > 1)
    rows = connection.execute(
        select(*cell, answers.c.value)
        .where(*here, answers.c.worker.in_(repeated))
        .order_by(*cell, answers.c.step, answers.c.slot)
    )
    blocks: dict[str, dict[tuple[int, int], list[list[float]]]] = {}
    for (name, item, question), told in groupby(rows, key=lambda row: tuple(row[:3])):
        if labels and labels[item] >= 0:
            block = blocks.setdefault(name, {}).setdefault((labels[item], question), [])
            block.append([row.value for row in told])
    return {name: judge_repeats(each.values()) for name, each in blocks.items()}


def _is_alone(connection: Connection, campaign: int, worker: str) -> bool:
    others = select(answers.c.worker).where(
        answers.c.campaign == campaign,
        answers.c.retracted.is_(False),
        answers.c.worker != worker,
    )
    return connection.execute(others.limit(1)).first() is None
