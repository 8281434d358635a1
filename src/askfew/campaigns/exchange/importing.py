"""Importing answers from a file into the waiting slots of a campaign.

An answer is matched to a slot by item, question and worker: first a slot that this worker holds,
then any open one that they may take. When a step is complete the next one opens, and the rest of
the file is tried on it.

Which answers are taken never depends on their values. It does not depend on their order in the file
either, because that may depend on values: a file may be sorted by answer, or list quick answers
first. Each row has a *key* made of what does not depend on the answer: item, question, worker, mark
(the row's time, or Label Studio's number), how many rows of the file agree in all these, and which
of them it is. Rows are taken in the order of a hash of the campaign's seed and the key, so a step
takes a random sample of each cell's rows.

The key also recognizes an answer in another file. If a worker has several rows about one cell
without a time, nothing says which of them an earlier file had: the first row of a sorted file may
be the newest answer. So all of them must come in one file. Once any of them has been taken, a file
with another number of them adds nothing about this worker and cell. Matching rows by their values
instead would drop repeated answers and keep contradictory ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.answers import imported_marks, told_times
from askfew.campaigns.db.queries.campaigns import state_of
from askfew.campaigns.db.queries.slots import (
    held_cells,
    refused_slots,
    settle,
    unsettled_slots,
)
from askfew.campaigns.db.queries.steps import newest_number
from askfew.campaigns.db.queries.workers import join_all
from askfew.campaigns.exchange.answer_files import TellRow
from askfew.campaigns.records import Answer
from askfew.campaigns.slots.intake import storable
from askfew.campaigns.slots.lease import LeaseId
from askfew.campaigns.slots.states import SlotState
from askfew.errors import AskfewError, InvalidAnswer, InvalidInput, located, nearest, shown

__all__ = ["ImportReport", "import_answers"]

_MARK = "i"
"""The first letter of the mark of an imported answer. It is no hexadecimal digit, so no mark of a
lease begins with it."""
_KEY = re.compile(rf"{_MARK}(?P<group>[0-9a-f]{{15}})n(?P<size>\d+)o\d+", re.ASCII)


@dataclass(frozen=True)
class ImportReport:
    """What became of the rows of a file; the lists have the places of rows that were not taken."""

    taken: int = 0
    already: int = 0
    late: list[str] = field(default_factory=list)
    """No slot waits for them, or none that this worker may take."""
    unknown: list[str] = field(default_factory=list)
    """The item or the question does not exist."""
    invalid: list[str] = field(default_factory=list)
    """The answer is not possible."""
    revoked: list[str] = field(default_factory=list)
    """The worker is revoked."""
    unclear: list[str] = field(default_factory=list)
    """Rows without a time, whose number for this worker and cell differs from an earlier file."""

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return asdict(self)


@dataclass(frozen=True)
class _Told:
    """A checked row, with the numbers of item and question."""

    row: TellRow
    item: int
    question: int
    value: float
    group: str = ""
    """A digest of item, question, worker and mark: rows of a group differ only in their values."""
    size: int = 1
    """How many rows of the file are in this group."""
    occurrence: int = 0
    """The number of this row within the group."""

    @property
    def key(self) -> str:
        """The mark of its answer's id."""
        return f"{_MARK}{self.group}n{self.size}o{self.occurrence}"


def import_answers(
    campaign: Campaign, rows: Sequence[TellRow], *, skip_bad: bool = False
) -> ImportReport:
    """Take all answers for which slots wait.

    An unknown item or question, or an impossible answer, is refused with its place before anything
    is taken; with ``skip_bad`` it is left out and reported. A row that was taken before, from the
    same file or another, counts once, and so does an answer that this campaign exported.
    """
    if campaign.state != "running":
        raise InvalidInput(
            "a campaign must be running to take answers", campaign.state, "resume it, if it paused"
        )
    # Everything is checked before anything is taken: a file with an error on its last line must not
    # be half imported.
    report = ImportReport()
    checked = _keyed(_checked(campaign, rows, report, skip_bad))
    waiting = _unseen(campaign, sorted(checked, key=partial(_turn, campaign.settings.seed)))
    taken, already = 0, len(checked) - len(waiting)
    # One transaction for each step: closing a step and opening the next are their own.
    while waiting:
        with campaign.database.write() as connection:
            now_taken, now_already, waiting = _Pass(connection, campaign).run(waiting, report)
        taken, already = taken + now_taken, already + now_already
        campaign.catch_up()
        if not now_taken:  # no slot waits for any of the remaining rows
            break
    report.late.extend(told.row.place for told in waiting)
    in_file = {row.place: number for number, row in enumerate(rows)}
    for places in (report.late, report.revoked, report.unclear):
        places.sort(key=in_file.__getitem__)
    return replace(report, taken=taken, already=already)


def _checked(
    campaign: Campaign, rows: Iterable[TellRow], report: ImportReport, skip_bad: bool
) -> list[_Told]:
    items = {item.id: number for number, item in enumerate(campaign.items)}
    questions = {question.id: number for number, question in enumerate(campaign.questions)}
    told = []
    for row in rows:
        try:
            with located(row.place):
                item = _number_of("item", row.item, items)
                question = _number_of("question", row.question, questions)
        except InvalidInput:
            if not skip_bad:
                raise
            report.unknown.append(row.place)
            continue
        try:
            told.append(_Told(row, item, question, campaign.settings.answers.read(row.answer)))
        except InvalidAnswer as error:
            if not skip_bad:
                raise _as_bad_input(row.place, error) from error
            report.invalid.append(row.place)
    return told


