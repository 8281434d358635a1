"""The slots of a step: which wait, how many stand where, and answers that settle many at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Subquery,
    and_,
    bindparam,
    cast,
    func,
    insert,
    literal_column,
    not_,
    or_,
    select,
    tuple_,
    update,
)

from askfew.answers import LARGEST, AnswerKind
from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import answers, refusals, slots, steps
from askfew.campaigns.records import Answer, Slot
from askfew.campaigns.slots.states import TRANSITIONS, SlotEvent, SlotState

__all__ = [
    "LEASED",
    "OPEN",
    "VACANT",
    "answered_by",
    "any_leased",
    "any_open",
    "at_least_open",
    "becomes",
    "cells_in_order",
    "cells_of_step",
    "empty_impossible",
    "held_cells",
    "impossible_slots",
    "insert_slots",
    "is_waiting",
    "leases_by_worker",
    "leases_of",
    "may",
    "most_asked_of_a_cell",
    "open_and_leased",
    "open_cells",
    "possible",
    "refused_slots",
    "settle",
    "slots_by_state",
    "unsettled_slots",
    "values_by_row",
]


def _number(state: SlotState) -> ColumnElement[int]:
    """In the text: a partial index serves no parameter."""
    return literal_column(str(state.value), Integer)


OPEN = slots.c.state == _number(SlotState.OPEN)
LEASED = slots.c.state == _number(SlotState.LEASED)
VACANT: dict[str, Any] = {"worker": None, "lease": None, "expires": None}


def may(event: SlotEvent) -> ColumnElement[bool]:
    """The condition: the slot is in a state in which this may happen."""
    before, _ = TRANSITIONS[event]
    if before == (SlotState.OPEN, SlotState.LEASED):
        return slots.c.state <= _number(SlotState.LEASED)
    (state,) = before
    return slots.c.state == _number(state)


def becomes(event: SlotEvent) -> int:
    """The state that it leads to."""
    _, after = TRANSITIONS[event]
    return after.value


# Not EXISTS: as long as most slots are open, PostgreSQL finds one fastest by looking at them in any
# order, and keeps that plan when those it looks at first have been answered. The first in the order
# of an index is looked up there, always.
def any_open(
    campaign: ColumnElement[int],
    but: tuple[ColumnElement[int], ColumnElement[int]] | None = None,
) -> ColumnElement[bool]:
    """Whether a campaign has open slots, ``but`` for one by its step and number; by another name,
    for statements about slots.
    """
    other = slots.alias("any_open")
    first = select(other.c.number).where(
        other.c.campaign == campaign, other.c.state == _number(SlotState.OPEN)
    )
    if but is not None:
        first = first.where(or_(other.c.step != but[0], other.c.number != but[1]))
    in_order = first.order_by(other.c.campaign, other.c.step, other.c.number)
    return in_order.limit(literal_column("1", Integer)).scalar_subquery().is_not(None)


def any_leased(
    campaign: ColumnElement[int], *conditions: ColumnElement[bool]
) -> ColumnElement[bool]:
    """Whether a campaign has leased slots, under conditions; for other statements."""
    first = select(slots.c.number).where(slots.c.campaign == campaign, LEASED, *conditions)
    in_order = first.order_by(slots.c.campaign, slots.c.expires)
    return in_order.limit(literal_column("1", Integer)).scalar_subquery().is_not(None)


_CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
_WAITING = select(or_(any_open(_CAMPAIGN), any_leased(_CAMPAIGN)))


def is_waiting(connection: Connection, campaign: int) -> bool:
    """Whether any slot waits for an answer; only the newest step has such."""
    return bool(connection.execute(_WAITING, {"this_campaign": campaign}).scalar_one())


def cells_of_step(campaign: int, step: int) -> Subquery:
    """For queries: the items and questions that a step asks, without repeats."""
    here = (slots.c.campaign == campaign, slots.c.step == step)
    return select(slots.c.item, slots.c.question).where(*here).distinct().subquery("cells")


def insert_slots(
    connection: Connection, campaign: int, step: int, dealt: Sequence[tuple[int, int, int, bool]]
) -> None:
    """Open slots, numbered in this order: row of the Batch, item, question, about a reference.

    A step may have a million, so they go in the quickest way that the database has: PostgreSQL's
    COPY, or the driver's own executemany (benchmarks/scale.md).
    """
    rows = (
        (campaign, step, number, row, item, question, reference, SlotState.OPEN.value, 0)
        for number, (row, item, question, reference) in enumerate(dealt)
    )
    names = ", ".join(f'"{name}"' for name in _NEW_SLOT)
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(f"COPY slots ({names}) FROM STDIN") as copy:
            while chunk := list(islice(rows, _AT_ONCE)):
                copy.write("".join(_COPIED % row for row in chunk))
    elif dealt:
        marks = ", ".join("?" * len(_NEW_SLOT))
        connection.exec_driver_sql(f"INSERT INTO slots ({names}) VALUES ({marks})", list(rows))


_NEW_SLOT = (
    *("campaign", "step", "number", "row", "item", "question"),
    *("reference", "state", "failures"),
)
_COPIED = "\t".join(["%d"] * len(_NEW_SLOT)) + "\n"
_AT_ONCE = 20_000


def cells_in_order(connection: Connection, campaign: int, step: int) -> list[tuple[int, int]]:
    """Item and question of every slot of a step, in their order."""
    query = (
        select(slots.c.item, slots.c.question)
        .where(slots.c.campaign == campaign, slots.c.step == step)
        .order_by(slots.c.number)
    )
    return [(row.item, row.question) for row in connection.execute(query)]


def unsettled_slots(connection: Connection, campaign: int, step: int) -> list[Slot]:
    """Those that wait for an answer, in their order; held until the transaction ends."""
    waiting = (
        select(slots)
        .where(slots.c.campaign == campaign, slots.c.step == step, may(SlotEvent.ANSWERED))
        .order_by(slots.c.number)
        .with_for_update()
    )
    return [
        Slot(row.number, row.item, row.question, SlotState(row.state), row.worker)
        for row in connection.execute(waiting)
    ]


def open_cells(connection: Connection, campaign: int) -> list[tuple[int, int]]:
    """Item and question of every open slot, in their order."""
    waiting = (
        select(slots.c.item, slots.c.question)
        .where(slots.c.campaign == campaign, OPEN)
        .order_by(slots.c.step, slots.c.number)
    )
    return [(row.item, row.question) for row in connection.execute(waiting)]


def open_and_leased(connection: Connection, campaign: int, most: int) -> tuple[int, int]:
    """How many slots are open, and how many are leased; none is counted beyond ``most``."""

    def count(state: ColumnElement[bool]) -> int:
        some = select(slots.c.number).where(slots.c.campaign == campaign, state).limit(most)
        counted = select(func.count()).select_from(some.subquery())
        return int(connection.execute(counted).scalar_one())

    return count(OPEN), count(LEASED)


def at_least_open(connection: Connection, campaign: int, enough: int) -> bool:
    """Whether so many slots are open; no more are looked at."""
    some = select(slots.c.number).where(slots.c.campaign == campaign, OPEN).limit(enough)
    query = select(func.count()).select_from(some.subquery())
    return connection.execute(query).scalar_one() >= enough


def leases_of(
    connection: Connection, campaign: int, worker: str
) -> list[tuple[str, int, int, float]]:
    """Lease, item, question and end of every slot that the worker holds."""
    columns = (slots.c.lease, slots.c.item, slots.c.question, slots.c.expires)
    here = (slots.c.campaign == campaign, slots.c.worker == worker, LEASED)
    rows = connection.execute(select(*columns).where(*here))
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def held_cells(connection: Connection, campaign: int, step: int) -> list[tuple[int, int, str]]:
    """Item, question and worker of every slot, of any step, about a cell that this step asks."""
    cells = cells_of_step(campaign, step)
    held = connection.execute(
        select(slots.c.item, slots.c.question, slots.c.worker)
        .join(cells, and_(cells.c.item == slots.c.item, cells.c.question == slots.c.question))
        .where(
            slots.c.campaign == campaign,
            slots.c.worker.is_not(None),
            slots.c.state != SlotState.EMPTY,
        )
    )
    return [(row.item, row.question, row.worker) for row in held]


def refused_slots(connection: Connection, campaign: int, step: int) -> set[tuple[int, str]]:
    """Which slots of a step were refused by whom."""
    here = (refusals.c.campaign == campaign, refusals.c.step == step)
    refused = connection.execute(select(refusals.c.slot, refusals.c.worker).where(*here))
    return {(row.slot, row.worker) for row in refused}


def values_by_row(connection: Connection, campaign: int, step: int) -> list[tuple[int, float]]:
    """Row of the Batch, and value, of every answered slot of a step."""
    answered = select(slots.c.row, slots.c.value).where(
        slots.c.campaign == campaign, slots.c.step == step, slots.c.state == SlotState.ANSWERED
    )
    rows = connection.execute(answered.order_by(slots.c.number))
    return [tuple(row) for row in rows]


def slots_by_state(connection: Connection, campaign: int, step: int) -> dict[int, int]:
    """How many slots of a step stand where."""
    query = (
        select(slots.c.state, func.count())
        .where(slots.c.campaign == campaign, slots.c.step == step)
        .group_by(slots.c.state)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def leases_by_worker(connection: Connection, campaign: int) -> dict[str, int]:
    """How many slots each worker holds."""
    held = connection.execute(
        select(slots.c.worker, func.count().label("leases"))
        .where(slots.c.campaign == campaign, LEASED)
        .group_by(slots.c.worker)
    )
    return {row.worker: row.leases for row in held}


def most_asked_of_a_cell(connection: Connection, campaign: int) -> int:
    """The most answers that one cell of the open step has had and waits for, over all steps."""
    open_step = (
        select(func.max(steps.c.number))
        .where(steps.c.campaign == campaign, steps.c.closed.is_(None))
        .scalar_subquery()
    )
    # Not a join, for which SQLite would look at all slots once for every cell.
    cell = tuple_(slots.c.item, slots.c.question)
    cells = select(slots.c.item, slots.c.question).where(
        slots.c.campaign == campaign, slots.c.step == open_step
    )
    asked = (
        select(func.count().label("asked"))
        .where(slots.c.campaign == campaign, slots.c.state != SlotState.EMPTY, cell.in_(cells))
        .group_by(slots.c.item, slots.c.question)
        .subquery()
    )
    return connection.execute(select(cast(func.max(asked.c.asked), Integer))).scalar() or 0


_SETTLE = (
    update(slots)
    .where(
        slots.c.campaign == bindparam("at_campaign"),
        slots.c.step == bindparam("at_step"),
        slots.c.number == bindparam("at_slot"),
        may(SlotEvent.ANSWERED),
    )
    .values(
        state=becomes(SlotEvent.ANSWERED),
        worker=bindparam("by_worker"),
        lease=bindparam("by_lease"),
        value=bindparam("answer"),
        expires=None,
    )
)


def settle(connection: Connection, told: Sequence[Answer]) -> None:
    """Keep answers that come without having been handed out one by one: reused, or from a file.

    The caller has seen that their slots wait, and holds them.
    """
    if not told:
        return
    settled = [
        {
            "at_campaign": each.campaign,
            "at_step": each.step,
            "at_slot": each.slot,
            "by_worker": each.worker,
            "by_lease": each.id,
            "answer": each.value,
        }
        for each in told
    ]
    connection.execute(_SETTLE, settled)
    connection.execute(insert(answers), [{**vars(each), "retracted": False} for each in told])


def possible(value: ColumnElement[float], kind: AnswerKind) -> ColumnElement[bool]:
    """For queries: an answer is within the bounds of its kind.

    A store of an older askfew may hold others. A number such as 1e200 was once accepted and cannot
    be squared: the step that holds it could never be used. So it is no answer, and its slot is
    empty; it is kept, marked retracted.
    """
    return value.between(max(kind.low, -LARGEST), min(kind.high, LARGEST))


def impossible_slots(
    connection: Connection, campaign: int, step: int, kind: AnswerKind
) -> list[int]:
    """The numbers of a step's slots that hold an answer which is not possible."""
    found = select(slots.c.number).where(
        slots.c.campaign == campaign,
        slots.c.step == step,
        may(SlotEvent.VOIDED),
        not_(possible(slots.c.value, kind)),
    )
    return list(connection.execute(found).scalars())


def empty_impossible(connection: Connection, campaign: int, step: int, kind: AnswerKind) -> int:
    """Take them out of a step that is locked; how many there were."""
    which = impossible_slots(connection, campaign, step, kind)
    if which:
        connection.execute(
            update(answers)
            .where(answers.c.campaign == campaign, answers.c.step == step)
            .where(answers.c.slot.in_(which))
            .values(retracted=True)
        )
        connection.execute(
            update(slots)
            .where(slots.c.campaign == campaign, slots.c.step == step, slots.c.number.in_(which))
            .values(state=becomes(SlotEvent.VOIDED), value=None, **VACANT)
        )
    return len(which)


# By the slots: they have an index by worker, which answers have not.
_ANSWERED_BY = (
    select(func.count())
    .select_from(slots)
    .where(
        slots.c.campaign == bindparam("this_campaign"),
        slots.c.worker == bindparam("this_worker", type_=slots.c.worker.type),
        slots.c.state == SlotState.ANSWERED.value,
    )
)


def answered_by(database: Database, campaign: int, worker: str) -> int:
    """How many answers of this worker's are there."""
    who = {"this_campaign": campaign, "this_worker": worker}
    return int(database.fetch_one(_ANSWERED_BY, who)[0])
