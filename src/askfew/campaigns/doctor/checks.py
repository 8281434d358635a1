"""Checks of a campaign's rows; each problem is one sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

import numpy as np

from askfew.answers import AnswerKind
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.campaigns import CampaignRow
from askfew.campaigns.db.queries.contents import find_picture, items_of, questions_of
from askfew.campaigns.db.queries.soundness import (
    AnsweredSlot,
    SlotRow,
    answer_places,
    answers_of_other_cells,
    answers_of_slots,
    answers_without_slot,
    cells_had_too_often,
    redone_without_reason,
    refusals_without_slot,
    rows_about_nothing,
    slots_of_step,
)
from askfew.campaigns.db.queries.steps import StepRow, all_steps, unpack
from askfew.campaigns.db.queries.tables import (
    CONTENT_TABLES,
    check_row,
    columns_of,
    keys_of,
    rows_of,
)
from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.naming import read_names
from askfew.campaigns.records import Item, Question, check_items, check_picture, check_questions
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.lease import LeaseId
from askfew.campaigns.slots.states import FAILURES_TO_EMPTY, SlotState
from askfew.errors import InvalidAnswer, InvalidInput

__all__ = [
    "about_problems",
    "answer_problems",
    "content_problems",
    "row_problems",
    "slot_problems",
    "step_problems",
]


def step_problems(connection: Connection, campaign: int) -> list[str]:
    """Check that steps are numbered without gaps, and that all but the last are closed."""
    rows = all_steps(connection, campaign)
    found = []
    if [row.number for row in rows] != list(range(len(rows))):
        found.append(f"its steps are not numbered 0 to {len(rows) - 1}")
    for row in rows[:-1]:
        if row.closed is None:
            found.append(f"step {row.number} is open, although there are later ones")
    for row in rows:
        tally = (row.counts, row.sums, row.squares, row.seal)
        if any((part is None) != (row.closed is None) for part in tally):
            found.append(f"step {row.number} is open with a Tally, or closed without one")
        if row.closed is not None and row.closed < row.opened:
            found.append(f"step {row.number} was closed before it was opened")
        if row.known is not None and not _is_known(row.known):
            found.append(f"step {row.number} has a snapshot that cannot be read")
    return found


def _is_known(content: bytes) -> bool:
    """Whether the bytes are a snapshot as a store keeps it."""
    try:
        unpack(content, "")
    except ValueError:
        return False
    return True


def slot_problems(connection: Connection, campaign: int, settings: Settings) -> list[str]:
    """Check that slots match the Batch, have a possible state, and add up to the Tally."""
    found: list[str] = []
    for step in all_steps(connection, campaign):
        here = slots_of_step(connection, campaign, step.number)
        found += _batch_problems(step, here)
        for slot in here:
            found += _state_problems(slot, closed=step.closed is not None)
        if step.closed is not None:
            found += _tally_problems(step, here)
    limit = settings.answers_per_worker_and_cell
    return found + [
        f"worker {worker!r} has item {item}, question {question} {times} times,"
        f" and only {limit} are allowed"
        for worker, item, question, times in cells_had_too_often(connection, campaign, limit)
    ]


def answer_problems(connection: Connection, campaign: int, kind: AnswerKind) -> list[str]:
    """Check that every answered slot has one equal answer that counts, and no other slot any."""
    found: list[str] = []
    rows = answers_of_slots(connection, campaign)
    for _, group in groupby(rows, key=attrgetter("step", "number")):
        found += _one_answer(list(group), kind)
    lost = answers_without_slot(connection, campaign)
    found += [f"answer {each} belongs to no slot" for each in lost]
    for answer in answers_of_other_cells(connection, campaign):
        found.append(f"answer {answer}, which was taken back, is about another cell than its slot")
    for answer, step, slot in answer_places(connection, campaign):
        if not _is_lease(answer, campaign, step, slot):
            found.append(f"answer {answer} has another slot's id")
    for step, slot in redone_without_reason(connection, campaign):
        found.append(f"slot {step}-{slot} is leased, but holds a value that nobody took back")
    return found


def _is_lease(text: str, campaign: int, step: int, slot: int) -> bool:
    lease = LeaseId.parse(text)
    return lease is not None and lease.is_of(campaign, step, slot)


def _batch_problems(step: StepRow, here: list[SlotRow]) -> Iterator[str]:
    try:
        batch = step.batch
        columns = (batch.items.tolist(), batch.questions.tolist(), batch.repeats.tolist())
        asked = list(zip(*columns, strict=True))
    except ValueError:
        yield f"step {step.number} has a Batch that cannot be read"
        return
    if [slot.number for slot in here] != list(range(len(here))):
        yield f"step {step.number} has slots that are not numbered 0 to {len(here) - 1}"
    have: dict[int, list[tuple[int, int]]] = {}
    for slot in here:
        have.setdefault(slot.row, []).append((slot.item, slot.question))
    for row, (item, question, repeats) in enumerate(asked):
        cells = have.pop(row, [])
        if len(cells) != repeats or any(cell != (item, question) for cell in cells):
            yield f"step {step.number} row {row} has other slots than its Batch asks for"
    # The rows of the Batch were taken out above.
    if have:
        yield f"step {step.number} has slots of rows that its Batch does not have"


def _state_problems(slot: SlotRow, *, closed: bool) -> Iterator[str]:
    name = f"slot {slot.step}-{slot.number}"
    held = (slot.worker, slot.lease)
    # An open slot may keep both, of a worker whose lease ran out.
    match slot.state:
        case SlotState.OPEN if slot.value is not None:
            yield f"{name} is open, but holds a value"
        case SlotState.LEASED if None in held or slot.expires is None:
            yield f"{name} is leased, but to nobody, or for ever"
        case SlotState.ANSWERED if None in held or slot.value is None:
            yield f"{name} is answered, but by nobody, or with nothing"
        case SlotState.EMPTY if slot.value is not None:
            yield f"{name} is empty, but holds a value"
        case SlotState.OPEN | SlotState.LEASED | SlotState.ANSWERED | SlotState.EMPTY:
            pass
        case _:
            yield f"{name} is in no known state ({slot.state})"
    if closed and slot.state in (SlotState.OPEN, SlotState.LEASED):
        yield f"{name} waits for an answer, but its step is closed"
    if slot.state != SlotState.EMPTY and not 0 <= slot.failures < FAILURES_TO_EMPTY:
        yield f"{name} has been refused {slot.failures} times, and should be empty"
    place = (slot.campaign, slot.step, slot.number)
    if slot.lease is not None and not _is_lease(slot.lease, *place):
        yield f"{name} has another slot's lease ({slot.lease})"


def _tally_problems(step: StepRow, here: list[SlotRow]) -> Iterator[str]:
    values: dict[int, list[float]] = {}
    for slot in here:
        if slot.state == SlotState.ANSWERED and slot.value is not None:
            values.setdefault(slot.row, []).append(slot.value)
    try:
        counts = np.frombuffer(step.counts or b"", dtype="<i8").tolist()
        sums, squares = (
            np.frombuffer(each or b"", dtype="<f8").tolist() for each in (step.sums, step.squares)
        )
        tallied = list(zip(counts, sums, squares, strict=True))
    except ValueError:
        yield f"step {step.number} has a Tally that cannot be read"
        return
    if len(tallied) <= max(values, default=-1):
        yield f"step {step.number} has a Tally of too few rows"
    for row, (count, total, squared) in enumerate(tallied):
        told = values.get(row, [])
        adds_up, squares_up = _sum(told), _sum([each * each for each in told])
        # Exactly: a Tally is the fsum of its slots, which does not depend on their order.
        if (len(told), adds_up) != (count, total):
            yield (
                f"step {step.number} row {row} was tallied as {count} answers adding up to"
                f" {total:g}, but its slots hold {len(told)} adding up to {adds_up:g}"
            )
        elif squares_up != squared:
            yield f"step {step.number} row {row} has squares {squared:g}, not {squares_up:g}"


def _sum(values: list[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:  # an impossible answer of an older askfew
        return math.inf


def _one_answer(group: list[AnsweredSlot], kind: AnswerKind) -> Iterator[str]:
    slot, name = group[0], f"slot {group[0].step}-{group[0].number}"
    told = [row for row in group if row.answer is not None]
    if slot.state != SlotState.ANSWERED:
        if told:
            yield f"{name} is not answered, but has an answer that counts ({told[0].answer})"
        return
    if len(told) != 1:
        yield f"{name} is answered, but has {len(told)} answers that count instead of one"
        return
    answer = told[0]
    if answer.told != slot.value:
        yield f"{name} holds {slot.value:g}, but its answer says {answer.told:g}"
    if answer.answer != slot.lease or answer.teller != slot.worker:
        yield f"{name} and its answer ({answer.answer}) name different workers or leases"
    if (answer.told_item, answer.told_question) != (slot.item, slot.question):
        yield f"{name} and its answer ({answer.answer}) are about different cells"
    try:
        kind.read(answer.told)
    except InvalidAnswer:
        yield f"answer {answer.answer} says {answer.told:g}, which is not among {kind}"


_ENOUGH = 20
"""The most rows that are named. A round number: a broken store may have millions."""


def row_problems(connection: Connection, campaign: int) -> list[str]:
    """Check that every field of every row has its type and is within its bounds."""
    return list(islice(_row_problems(connection, campaign), _ENOUGH))


def _row_problems(connection: Connection, campaign: int) -> Iterator[str]:
    for table in ("campaigns", *CONTENT_TABLES):
        for row in rows_of(connection, table, campaign):
            try:
                check_row(table, row, columns_of(table))
            except InvalidInput as error:
                yield f"{error} ({_which(table, row)})"


def _which(table: str, row: dict[str, Any]) -> str:
    return " ".join(f"{key} {row[key]!r}"[:80] for key in keys_of(table)) or "a row"


def about_problems(row: CampaignRow, settings: Settings) -> Iterator[str]:
    """Check the campaign's own row: its name, recipe, forecast and outcome."""
    if settings.name != row.name:
        yield f"its settings are of another campaign ({settings.name!r})"
    try:
        read_names(row.names)
    except InvalidInput as error:
        yield f"its groups' names cannot be read: {error}"
    if not isinstance(json.loads(row.recipe), dict):
        yield "its recipe is not a table"
    if row.forecast is not None:
        try:
            CrowdForecast.from_json(row.forecast)
        except InvalidInput as error:
            yield f"its forecast cannot be read: {error}"
    over = row.state in ("ended", "closed")
    if row.outcome is not None and not over:
        yield f"it has a result, but is {row.state}"
    if row.closing is not None and not over:
        yield f"it has the plans of its end, but is {row.state}"


def content_problems(connection: Connection, campaign: int) -> Iterator[str]:
    """Check that items and questions are numbered from 0 and would be accepted in a folder."""
    here, asked = items_of(connection, campaign), questions_of(connection, campaign)
    for what, rows in (("items", here), ("questions", asked)):
        if [row.number for row in rows] != list(range(len(rows))):
            yield f"its {what} are not numbered 0 to {len(rows) - 1}"
    try:
        check_items([Item(row.id, row.text) for row in here])
        check_questions([Question(row.id, row.text) for row in asked])
        for digest in {row.image for row in here} - {None}:
            picture = find_picture(connection, str(digest))
            check_picture(b"" if picture is None else picture.content, str(digest))
    except InvalidInput as error:
        yield str(error)
    yield from rows_about_nothing(connection, campaign, len(here), len(asked))
    for step, slot in refusals_without_slot(connection, campaign):
        yield f"a refusal is about slot {step}-{slot}, which does not exist"
