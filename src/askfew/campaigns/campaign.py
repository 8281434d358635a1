"""One campaign, as workers and its owner use it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from askfew.campaigns.db.database import Database, RawTransaction
from askfew.campaigns.db.queries.campaigns import change_state, outcome_of, state_of
from askfew.campaigns.db.queries.contents import items_of, questions_of
from askfew.campaigns.db.queries.gold import held_gold
from askfew.campaigns.db.queries.handout import Lease
from askfew.campaigns.db.queries.leases import Given
from askfew.campaigns.db.queries.slots import answered_by, is_waiting
from askfew.campaigns.db.queries.workers import keep_flag
from askfew.campaigns.gold import GoldCells, GoldDesk, gold_cells
from askfew.campaigns.records import FLAGS, Flag, StoredOutcome, check_name
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.handout import HandOut, admit, expire_leases, revoke
from askfew.campaigns.slots.intake import (
    UNKNOWN,
    Receipt,
    Received,
    refuse,
    release,
    renew,
    retract,
    storable,
    take,
)
from askfew.campaigns.slots.lease import LeaseId, Paces
from askfew.campaigns.steps.advance import Advancer
from askfew.campaigns.steps.log import frozen_rule
from askfew.errors import InvalidAnswer, InvalidInput, shown
from askfew.records import Problem

__all__ = ["Assignment", "Campaign", "Shown"]


@dataclass(frozen=True)
class Shown:
    """An item or a question as a worker sees it; ``image`` is the hash of a picture."""

    id: str
    text: str
    image: str | None = None


@dataclass(frozen=True)
class Assignment:
    """A question put to a worker: tell its ``id`` and the answer before ``expires``."""

    id: str
    item: Shown
    question: Shown
    expires: float
    seconds: float
    """Time left when it was handed out, for workers whose own clock is wrong."""


class Campaign:
    """A durable run: ask and tell, from any number of processes."""

    def __init__(
        self, database: Database, number: int, settings: Settings, clock: Callable[[], float]
    ) -> None:
        self.id, self.settings = number, settings
        self.database, self.clock = database, clock
        with database.read() as connection:
            items, questions = items_of(connection, number), questions_of(connection, number)
        self.items = [Shown(item.id, item.text, item.image) for item in items]
        self.questions = [Shown(question.id, question.text) for question in questions]
        self.anchors = {item.number: item.group for item in items if item.group is not None}
        self.defining = {question.number for question in questions if question.defines}
        # Only pictures of this campaign are served to its workers, not every picture of the store.
        self.pictures = {item.image for item in self.items if item.image is not None}
        self.problem = Problem(len(self.items), len(self.questions), settings.answers)
        self._advancer = Advancer(database, number, settings, self.problem)
        self.paces = Paces(settings.lease_seconds)
        self._lender = HandOut(number, settings.answers_per_worker_and_cell, self.paces)
        self._gold = GoldDesk(number, settings.gold, settings.price) if settings.gold else None
        self._gold_cells: GoldCells = {}

    @property
    def state(self) -> str:
        """The state: running, paused, closed or ended."""
        with self.database.read() as connection:
            return state_of(connection, self.id)

    def ask(self, worker: str, n: int = 1, *, per_item: int = 1) -> list[Assignment]:
        """Lease up to n questions to this worker; an empty list if there are none just now.

        With ``per_item`` above 1, up to that many questions about the same item.
        """
        check_name(worker)
        if not isinstance(n, int) or not 1 <= n <= 1000:
            raise InvalidInput("n must be between 1 and 1000", n, "pass for example 10")
        gold = self.gold_cells() if self._gold is not None and self._gold.is_due() else {}
        while True:
            leases = self.database.raw_transaction(
                partial(self._hand_out, worker, n, per_item, gold)
            )
            if leases:
                return self._in_words(leases)
            # Nothing for this worker: perhaps the step can be closed and a new one opened.
            if leases is None or not self._advancer.advance(self.clock()):
                return []

    def tell(
        self,
        lease: str,
        answer: object,
        *,
        seconds: float | None = None,
        cost: float | None = None,
    ) -> Receipt:
        """Answer a question by its lease. Once accepted, an answer is never lost."""
        # Parsed before anything is read: no query is made for an id that cannot be ours.
        which = self.lease_id(lease)
        if which is None:
            return UNKNOWN
        try:
            value = self.settings.answers.read(answer)
            _check_amount("seconds", seconds)
            _check_amount("cost", cost)
        except InvalidAnswer as error:
            return Receipt(Received.INVALID, str(error))
        price = self.settings.price if cost is None else cost
        if self._gold is not None:
            # A gold lease looks like any other, so only its table tells which it is.
            gold, now = self._gold, self.clock()
            kept = self.database.raw_transaction(
                lambda raw: gold.take(raw, lease, value, now, seconds, cost)
            )
            if kept is not None:
                return kept
        given = Given(value, storable(str(answer)), self.clock(), seconds, price)
        # On PostgreSQL taking an answer is one statement, which spares BEGIN and COMMIT.
        taken = self.database.raw_transaction(lambda raw: take(raw, which, given), one_by_one=True)
        if taken.worker is not None:
            self.paces.told(taken.worker, given.time, seconds)
        if taken.last:  # the statement said so; looking after every answer would be another read
            self._advance_if_settled()
        return taken.receipt

    def skip(self, lease: str, reason: str = "skipped") -> Receipt:
        """Skip a question, or report a failure: someone else is asked."""
        now = self.clock()
        receipt = self._about(
            lease,
            lambda raw, which: refuse(raw, which, storable(reason), now),
            lambda gold, raw: gold.take(raw, lease, None, now, None, None),
        )
        self._advance_if_settled()
        return receipt

    def release(self, lease: str) -> Receipt:
        """Hand a question back unanswered."""
        receipt = self._about(lease, release, lambda gold, raw: gold.release(raw, lease))
        # After an undo the old answer stands again, which may settle the last slot.
        self._advance_if_settled()
        return receipt

    def renew(self, lease: str) -> Receipt:
        """Extend a lease."""
        now = self.clock()
        return self._about(
            lease,
            lambda raw, which: renew(raw, which, now, self.paces),
            lambda gold, raw: gold.renew(raw, lease, self.settings.lease_seconds),
        )

    def retract(self, lease: str, worker: str) -> Receipt:
        """Take back an answer of this worker while its step is open.

        Only they can answer again, or skip, by the receipt's ``lease``. If they do neither before
        it expires, the old answer stands.
        """
        seconds = self.paces.lease(worker)
        until = self.clock() + seconds
        receipt = self._about(
            lease,
            lambda raw, which: retract(raw, which, worker, until),
            lambda gold, raw: gold.retract(raw, lease, worker),
        )
        return receipt if receipt.lease is None else replace(receipt, seconds=seconds)

    def given_by(self, worker: str) -> int:
        """How many answers this worker has given, gold ones included."""
        given = answered_by(self.database, self.id, worker)
        return given + (0 if self._gold is None else self._gold.given_by(self.database, worker))

    def gold_cells(self) -> GoldCells:
        """The gold questions and their expected answers; empty before there is a rule."""
        # Looked up until there is a rule, and then kept: a frozen rule does not change.
        if not self._gold_cells and self.anchors:
            ids = [question.id for question in self.questions]
            with self.database.read() as connection:
                rule = frozen_rule(connection, self.id, self.settings, ids)
            if rule is not None:
                told = {item: rule.groups.index(name) for item, name in self.anchors.items()}
                numbers = {name: number for number, name in enumerate(ids)}
                self._gold_cells = gold_cells(rule, numbers, told)
        return self._gold_cells

    def gold_held_by(self, worker: str) -> list[Assignment]:
        """The gold questions that a worker has not answered yet."""
        if self._gold is None:
            return []
        seconds = self.paces.lease(worker)
        until = self.clock() + seconds
        with self.database.read() as connection:
            held = held_gold(connection, self.id, worker)
        return [
            Assignment(lease, self.items[item], self.questions[question], until, seconds)
            for lease, item, question in held
        ]

    def flag(self, worker: str, item: str, reason: str) -> None:
        """Store a worker's flag on an item; a second one by the same worker replaces the first."""
        if reason not in FLAGS:
            expected = f"the reason must be one of {', '.join(FLAGS)}"
            raise InvalidInput(expected, shown(reason), "choose")
        number = next((n for n, each in enumerate(self.items) if each.id == item), None)
        if number is None:
            expected = "the item must be one of the campaign's"
            raise InvalidInput(expected, shown(item), "check its id")
        with self.database.write() as connection:
            keep_flag(connection, self.id, Flag(number, worker, reason), self.clock())

    def revoke(self, worker: str) -> None:
        """Stop asking this worker, and open their slots to others. All their answers count."""
        check_name(worker)
        now = self.clock()
        self.database.raw_transaction(lambda raw: revoke(raw, self.id, worker, now))
        self._advance_if_settled()

    def pause(self) -> None:
        """Hand out nothing until resumed; answers to leased questions are still taken."""
        self._move("running", "paused")

    def resume(self) -> None:
        """Hand out questions again."""
        self._move("paused", "running")

    def close(self) -> None:
        """End the campaign for good. Its outcome is that of the closed steps."""
        self._advancer.end()

    def outcome(self) -> StoredOutcome | None:
        """The outcome; None until it has ended."""
        with self.database.read() as connection:
            return outcome_of(connection, self.id)

    def catch_up(self) -> None:
        """Advance until a step waits for answers; reused answers may fill several in a row."""
        while self.state == "running":
            with self.database.read() as connection:
                if is_waiting(connection, self.id):
                    return
            self._advancer.advance(self.clock())

    def _advance_if_settled(self) -> None:
        """Advance if no slot waits.

        It reads after the commit: if two workers settle the last two slots at once, neither sees
        the other's within its own transaction, but one of them does now.
        """
        with self.database.read() as connection:
            waiting = is_waiting(connection, self.id)
        if not waiting:
            self._advancer.advance(self.clock())

    def _move(self, before: str, after: str) -> None:
        with self.database.write() as connection:
            moved = change_state(connection, self.id, before, after)
            # Pausing a paused campaign is no error: two owners may press the button.
            if not moved and (state := state_of(connection, self.id)) != after:
                raise InvalidInput(f"the campaign must be {before}", state, "nothing to do")

    def _hand_out(
        self, worker: str, n: int, per_item: int, gold: GoldCells, raw: RawTransaction
    ) -> list[Lease] | None:
        """Leases; empty if there is nothing for this worker, None if the campaign is not running.

        One transaction: the lock on the worker's row, taken by ``admit``, holds until the end.
        """
        now = self.clock()
        arrival = admit(raw, self.id, worker, now)
        if arrival.state != "running":
            return None
        if arrival.step is None:
            return []  # the caller opens the first step
        # Leases expire when somebody asks, so that no background process is needed.
        if arrival.overdue:
            expire_leases(raw, self.id, now)
        extra = None
        if gold and self._gold is not None:
            until = now + self.paces.lease(worker)
            extra = self._gold.lend(raw, worker, gold, arrival.step, until, now)
        # Another lease would be one more than was asked for.
        if extra is not None and n == 1:
            return [extra]
        rest = n if extra is None else n - 1
        leases = self._lender.lend(
            raw, arrival.step, worker, rest, arrival.role, now, per_item=per_item
        )
        return leases if extra is None else [extra, *leases]

    def lease_id(self, lease: str) -> LeaseId | None:
        """The parsed id; None if it is not a lease of this campaign."""
        parsed = LeaseId.parse(lease)
        return parsed if parsed is not None and parsed.campaign == self.id else None

    def _about(
        self,
        lease: str,
        work: Callable[[RawTransaction, LeaseId], Receipt],
        gold_work: Callable[[GoldDesk, RawTransaction], Receipt | None],
    ) -> Receipt:
        """Run one transaction about one lease, of a slot or of a gold question."""
        which, gold = self.lease_id(lease), self._gold
        if which is None:
            return UNKNOWN

        def about(raw: RawTransaction) -> Receipt:
            found = None if gold is None else gold_work(gold, raw)
            return work(raw, which) if found is None else found

        return self.database.raw_transaction(about)

    def _in_words(self, leases: list[Lease]) -> list[Assignment]:
        now = self.clock()
        return [
            Assignment(
                id=lease.id,
                item=self.items[lease.item],
                question=self.questions[lease.question],
                expires=lease.expires,
                seconds=lease.expires - now,
            )
            for lease in leases
        ]


def _check_amount(name: str, amount: object) -> None:
    # Up to the largest float: infinity and huge integers cannot be stored.
    right = isinstance(amount, int | float) and 0 <= amount <= sys.float_info.max
    if amount is not None and not right:
        raise InvalidAnswer(f"{name} must be a number of at least 0", repr(amount), "leave it out")
