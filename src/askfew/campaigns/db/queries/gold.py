"""The table of gold questions, which are kept apart from steps, slots and answers."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from askfew.campaigns.db.database import Database, RawTransaction
from askfew.campaigns.db.schema import gold, slots
from askfew.campaigns.slots.states import SlotState

__all__ = [
    "GoldRow",
    "answer_gold",
    "find_gold",
    "forget_gold",
    "given_gold",
    "gold_answers",
    "gold_cost",
    "had_gold",
    "held_gold",
    "insert_gold",
    "redo_gold",
    "some_open_slot",
]

_CAMPAIGN = bindparam("this_campaign", type_=gold.c.campaign.type)
_WORKER = bindparam("this_worker", type_=gold.c.worker.type)
_THIS = (gold.c.campaign == _CAMPAIGN, gold.c.lease == bindparam("this_lease"))
_THEIRS = (gold.c.campaign == _CAMPAIGN, gold.c.worker == _WORKER)
_HAD = select(gold.c.item, gold.c.question).where(*_THEIRS)
_FIND = select(gold.c.worker, gold.c.told).where(*_THIS)
_TAKE = (
    update(gold)
    .where(*_THIS, gold.c.told.is_(None))
    .values(
        value=bindparam("answer"),
        seconds=bindparam("took"),
        cost=bindparam("price"),
        told=bindparam("now"),
    )
)
# Never an answered one: a worker could get rid of a wrong gold answer by releasing it.
_FORGET = delete(gold).where(*_THIS, gold.c.told.is_(None))
_REDO = (
    update(gold)
    .where(*_THIS)
    .values(value=None, seconds=None, cost=None, told=None, lease=bindparam("again"))
)
_INSERT = insert(gold)
# Which slot does not matter: the lease only borrows its number.
_SOME_SLOT = (
    select(slots.c.number)
    .where(slots.c.campaign == _CAMPAIGN, slots.c.state == SlotState.OPEN.value)
    .limit(1)
)
_GIVEN = select(func.count()).select_from(gold).where(*_THEIRS, gold.c.value.is_not(None))


@dataclass(frozen=True)
class GoldRow:
    """Who was asked a gold question, and when it was answered or skipped."""

    worker: str
    told: float | None


def had_gold(raw: RawTransaction, campaign: int, worker: str) -> set[tuple[int, int]]:
    """The cells that a worker was asked before as gold questions."""
    rows = raw.all(_HAD, {"this_campaign": campaign, "this_worker": worker})
    return {(item, question) for item, question in rows}


def some_open_slot(raw: RawTransaction, campaign: int) -> int | None:
    """The number of an open slot; None if there is none."""
    found = raw.first(_SOME_SLOT, {"this_campaign": campaign})
    return None if found is None else int(found[0])


def insert_gold(
    raw: RawTransaction,
    campaign: int,
    worker: str,
    cell: tuple[int, int],
    lease: str,
    now: float,
) -> None:
    """Store a gold question that is put to a worker."""
    row = {"campaign": campaign, "worker": worker, "item": cell[0], "question": cell[1]}
    kept = {"lease": lease, "asked": now, "value": None, "seconds": None, "cost": None}
    raw.run(_INSERT, {**row, **kept, "told": None})


def find_gold(raw: RawTransaction, campaign: int, lease: str) -> GoldRow | None:
    """The gold question with this lease; None if the lease is not of one."""
    found = raw.first(_FIND, {"this_campaign": campaign, "this_lease": lease})
    return None if found is None else GoldRow(*found)


def answer_gold(
    raw: RawTransaction,
    campaign: int,
    lease: str,
    value: float | None,
    now: float,
    seconds: float | None,
    cost: float | None,
) -> None:
    """Store the answer; None is a skip."""
    told = {"answer": value, "took": seconds, "price": cost, "now": now}
    raw.run(_TAKE, {"this_campaign": campaign, "this_lease": lease, **told})


def forget_gold(raw: RawTransaction, campaign: int, lease: str) -> None:
    """Delete a gold question that is not answered: it may be asked again."""
    raw.run(_FORGET, {"this_campaign": campaign, "this_lease": lease})


def redo_gold(raw: RawTransaction, campaign: int, lease: str, again: str) -> None:
    """Delete the answer and give the question a new lease, to be answered again."""
    raw.run(_REDO, {"this_campaign": campaign, "this_lease": lease, "again": again})


def given_gold(database: Database, campaign: int, worker: str) -> int:
    """How many gold questions a worker has answered."""
    who = {"this_campaign": campaign, "this_worker": worker}
    return int(database.fetch_one(_GIVEN, who)[0])


def held_gold(connection: Connection, campaign: int, worker: str) -> list[tuple[str, int, int]]:
    """Lease, item and question of the gold questions that a worker has not answered yet."""
    held = select(gold.c.lease, gold.c.item, gold.c.question).where(
        gold.c.campaign == campaign, gold.c.worker == worker, gold.c.told.is_(None)
    )
    return [(row.lease, row.item, row.question) for row in connection.execute(held)]


def gold_answers(connection: Connection, campaign: int) -> list[tuple[str, int, int, float]]:
    """Worker, item, question and value of all gold answers."""
    rows = connection.execute(
        select(gold.c.worker, gold.c.item, gold.c.question, gold.c.value).where(
            gold.c.campaign == campaign, gold.c.value.is_not(None)
        )
    )
    return [(row.worker, row.item, row.question, row.value) for row in rows]


def gold_cost(connection: Connection, campaign: int) -> float:
    """The cost of all gold answers, which are paid like any other."""
    cost = select(func.sum(gold.c.cost)).where(gold.c.campaign == campaign)
    return float(connection.execute(cost).scalar() or 0.0)
