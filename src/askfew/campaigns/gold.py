"""Gold questions: about anchors, shown among the others, to see how well a worker answers.

An anchor's group is known. Once there is a rule, so is the side of the cut on which an answer about
it should fall. These answers are kept apart: no step holds them, no method sees them, and no answer
given here decides whether another answer of the worker counts.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from askfew.campaigns.db.database import Connection, Database, RawTransaction
from askfew.campaigns.db.queries import gold as kept
from askfew.campaigns.db.queries.handout import Lease
from askfew.campaigns.slots.intake import Receipt, Received
from askfew.campaigns.slots.lease import LeaseId
from askfew.rule import Node, Rule, groups_of

__all__ = ["GoldCells", "GoldDesk", "GoldScore", "gold_cells", "gold_scores"]


@dataclass(frozen=True)
class Expected:
    """The side of a cut on which an answer should fall."""

    above: bool
    cut: float

    def hit(self, value: float) -> bool:
        """Whether the answer falls on that side."""
        return value > self.cut if self.above else value < self.cut


GoldCells = dict[tuple[int, int], Expected]
"""By item and question: the expected answer."""


@dataclass(frozen=True)
class GoldScore:
    """How many of a worker's gold answers fell on the right side."""

    right: int
    answers: int

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.right / max(self.answers, 1)


def gold_cells(rule: Rule, numbers: dict[str, int], told: dict[int, int]) -> GoldCells:
    """The gold questions and their expected answers: the rule's questions about every anchor.

    ``numbers`` has the questions' numbers by id, ``told`` the anchors' groups by item.
    """
    cells: GoldCells = {}
    for item, group in told.items():
        node: object = rule.root
        while isinstance(node, Node):
            high = group in groups_of(node.high)
            for place, weight, cut in zip(node.questions, node.weights, node.cuts, strict=True):
                question = numbers.get(str(rule.questions[place]))
                if question is not None:
                    # On the way from the root to its group only: other nodes say nothing about this
                    # item.
                    cells[item, question] = Expected((weight > 0) == high, cut)
            node = node.high if high else node.low
    return cells


class GoldDesk:
    """Hands out one campaign's gold questions and takes the answers in."""

    def __init__(self, campaign: int, share: float, price: float) -> None:
        self.campaign, self.share, self.price = campaign, share, price

    def is_due(self) -> bool:
        """Whether the next question is a gold one.

        Drawn each time from the system's randomness, not from the seed, so that no worker can
        predict it.
        """
        return secrets.randbelow(10**6) < self.share * 10**6

    def lend(
        self,
        raw: RawTransaction,
        worker: str,
        cells: GoldCells,
        step: int,
        until: float,
        now: float,
    ) -> Lease | None:
        """Lend a gold question that the worker has not had, or None.

        Only if a slot is open, so that nobody gets gold questions alone. The lease has the number
        of that slot, so that its id looks like any other.
        """
        had = kept.had_gold(raw, self.campaign, worker)
        left = [cell for cell in cells if cell not in had]
        slot = kept.some_open_slot(raw, self.campaign) if left else None
        if slot is None:
            return None
        # At random, because people who know the order could tell each other.
        cell = secrets.choice(left)
        lease = str(LeaseId.new(self.campaign, step, slot))
        kept.insert_gold(raw, self.campaign, worker, cell, lease, now)
        return Lease(lease, *cell, until)

    def take(
        self,
        raw: RawTransaction,
        lease: str,
        value: float | None,
        now: float,
        seconds: float | None,
        cost: float | None,
    ) -> Receipt | None:
        """Store an answer, or a skip if ``value`` is None; None if it is no gold question."""
        found = kept.find_gold(raw, self.campaign, lease)
        if found is None:
            return None
        # As for any other question: otherwise telling twice would show which ones are gold.
        if found.told is not None:
            return Receipt(Received.ALREADY, "the first answer to this question counts")
        price = None if value is None else self.price if cost is None else cost
        kept.answer_gold(raw, self.campaign, lease, value, now, seconds, price)
        return Receipt(Received.ACCEPTED, "skipped" if value is None else "thank you")

    def renew(self, raw: RawTransaction, lease: str, seconds: float) -> Receipt | None:
        """The receipt for a renewal. Nothing is written: no step waits, so the lease never ends."""
        found = kept.find_gold(raw, self.campaign, lease)
        return None if found is None else Receipt(Received.ACCEPTED, "renewed", seconds=seconds)

    def release(self, raw: RawTransaction, lease: str) -> Receipt | None:
        """Forget that the question was asked; None if it is no gold question."""
        if kept.find_gold(raw, self.campaign, lease) is None:
            return None
        kept.forget_gold(raw, self.campaign, lease)
        return Receipt(Received.ACCEPTED, "released")

    def retract(self, raw: RawTransaction, lease: str, worker: str) -> Receipt | None:
        """Take an answer back; the receipt has the lease by which to answer again."""
        found = kept.find_gold(raw, self.campaign, lease)
        # Of another worker, it is treated as unknown.
        if found is None or found.worker != worker:
            return None
        known = LeaseId.parse(lease)
        assert known is not None  # it was found, so it was written here
        again = str(LeaseId.new(known.campaign, known.step, known.slot))
        kept.redo_gold(raw, self.campaign, lease, again)
        return Receipt(Received.ACCEPTED, "taken back", again)

    def given_by(self, database: Database, worker: str) -> int:
        """How many gold questions this worker has answered."""
        return kept.given_gold(database, self.campaign, worker)


def gold_scores(connection: Connection, campaign: int, cells: GoldCells) -> dict[str, GoldScore]:
    """The scores of the workers who have answered gold questions."""
    scores: dict[str, GoldScore] = {}
    for worker, item, question, value in kept.gold_answers(connection, campaign):
        expected = cells.get((item, question))
        if expected is not None:
            before = scores.get(worker, GoldScore(0, 0))
            right = before.right + expected.hit(value)
            scores[worker] = GoldScore(right, before.answers + 1)
    return scores
