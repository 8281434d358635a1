"""Queries of the doctor: rows of two tables that must agree, and rows without a partner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, exists, func, not_, or_, select

from askfew.campaigns.db.database import Database
from askfew.campaigns.db.queries.leases import BEING_REDONE
from askfew.campaigns.db.schema import answers, flags, gold, refusals, slots
from askfew.campaigns.slots.states import SlotState

__all__ = [
    "AnsweredSlot",
    "SlotRow",
    "answer_places",
    "answers_of_other_cells",
    "answers_of_slots",
    "answers_without_slot",
    "cells_had_too_often",
    "file_problems",
    "redone_without_reason",
    "refusals_without_slot",
    "rows_about_nothing",
    "slots_of_step",
]

_AT_ONCE = 5000
"""Rows that are in memory at once. A round number."""
_OWN_SLOT = and_(
    slots.c.campaign == answers.c.campaign,
    slots.c.step == answers.c.step,
    slots.c.number == answers.c.slot,
)


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot as it is stored."""

    campaign: int
    step: int
    number: int
    row: int
    item: int
    question: int
    reference: bool
    state: int
    failures: int
    worker: str | None
    lease: str | None
    expires: float | None
    value: float | None


@dataclass(frozen=True, slots=True)
class AnsweredSlot:
    """A slot, and an answer that counts for it, if there is one."""

    step: int
    number: int
    state: int
    value: float
    worker: str | None
    item: int
    question: int
    lease: str | None
    answer: str | None
    """The answer's id."""
    told: float
    teller: str | None
    told_item: int | None
    told_question: int | None


def slots_of_step(connection: Connection, campaign: int, step: int) -> list[SlotRow]:
    """All slots of a step, in their order."""
    here = (slots.c.campaign == campaign, slots.c.step == step)
    rows = connection.execute(select(slots).where(*here).order_by(slots.c.number))
    return [SlotRow(*row) for row in rows]


def answers_of_slots(connection: Connection, campaign: int) -> Iterator[AnsweredSlot]:
    """Every slot, once for each answer that counts for it; once without an answer if none does."""
    rows: Iterable[Sequence[Any]] = connection.execute(
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
        # An outer join: a slot that should have an answer and has none must be seen, too.
        .outerjoin(answers, and_(_OWN_SLOT, answers.c.retracted.is_(False)))
        .where(slots.c.campaign == campaign)
        .order_by(slots.c.step, slots.c.number)
        .execution_options(yield_per=_AT_ONCE)
    )
    return (AnsweredSlot(*row) for row in rows)


def answers_without_slot(connection: Connection, campaign: int) -> list[str]:
    """Ids of answers whose slot does not exist."""
    lost = (
        select(answers.c.id)
        .outerjoin(slots, _OWN_SLOT)
        .where(answers.c.campaign == campaign, slots.c.number.is_(None))
    )
    return list(connection.execute(lost).scalars())


def answers_of_other_cells(connection: Connection, campaign: int) -> list[str]:
    """Ids of retracted answers that are about another cell than their slot."""
    odd = (
        select(answers.c.id)
        .join(slots, _OWN_SLOT)
        .where(
            answers.c.campaign == campaign,
            answers.c.retracted.is_(True),
            or_(answers.c.item != slots.c.item, answers.c.question != slots.c.question),
        )
    )
    return list(connection.execute(odd).scalars())


def answer_places(connection: Connection, campaign: int) -> Iterator[tuple[str, int, int]]:
    """Id, step and slot of every answer, taken back or not."""
    every = select(answers.c.id, answers.c.step, answers.c.slot).where(
        answers.c.campaign == campaign
    )
    rows = connection.execute(every.execution_options(yield_per=_AT_ONCE))
    return ((row[0], row[1], row[2]) for row in rows)


def redone_without_reason(connection: Connection, campaign: int) -> list[tuple[int, int]]:
    """Step and number of leased slots with a value that their worker never took back."""
    taken_back = exists().where(
        _OWN_SLOT,
        answers.c.worker == slots.c.worker,
        answers.c.value == slots.c.value,
        answers.c.retracted.is_(True),
    )
    rows = connection.execute(
        select(slots.c.step, slots.c.number).where(
            slots.c.campaign == campaign, BEING_REDONE, not_(taken_back)
        )
    )
    return [(row.step, row.number) for row in rows]


def cells_had_too_often(
    connection: Connection, campaign: int, limit: int
) -> list[tuple[str, int, int, int]]:
    """Worker, item, question and number of slots, where a worker has a cell above the limit."""
    often = connection.execute(
        select(slots.c.worker, slots.c.item, slots.c.question, func.count().label("times"))
        .where(
            slots.c.campaign == campaign,
            slots.c.state.between(SlotState.LEASED, SlotState.ANSWERED),
        )
        .group_by(slots.c.worker, slots.c.item, slots.c.question)
        .having(func.count() > limit)
    )
    return [(row[0], row[1], row[2], row[3]) for row in often]


def refusals_without_slot(connection: Connection, campaign: int) -> list[tuple[int, int]]:
    """Step and slot of refusals whose slot does not exist."""
    lost = connection.execute(
        select(refusals.c.step, refusals.c.slot)
        .outerjoin(
            slots,
            and_(
                slots.c.campaign == refusals.c.campaign,
                slots.c.step == refusals.c.step,
                slots.c.number == refusals.c.slot,
            ),
        )
        .where(refusals.c.campaign == campaign, slots.c.number.is_(None))
    )
    return [(row.step, row.slot) for row in lost]


def rows_about_nothing(
    connection: Connection, campaign: int, items: int, questions: int
) -> Iterator[str]:
    """A sentence for flags or gold questions about items or questions that do not exist."""
    for column, most in ((flags.c.item, items), (gold.c.item, items), (gold.c.question, questions)):
        lost = select(column).where(column.table.c.campaign == campaign, column >= most)
        if connection.execute(lost.limit(1)).first() is not None:
            yield f"a row of {column.table.name} is about a {column.name} that does not exist"


def file_problems(database: Database) -> Iterator[str]:
    """What SQLite's own checks find wrong with the file; nothing for PostgreSQL."""
    if database.file is None:
        return
    with database.read() as connection:
        # Ten problems are enough to know; a badly damaged file would list thousands.
        for (said,) in connection.exec_driver_sql("PRAGMA integrity_check(10)"):
            if said != "ok":
                yield f"SQLite's integrity check: {said}"
        orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    by_tables: dict[tuple[str, str], int] = {}
    for table, _rowid, parent, _index in orphans:
        by_tables[table, parent] = by_tables.get((table, parent), 0) + 1
    for (table, parent), count in by_tables.items():
        yield f"{count} rows of {table} belong to no row of {parent}"
