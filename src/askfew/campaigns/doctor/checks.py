"""What must be true of a campaign's rows, whatever happened; each breach is one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from sqlalchemy import Connection, and_, exists, func, not_, select

from askfew.answers import AnswerKind
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.states import FAILURES_TO_EMPTY
from askfew.campaigns.slots.undoing import BEING_REDONE
from askfew.campaigns.steps.log import read_batch
from askfew.campaigns.tables.schema import SlotState, answers, slots, steps
from askfew.errors import InvalidAnswer

__all__ = ["answer_problems", "slot_problems", "step_problems"]

_AT_ONCE = 5000


def step_problems(connection: Connection, campaign: int) -> list[str]:
    """Steps are numbered without gaps, and only the last may be open."""
    rows = connection.execute(
        select(steps.c.number, steps.c.closed)
        .where(steps.c.campaign == campaign)
        .order_by(steps.c.number)
    ).all()
    found = []
    if [row.number for row in rows] != list(range(len(rows))):
        found.append(f"its steps are not numbered 0 to {len(rows) - 1}")
    for row in rows[:-1]:
        if row.closed is None:
            found.append(f"step {row.number} is open, although later ones are there")
    return found


def slot_problems(connection: Connection, campaign: int, settings: Settings) -> list[str]:
    """Slots are the Batch's rows, each in a possible state; closed steps' add up to the Tally."""
    found: list[str] = []
    batches = connection.execute(
        select(steps).where(steps.c.campaign == campaign).order_by(steps.c.number)
    ).all()
    for step in batches:
        here = connection.execute(
            select(slots)
            .where(slots.c.campaign == campaign, slots.c.step == step.number)
            .order_by(slots.c.number)
        ).all()
        found += _batch_problems(step, here)
        for slot in here:
            found += _state_problems(slot, closed=step.closed is not None)
        if step.closed is not None:
            found += _tally_problems(step, here)
    return found + _limit_problems(connection, campaign, settings.answers_per_worker_and_cell)


def answer_problems(connection: Connection, campaign: int, kind: AnswerKind) -> list[str]:
    """Every answered slot has exactly one answer that counts, the same; no other slot has one."""
    counting = and_(
        answers.c.campaign == slots.c.campaign,
        answers.c.step == slots.c.step,
        answers.c.slot == slots.c.number,
        answers.c.retracted.is_(False),
    )
    rows = connection.execute(
        select(
            slots.c.step,
            slots.c.number,
            slots.c.state,
            slots.c.value,
            slots.c.worker,
            slots.c.item,
            slots.c.question,
            slots.c.lease,
            answers.c.id,
            answers.c.value.label("told"),
            answers.c.worker.label("teller"),
            answers.c.item.label("told_item"),
            answers.c.question.label("told_question"),
        )
        .outerjoin(answers, counting)
        .where(slots.c.campaign == campaign)
        .order_by(slots.c.step, slots.c.number)
        .execution_options(yield_per=_AT_ONCE)
    )
    found: list[str] = []
    for _, group in groupby(rows, key=attrgetter("step", "number")):
        found += _one_answer(list(group), kind)
    lost = connection.execute(
        select(answers.c.id)
        .outerjoin(
            slots,
            and_(
                slots.c.campaign == answers.c.campaign,
                slots.c.step == answers.c.step,
                slots.c.number == answers.c.slot,
            ),
        )
        .where(answers.c.campaign == campaign, slots.c.number.is_(None))
    ).scalars()
    found += [f"answer {each} belongs to no slot" for each in lost]
    return found + _redo_problems(connection, campaign)


def _redo_problems(connection: Connection, campaign: int) -> list[str]:
    """A leased slot holds a value only if its own worker took an answer back (``undoing``)."""
    taken_back = exists().where(
        answers.c.campaign == slots.c.campaign,
        answers.c.step == slots.c.step,
        answers.c.slot == slots.c.number,
        answers.c.worker == slots.c.worker,
        answers.c.value == slots.c.value,
        answers.c.retracted.is_(True),
    )
    rows = connection.execute(
        select(slots.c.step, slots.c.number).where(
            slots.c.campaign == campaign, BEING_REDONE, not_(taken_back)
        )
    )
    return [
        f"slot {row.step}-{row.number} is leased, but holds a value that nobody took back"
        for row in rows
    ]


def _batch_problems(step: Any, here: Any) -> Iterator[str]:
    try:
        batch = read_batch(step)
        columns = (batch.items.tolist(), batch.questions.tolist(), batch.repeats.tolist())
        asked = list(zip(*columns, strict=True))
    except ValueError:
        yield f"step {step.number} has a Batch that cannot be read"
        return
    have: dict[int, list[tuple[int, int]]] = {}
    for slot in here:
        have.setdefault(slot.row, []).append((slot.item, slot.question))
    for row, (item, question, repeats) in enumerate(asked):
        if have.pop(row, []) != [(item, question)] * repeats:
            yield f"step {step.number} row {row} has other slots than its Batch asks for"
    if have:
        yield f"step {step.number} has slots of rows that its Batch does not have"


def _state_problems(slot: Any, *, closed: bool) -> Iterator[str]:
    name = f"slot {slot.step}-{slot.number}"
    held = (slot.worker, slot.lease)
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
    if slot.lease is not None and not slot.lease.startswith(
        f"{slot.campaign}-{slot.step}-{slot.number}-"
    ):
        yield f"{name} has another slot's lease ({slot.lease})"


def _tally_problems(step: Any, here: Any) -> Iterator[str]:
    values: dict[int, list[float]] = {}
    for slot in here:
        if slot.state == SlotState.ANSWERED and slot.value is not None:
            values.setdefault(slot.row, []).append(slot.value)
    counts = np.frombuffer(step.counts or b"", dtype="<i8").tolist()
    sums = np.frombuffer(step.sums or b"", dtype="<f8").tolist()
    for row, (count, total) in enumerate(zip(counts, sums, strict=False)):
        told = values.get(row, [])
        if (len(told), math.fsum(told)) != (count, total):
            yield (
                f"step {step.number} row {row} was tallied as {count} answers adding up to"
                f" {total:g}, but its slots hold {len(told)} adding up to {math.fsum(told):g}"
            )


def _limit_problems(connection: Connection, campaign: int, limit: int) -> list[str]:
    often = connection.execute(
        select(slots.c.worker, slots.c.item, slots.c.question, func.count().label("times"))
        .where(
            slots.c.campaign == campaign,
            slots.c.state.between(SlotState.LEASED, SlotState.ANSWERED),
        )
        .group_by(slots.c.worker, slots.c.item, slots.c.question)
        .having(func.count() > limit)
    )
    return [
        f"worker {row.worker!r} has item {row.item}, question {row.question} {row.times} times,"
        f" and only {limit} are allowed"
        for row in often
    ]


def _one_answer(group: list[Any], kind: AnswerKind) -> Iterator[str]:
    slot, name = group[0], f"slot {group[0].step}-{group[0].number}"
    told = [row for row in group if row.id is not None]
    if slot.state != SlotState.ANSWERED:
        if told:
            yield f"{name} is not answered, but has an answer that counts ({told[0].id})"
        return
    if len(told) != 1:
        yield f"{name} is answered, but has {len(told)} answers that count instead of one"
        return
    answer = told[0]
    if answer.told != slot.value:
        yield f"{name} holds {slot.value:g}, but its answer says {answer.told:g}"
    if answer.id != slot.lease or answer.teller != slot.worker:
        yield f"{name} and its answer ({answer.id}) name different workers or leases"
    if (answer.told_item, answer.told_question) != (slot.item, slot.question):
        yield f"{name} and its answer ({answer.id}) are about different cells"
    try:
        kind.read(answer.told)
    except InvalidAnswer:
        yield f"answer {answer.id} says {answer.told:g}, which is not among {kind}"
