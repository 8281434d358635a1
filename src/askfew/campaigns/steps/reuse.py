"""``create --reuse OLD``: a step's slots are filled with answers already paid for.

When a step opens, every slot takes the next unused answer that OLD's closed steps have to the same
(item id, question id), in the order of OLD's steps and slots. No choice looks at a value, so it is
as if the same workers were asked again and said what they said. (In order of arrival, or from a
step that is still open, those who take longer to say no would come last, and whoever takes a few
would take too many yes.) Which answers are used up follows from the new campaign alone: a worker's
answers to a cell are consumed first come, first used.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, select

from askfew.answers import AnswerKind
from askfew.campaigns.db.schema import answers, campaigns, items, questions, slots
from askfew.campaigns.kinds import read_kind, write_kind
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.cells import cells_of_step
from askfew.campaigns.slots.impossible import possible
from askfew.campaigns.slots.settling import settle
from askfew.campaigns.steps.counted import counted
from askfew.errors import InvalidInput

__all__ = ["REUSED", "fill_step", "is_reused", "reused_campaign"]

_MARK = "reused"
"""How the id of a reused answer ends; handed out ids end in random hexadecimal digits."""

REUSED = answers.c.id.like(f"%-{_MARK}")
"""The condition, for queries: an answer was taken over from another campaign."""

Cell = tuple[int, int]


def is_reused(answer: str) -> bool:
    """Whether an answer of this id was taken over from another campaign."""
    return answer.endswith(f"-{_MARK}")


def reused_campaign(connection: Connection, name: str, settings: Settings) -> int:
    """The number of the campaign to be reused, which must have the same kind of answers."""
    old = connection.execute(
        select(campaigns.c.id, campaigns.c.settings).where(campaigns.c.name == name)
    ).one_or_none()
    if old is None:
        raise InvalidInput(
            "a campaign to be reused must be in the same store", repr(name), "check its name"
        )
    kind = json.loads(old.settings)["answers"]
    if kind != write_kind(settings.answers):
        raise InvalidInput(
            f"a campaign to be reused must have the same kind of answers: {settings.answers}",
            f"{kind} in {name!r}",
            "change 'answers' in campaign.toml, or reuse another campaign",
        )
    return int(old.id)


def fill_step(connection: Connection, campaign: int, step: int) -> None:
    """Answer the step's slots as far as the reused campaign can.

    To be called in the transaction that opens the step: both happen, or neither.
    """
    new = connection.execute(
        select(campaigns.c.reused, campaigns.c.settings).where(campaigns.c.id == campaign)
    ).one()
    if new.reused is None:
        return
    settings = json.loads(new.settings)
    limit, kind = int(settings["answers_per_worker_and_cell"]), read_kind(settings["answers"])
    held, used = _history(connection, campaign, step)
    offers = _unused(_offers(connection, campaign, step, new.reused, kind), used)
    opened = connection.execute(
        select(slots.c.number, slots.c.item, slots.c.question)
        .where(slots.c.campaign == campaign, slots.c.step == step)
        .order_by(slots.c.number)
    )
    told: list[dict[str, Any]] = []
    for slot in opened:
        offer = _next_offer(offers[slot.item, slot.question], held, limit)
        if offer is not None:
            told.append(_answer(campaign, step, slot.number, offer))
    settle(connection, told)


def _history(
    connection: Connection, campaign: int, step: int
) -> tuple[Counter[tuple[Cell, str]], Counter[tuple[Cell, str]]]:
    """By cell and worker: answers that count so far, and reused answers, taken back or not."""
    held: Counter[tuple[Cell, str]] = Counter()
    used: Counter[tuple[Cell, str]] = Counter()
    cells = cells_of_step(campaign, step)
    rows = connection.execute(
        select(
            answers.c.id, answers.c.item, answers.c.question, answers.c.worker, answers.c.retracted
        )
        .join(cells, and_(cells.c.item == answers.c.item, cells.c.question == answers.c.question))
        .where(answers.c.campaign == campaign)
    )
    for row in rows:
        key = (row.item, row.question), row.worker
        held[key] += not row.retracted
        used[key] += is_reused(row.id)
    return held, used


def _offers(
    connection: Connection, campaign: int, step: int, old: int, kind: AnswerKind
) -> defaultdict[Cell, list[RowMapping]]:
    """What the old campaign has for the step's cells, in the order of its steps and slots."""
    old_items, old_questions = items.alias("old_items"), questions.alias("old_questions")
    cells = cells_of_step(campaign, step)
    rows = connection.execute(
        select(
            items.c.number.label("item"),
            questions.c.number.label("question"),
            *(answers.c[name] for name in ("worker", "value", "raw", "seconds", "time")),
        )
        .select_from(answers)
        .join(
            old_items,
            and_(old_items.c.campaign == old, old_items.c.number == answers.c.item),
        )
        .join(
            old_questions,
            and_(old_questions.c.campaign == old, old_questions.c.number == answers.c.question),
        )
        .join(items, and_(items.c.campaign == campaign, items.c.id == old_items.c.id))
        .join(
            questions,
            and_(questions.c.campaign == campaign, questions.c.id == old_questions.c.id),
        )
        .join(cells, and_(cells.c.item == items.c.number, cells.c.question == questions.c.number))
        .where(counted(old), possible(answers.c.value, kind))
        .order_by(answers.c.step, answers.c.slot)
    )
    offers: defaultdict[Cell, list[RowMapping]] = defaultdict(list)
    for row in rows.mappings():
        offers[row["item"], row["question"]].append(row)
    return offers


def _unused(
    offers: defaultdict[Cell, list[RowMapping]], used: Counter[tuple[Cell, str]]
) -> defaultdict[Cell, deque[RowMapping]]:
    """Without as many of each worker's first answers as have been used before."""
    left: defaultdict[Cell, deque[RowMapping]] = defaultdict(deque)
    for cell, rows in offers.items():
        for row in rows:
            if used[cell, row["worker"]] > 0:
                used[cell, row["worker"]] -= 1
            else:
                left[cell].append(row)
    return left


def _next_offer(
    offers: deque[RowMapping], held: Counter[tuple[Cell, str]], limit: int
) -> RowMapping | None:
    """The first answer of a worker who has not answered this cell often enough."""
    while offers:
        offer = offers.popleft()
        key = (offer["item"], offer["question"]), offer["worker"]
        if held[key] < limit:
            held[key] += 1
            return offer
    return None


def _answer(campaign: int, step: int, slot: int, offer: RowMapping) -> dict[str, Any]:
    return {
        **offer,
        "id": f"{campaign}-{step}-{slot}-{_MARK}",
        "campaign": campaign,
        "step": step,
        "slot": slot,
        "cost": 0.0,  # it has been paid for
        "retracted": False,
    }