def _keyed(rows: Iterable[_Told]) -> list[_Told]:
    """Give every row its key; the numbers within a group do not depend on the file's order.

    They are by value, which is safe: the order in which rows are taken is a hash of the key.
    """
    groups: defaultdict[str, list[_Told]] = defaultdict(list)
    for told in rows:
        parts = [told.row.item, told.row.question, told.row.worker, told.row.mark]
        groups[hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:15]].append(told)
    return [
        replace(told, group=group, size=len(alike), occurrence=number)
        for group, alike in groups.items()
        for number, told in enumerate(sorted(alike, key=lambda each: each.value))
    ]


def _turn(seed: int, told: _Told) -> str:
    """The sort key of a row: random, but fixed by the seed."""
    return hashlib.sha256(f"{seed} {told.key}".encode()).hexdigest()


def _unseen(campaign: Campaign, rows: list[_Told]) -> list[_Told]:
    """The rows without those that the campaign has already, with the very same time.

    Those are answers that the campaign itself exported.
    """
    # Without times nothing can be recognized, and reading all answers is saved.
    if not any(told.row.mark for told in rows):
        return rows
    with campaign.database.read() as connection:
        seen = {
            (item, question, worker, datetime.fromtimestamp(time, UTC).isoformat())
            for item, question, worker, time in told_times(connection, campaign.id)
        }
    return [
        told
        for told in rows
        if (told.item, told.question, told.row.worker, told.row.mark) not in seen
    ]


def _number_of(what: str, name: str, known: dict[str, int]) -> int:
    if name not in known:
        # A suggestion among thousands of names takes long, and every bad row would need one.
        few = list(known)[:20] if len(known) > 20 else list(known)
        raise InvalidInput(
            f"the {what} must be one of the campaign's", shown(name), nearest(name, few)
        )
    return known[name]


def _as_bad_input(place: str, error: AskfewError) -> InvalidInput:
    expected, got, _ = error.args
    return InvalidInput(f"{place}: {expected}", got, "fix the row, or leave it out (--skip-bad)")


class _Pass:
    """One transaction that takes all rows for which the open step has waiting slots."""

    def __init__(self, connection: Connection, campaign: Campaign) -> None:
        self._connection, self._campaign = connection, campaign
        self._now = campaign.clock()
        self._limit = campaign.settings.answers_per_worker_and_cell

    def run(self, rows: list[_Told], report: ImportReport) -> tuple[int, int, list[_Told]]:
        """How many rows were taken, how many had been taken before, and the rows that remain."""
        if state_of(self._connection, self._campaign.id) != "running":
            return 0, 0, rows
        step = newest_number(self._connection, self._campaign.id) or 0
        known, sizes = self._known_keys()
        # Workers are locked before slots, as in every hand-out, so that there is no deadlock.
        names = {told.row.worker for told in rows}
        revoked = join_all(self._connection, self._campaign.id, names, self._now)
        self._look_at(step)
        taken: list[Answer] = []
        waiting, already = [], 0
        for told in rows:
            if told.key in known:
                already += 1
            # Rows without a time can only be told apart by counting them: in a file with more or
            # fewer nobody knows which of them are new.
            elif sizes.setdefault(told.group, told.size) != told.size:
                report.unclear.append(told.row.place)
            elif told.row.worker in revoked:
                report.revoked.append(told.row.place)
            elif (slot := self._slot_for(told)) is not None:
                known.add(told.key)
                taken.append(self._answer(told, step, slot))
            else:
                waiting.append(told)
        settle(self._connection, taken)
        return len(taken), already, waiting

    def _known_keys(self) -> tuple[set[str], dict[str, int]]:
        """The keys of all imported answers, and the size of each group in its file."""
        known = imported_marks(self._connection, self._campaign.id, _MARK)
        found = (_KEY.fullmatch(key) for key in known)
        return known, {each["group"]: int(each["size"]) for each in found if each is not None}

    def _look_at(self, step: int) -> None:
        """Read the waiting slots of the step, who holds its cells how often, and the refusals."""
        number = self._campaign.id
        self._open: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        self._own: defaultdict[tuple[int, int, str], list[int]] = defaultdict(list)
        self._taken: set[int] = set()
        for slot in unsettled_slots(self._connection, number, step):
            # An open slot with a worker is one whose lease ran out: a late answer is still taken.
            if slot.worker is not None:
                self._own[slot.item, slot.question, slot.worker].append(slot.number)
            if slot.state == SlotState.OPEN:
                self._open[slot.item, slot.question].append(slot.number)
        self._held = Counter(held_cells(self._connection, number, step))
        self._refused = refused_slots(self._connection, number, step)

    def _slot_for(self, told: _Told) -> int | None:
        """A slot that this worker holds, or held until the lease ran out; otherwise an open one."""
        who = (told.item, told.question, told.row.worker)
        for slot in self._own[who]:
            if slot not in self._taken:
                self._taken.add(slot)
                return slot
        # As for answers by hand: no worker has a cell more often than the settings allow.
        if self._held[who] >= self._limit:
            return None
        for slot in self._open[told.item, told.question]:
            if slot not in self._taken and (slot, told.row.worker) not in self._refused:
                self._taken.add(slot)
                self._held[who] += 1
                return slot
        return None

    def _answer(self, told: _Told, step: int, slot: int) -> Answer:
        row, settings = told.row, self._campaign.settings
        return Answer(
            # The key in the id is how a later import knows this row again.
            id=str(LeaseId(self._campaign.id, step, slot, told.key)),
            campaign=self._campaign.id,
            step=step,
            slot=slot,
            worker=row.worker,
            item=told.item,
            question=told.question,
            value=told.value,
            raw=storable(str(row.answer)),
            seconds=row.seconds,
            cost=settings.price if row.cost is None else row.cost,
            time=self._now,
        )
