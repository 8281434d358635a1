"""The slots of a step: which wait, how many are in each state, settling many at once."""

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
    """The state as a literal: a partial index cannot be used with a parameter."""
    return literal_column(str(state.value), Integer)


OPEN = slots.c.state == _number(SlotState.OPEN)
LEASED = slots.c.state == _number(SlotState.LEASED)
VACANT: dict[str, Any] = {"worker": None, "lease": None, "expires": None}
"""The values of a slot that no worker has."""


def may(event: SlotEvent) -> ColumnElement[bool]:
    """The condition: the slot is in a state in which this event may happen."""
    before, _ = TRANSITIONS[event]
    if before == (SlotState.OPEN, SlotState.LEASED):
        return slots.c.state <= _number(SlotState.LEASED)
    (state,) = before
    return slots.c.state == _number(state)


def becomes(event: SlotEvent) -> int:
    """The number of the state that the event leads to."""
    _, after = TRANSITIONS[event]
    return after.value


# Not EXISTS: while most slots are open, PostgreSQL plans a scan in any order, which finds one at
# once, and keeps that plan when the slots it scans first have been answered. The first slot in the
# order of an index is always looked up in that index.
def any_open(
    campaign: ColumnElement[int],
    but: tuple[ColumnElement[int], ColumnElement[int]] | None = None,
) -> ColumnElement[bool]:
    """The condition: a campaign has open slots, apart from the one at ``but`` (step and number)."""
    # An alias, because the condition is also used inside statements about slots.
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
    """The condition: a campaign has leased slots that meet the given conditions."""
    first = select(slots.c.number).where(slots.c.campaign == campaign, LEASED, *conditions)
    in_order = first.order_by(slots.c.campaign, slots.c.expires)
    return in_order.limit(literal_column("1", Integer)).scalar_subquery().is_not(None)


_CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
_WAITING = select(or_(any_open(_CAMPAIGN), any_leased(_CAMPAIGN)))


def is_waiting(connection: Connection, campaign: int) -> bool:
    """Whether any slot is open or leased; only the newest step can have such slots."""
    return bool(connection.execute(_WAITING, {"this_campaign": campaign}).scalar_one())


def cells_of_step(campaign: int, step: int) -> Subquery:
    """For queries: the items and questions that a step asks, without repeats."""
    here = (slots.c.campaign == campaign, slots.c.step == step)
    return select(slots.c.item, slots.c.question).where(*here).distinct().subquery("cells")


def insert_slots(
    connection: Connection, campaign: int, step: int, dealt: Sequence[tuple[int, int, int, bool]]
) -> None:
    """Insert open slots, numbered in this order: row of the Batch, item, question, reference.

    A step may have a million slots, so this takes the fastest way of each database: PostgreSQL's
    COPY, or the driver's own executemany (benchmarks/scale.md).
    """
    rows = (
        (campaign, step, number, row, item, question, reference, SlotState.OPEN.value, 0)
        for number, (row, item, question, reference) in enumerate(dealt)
    )
    names = ", ".join(f'"{name}"' for name in _NEW_SLOT)
    if connection.dialect.name == "postgresql":
        # On the same connection, so within the caller's transaction.
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
"""Slots per chunk of COPY, so that the text of a large step is never in memory as a whole. A round
number."""


def cells_in_order(connection: Connection, campaign: int, step: int) -> list[tuple[int, int]]:
    """Item and question of every slot of a step, in their order."""
    query = (
        select(slots.c.item, slots.c.question)
        .where(slots.c.campaign == campaign, slots.c.step == step)
        .order_by(slots.c.number)
    )
    return [(row.item, row.question) for row in connection.execute(query)]


def unsettled_slots(connection: Connection, campaign: int, step: int) -> list[Slot]:
    """The open and leased slots of a step, in their order; locked until the transaction ends."""
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
    """How many slots are open, and how many are leased; each count stops at ``most``."""

    def count(state: ColumnElement[bool]) -> int:
        some = select(slots.c.number).where(slots.c.campaign == campaign, state).limit(most)
        counted = select(func.count()).select_from(some.subquery())
        return int(connection.execute(counted).scalar_one())

    return count(OPEN), count(LEASED)


def at_least_open(connection: Connection, campaign: int, enough: int) -> bool:
    """Whether at least ``enough`` slots are open; it stops counting there."""
    some = select(slots.c.number).where(slots.c.campaign == campaign, OPEN).limit(enough)
    query = select(func.count()).select_from(some.subquery())
    return connection.execute(query).scalar_one() >= enough


def leases_of(
    connection: Connection, campaign: int, worker: str
) -> list[tuple[str, int, int, float]]:
    """Lease, item, question and expiry of every slot that the worker holds."""
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
    """The refusals of a step, as slot and worker."""
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
    """How many slots of a step are in each state."""
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
    """The largest number of answers, over all steps, that a cell of the open step has or awaits."""
    open_step = (
        select(func.max(steps.c.number))
        .where(steps.c.campaign == campaign, steps.c.closed.is_(None))
        .scalar_subquery()
    )
    # Not a join, for which SQLite would scan all slots once for every cell.
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
    """Store answers that were not handed out one by one: reused ones, or those of a file.

    The caller has checked that their slots wait, and has locked them.
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
    """The condition: an answer is within the bounds of its kind.

    A store of an older askfew may hold others: a number such as 1e200 was once accepted, but cannot
    be squared, and the step that holds it could never be used. Such an answer does not count; its
    row is kept, marked retracted, and its slot is emptied.
    """
    return value.between(max(kind.low, -LARGEST), min(kind.high, LARGEST))


def impossible_slots(
    connection: Connection, campaign: int, step: int, kind: AnswerKind
) -> list[int]:
    """The numbers of a step's slots whose answer is not possible."""
    found = select(slots.c.number).where(
        slots.c.campaign == campaign,
        slots.c.step == step,
        may(SlotEvent.VOIDED),
        not_(possible(slots.c.value, kind)),
    )
    return list(connection.execute(found).scalars())


def empty_impossible(connection: Connection, campaign: int, step: int, kind: AnswerKind) -> int:
    """Take the impossible answers out of a step, which the caller has locked; how many."""
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


# Counted in slots, not in answers: slots have an index by worker.
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
    """How many answers of this worker count."""
    who = {"this_campaign": campaign, "this_worker": worker}
    return int(database.fetch_one(_ANSWERED_BY, who)[0])
