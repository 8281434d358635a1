"""The log in the store: steps opened with their plans and slots, closed with their exact Tally."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, func, insert, literal, or_, select, update

from askfew.campaigns.db.schema import SlotState, campaigns, items, questions, slots, steps
from askfew.campaigns.kinds import read_kind
from askfew.campaigns.slots.states import any_leased, any_open
from askfew.campaigns.steps.reuse import fill_step
from askfew.log import Log, Step, origin, seal
from askfew.plans import Plan
from askfew.records import Batch, Ints, Problem, Snapshot, Tally

__all__ = [
    "close_step",
    "known_dict",
    "lock_step",
    "newest_step",
    "open_step",
    "plan_bytes",
    "read_batch",
    "read_log",
    "read_plans",
    "read_step",
    "same_plans",
]

Bools = np.ndarray[Any, np.dtype[np.bool_]]


def open_step(
    connection: Connection,
    campaign: int,
    number: int,
    batch: Batch,
    plans: Sequence[Plan],
    now: float,
) -> None:
    """Insert plans, Batch and slots; a step that is there already raises IntegrityError.

    To be called in one transaction: no slot is handed out before the plan behind it is kept. Slots
    that a reused campaign has answers for are filled at once.
    """
    connection.execute(
        insert(steps).values(
            campaign=campaign,
            number=number,
            items=_bytes(batch.items),
            questions=_bytes(batch.questions),
            repeats=_bytes(batch.repeats),
            plans=plan_bytes(plans),
            why=batch.why,
            known=None if batch.known is None else json.dumps(known_dict(batch.known)),
            opened=now,
        )
    )
    # Who works by plans compares items with a rule, not with each other: no row is a reference.
    references = np.zeros(len(batch), dtype=np.bool_) if plans else _references(batch)
    connection.execute(insert(slots), _slots(campaign, number, batch, references))
    fill_step(connection, campaign, number)


def lock_step(connection: Connection, campaign: int, number: int) -> Row[Any]:
    """A step, held until the transaction ends: nobody else closes it, or takes answers back."""
    return connection.execute(
        select(steps)
        .where(steps.c.campaign == campaign, steps.c.number == number)
        .with_for_update()
    ).one()


def close_step(connection: Connection, step: Row[Any], now: float) -> bool:
    """Freeze the Tally of a step that is locked, if all its slots are settled; whether they are."""
    campaign, number = step.campaign, step.number
    here = (slots.c.campaign == campaign, slots.c.step == number)
    # No older step has slots that wait, so the campaign's are this step's.
    which = literal(campaign)
    if connection.execute(select(or_(any_open(which), any_leased(which)))).scalar_one():
        return False
    batch = read_batch(step)
    answered = select(slots.c.row, slots.c.value).where(*here, slots.c.state == SlotState.ANSWERED)
    tally = _tally(len(batch), connection.execute(answered.order_by(slots.c.number)).all())
    before = select(steps.c.seal).where(steps.c.campaign == campaign, steps.c.number == number - 1)
    last = connection.execute(before).scalar() if number else _origin(connection, campaign)
    assert tally.squares is not None
    connection.execute(
        update(steps)
        .where(steps.c.campaign == campaign, steps.c.number == number)
        .values(
            closed=now,
            counts=_bytes(tally.counts),
            sums=_bytes(tally.sums),
            squares=_bytes(tally.squares),
            seal=seal(last or "", batch, tally, read_plans(step.plans)),
        )
    )
    return True


def _origin(connection: Connection, campaign: int) -> str:
    """Where the campaign's chain of seals begins."""
    row = connection.execute(
        select(campaigns.c.settings, campaigns.c.recipe).where(campaigns.c.id == campaign)
    ).one()
    sizes = [
        connection.execute(
            select(func.count()).select_from(table).where(table.c.campaign == campaign)
        ).scalar_one()
        for table in (items, questions)
    ]
    problem = Problem(sizes[0], sizes[1], read_kind(json.loads(row.settings)["answers"]))
    return origin(problem, json.loads(row.recipe))


def newest_step(
    connection: Connection, campaign: int
) -> Row[int, str, str | None, float, float | None] | None:
    """The last step there is, without its arrays."""
    newest = select(func.max(steps.c.number)).where(steps.c.campaign == campaign)
    return connection.execute(
        select(steps.c.number, steps.c.why, steps.c.known, steps.c.opened, steps.c.closed).where(
            steps.c.campaign == campaign, steps.c.number == newest.scalar_subquery()
        )
    ).one_or_none()


def read_log(
    connection: Connection, campaign: int, problem: Problem, *, before: int | None = None
) -> Log:
    """All closed steps, or those before one, as they were sealed, and the plans made after them."""
    about = connection.execute(
        select(campaigns.c.recipe, campaigns.c.closing).where(campaigns.c.id == campaign)
    ).one()
    rows = connection.execute(
        select(steps).where(steps.c.campaign == campaign).order_by(steps.c.number)
    )
    closed: list[Step] = []
    pending = about.closing
    for row in rows:
        if row.closed is None or row.number == before:
            pending = row.plans
            break
        closed.append(_step(row))
    return Log(problem, json.loads(about.recipe), closed, read_plans(pending))


def read_step(connection: Connection, campaign: int, number: int) -> Step:
    """One closed step."""
    here = (steps.c.campaign == campaign, steps.c.number == number)
    return _step(connection.execute(select(steps).where(*here)).one())


def _step(row: Row[Any]) -> Step:
    tally = Tally(_ints(row.counts), _floats(row.sums), _floats(row.squares))
    return Step(read_batch(row), tally, row.seal, read_plans(row.plans))


def read_batch(row: Row[Any]) -> Batch:
    """The Batch of a row of the steps table."""
    return Batch(_ints(row.items), _ints(row.questions), _ints(row.repeats), row.why)


def plan_bytes(plans: Sequence[Plan]) -> bytes | None:
    """Plans as the store keeps them: the same ones are always the same bytes."""
    if not plans:
        return None
    return b"[" + b",".join(plan.to_bytes() for plan in plans) + b"]"


def read_plans(content: bytes | None) -> tuple[Plan, ...]:
    """The inverse of ``plan_bytes``."""
    return () if content is None else tuple(Plan.from_dict(each) for each in json.loads(content))


def same_plans(one: Sequence[Plan], other: Sequence[Plan]) -> bool:
    """Whether they are the same, bit for bit."""
    return plan_bytes(one) == plan_bytes(other)


def known_dict(known: Snapshot) -> dict[str, Any]:
    """A snapshot as JSON-ready values."""
    return {
        "phase": known.phase,
        "labels": known.labels.tolist(),
        "evidence": None if known.evidence is None else known.evidence.tolist(),
        "threshold": known.threshold,
        "question": known.question,
        "expected": known.expected,
    }


def _slots(campaign: int, step: int, batch: Batch, references: Bools) -> list[dict[str, Any]]:
    """One slot an answer: first one about every item, then a second about every item, and so on.

    Dealt in this order, somebody who answers one after another meets as many items as possible,
    and somebody who looks for an item they have not met finds one soon.
    """
    rows = np.repeat(np.arange(len(batch)), batch.repeats)
    by_row = rows[np.lexsort((rows, _turns(rows)))]
    dealt = by_row[np.lexsort((by_row, _turns(batch.items[by_row])))]
    return [
        {
            "campaign": campaign,
            "step": step,
            "number": number,
            "row": row,
            "item": item,
            "question": question,
            "reference": reference,
            "state": SlotState.OPEN,
            "failures": 0,
        }
        for number, (row, item, question, reference) in enumerate(
            zip(
                dealt.tolist(),
                batch.items[dealt].tolist(),
                batch.questions[dealt].tolist(),
                references[dealt].tolist(),
                strict=True,
            )
        )
    ]


def _turns(names: Ints) -> Ints:
    """How many of the same name come before each: 7 7 3 7 has the turns 0 1 0 2."""
    order = np.argsort(names, kind="stable")
    ordered = names[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[first, len(names)])
    turns = np.empty(len(names), dtype=np.int64)
    turns[order] = np.arange(len(names)) - np.repeat(first, lengths)
    return turns


def _references(batch: Batch) -> Bools:
    """Rows about items that have their label already: they are asked only as references."""
    if batch.known is None:
        return np.zeros(len(batch), dtype=np.bool_)
    return np.asarray(batch.known.labels[batch.items] >= 0)


def _tally(rows: int, answered: Any) -> Tally:
    """Counts and exact sums by row: fsum, so that the order of arrival can never matter."""
    values: list[list[float]] = [[] for _ in range(rows)]
    for row, value in answered:
        values[row].append(value)
    return Tally(
        np.array([len(each) for each in values], dtype=np.int64),
        np.array([math.fsum(each) for each in values]),
        np.array([math.fsum(v * v for v in each) for each in values]),
    )


def _bytes(array: np.ndarray[Any, Any]) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _ints(content: bytes) -> Ints:
    return np.frombuffer(content, dtype="<i8").astype(np.int64)


def _floats(content: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.frombuffer(content, dtype="<f8").astype(np.float64)
