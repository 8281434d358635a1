"""The steps of a campaign, which are its log. Batches and Tallies are bytes, plans are JSON."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, func, insert, or_, select, update

from askfew.campaigns.db.queries.slots import any_leased, any_open
from askfew.campaigns.db.schema import campaigns, steps
from askfew.plans import Plan
from askfew.records import Batch, Ints, Snapshot, Tally

__all__ = [
    "NewStep",
    "NewestStep",
    "Progress",
    "StepRow",
    "all_steps",
    "answers_by_phase",
    "closed_tallies",
    "find_step",
    "freeze_step",
    "insert_step",
    "lock_step",
    "newest_number",
    "newest_step",
    "pack",
    "plan_bytes",
    "plans_after_learning",
    "progress_of",
    "read_plans",
    "seal_of",
    "seals_of",
    "unpack",
]

_PROGRESS = (
    select(
        campaigns.c.state,
        steps.c.number,
        steps.c.opened,
        steps.c.closed,
        or_(any_open(campaigns.c.id), any_leased(campaigns.c.id)).label("waiting"),
    )
    .outerjoin(steps, steps.c.campaign == campaigns.c.id)
    .where(campaigns.c.id == bindparam("this_campaign"))
    .order_by(steps.c.number.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Progress:
    """A campaign's state, and its newest step, if there is one."""

    state: str
    number: int | None
    opened: float | None
    closed: float | None
    waiting: bool
    """Whether some slot waits for an answer."""


@dataclass(frozen=True, slots=True)
class NewStep:
    """A step that is about to be opened: a Batch, and the plans made before it is asked."""

    campaign: int
    number: int
    batch: Batch
    plans: Sequence[Plan]
    opened: float


@dataclass(frozen=True, slots=True)
class NewestStep:
    """The newest step, without its Batch."""

    number: int
    why: str
    known: Snapshot | None
    """What the method knew before this step."""
    opened: float
    closed: float | None


@dataclass(frozen=True, eq=False)
class StepRow:
    """A step as it is stored; the properties decode the bytes."""

    campaign: int
    number: int
    items: bytes
    questions: bytes
    repeats: bytes
    plans: bytes | None
    why: str
    phase: str | None
    known: bytes | None
    opened: float
    closed: float | None
    counts: bytes | None
    sums: bytes | None
    squares: bytes | None
    seal: str | None

    @property
    def batch(self) -> Batch:
        """The Batch that was asked."""
        return Batch(_ints(self.items), _ints(self.questions), _ints(self.repeats), self.why)

    @property
    def tally(self) -> Tally:
        """The frozen Tally; an empty one for an open step."""
        counts = _ints(self.counts or b"")
        return Tally(counts, _floats(self.sums or b""), _floats(self.squares or b""))

    @property
    def plan_list(self) -> tuple[Plan, ...]:
        """The plans that were made before the Batch was asked."""
        return read_plans(self.plans)


def progress_of(connection: Connection, campaign: int) -> Progress:
    """The campaign's state and its newest step, in one query."""
    return Progress(*connection.execute(_PROGRESS, {"this_campaign": campaign}).one())


def newest_step(connection: Connection, campaign: int) -> NewestStep | None:
    """The newest step; None if there is none."""
    newest = select(func.max(steps.c.number)).where(steps.c.campaign == campaign)
    row = connection.execute(
        select(
            *(steps.c[name] for name in ("number", "why", "phase", "known", "opened", "closed"))
        ).where(steps.c.campaign == campaign, steps.c.number == newest.scalar_subquery())
    ).one_or_none()
    if row is None:
        return None
    known = None if row.known is None else unpack(row.known, row.phase or "")
    return NewestStep(row.number, row.why, known, row.opened, row.closed)


def newest_number(connection: Connection, campaign: int) -> int | None:
    """The number of the newest step; None if there is none."""
    last = select(func.max(steps.c.number)).where(steps.c.campaign == campaign)
    newest: int | None = connection.execute(last).scalar_one()
    return newest


def all_steps(connection: Connection, campaign: int) -> list[StepRow]:
    """All steps, in their order."""
    ordered = select(steps).where(steps.c.campaign == campaign).order_by(steps.c.number)
    return [StepRow(*row) for row in connection.execute(ordered)]


def closed_tallies(connection: Connection, campaign: int) -> Iterator[tuple[Batch, Tally]]:
    """The Batch and the Tally of every closed step, in their order."""
    names = ("items", "questions", "repeats", "counts", "sums", "squares")
    closed = (steps.c.campaign == campaign, steps.c.closed.is_not(None))
    query = select(*(steps.c[name] for name in names)).where(*closed).order_by(steps.c.number)
    for row in connection.execute(query):
        batch = Batch(_ints(row.items), _ints(row.questions), _ints(row.repeats))
        yield batch, Tally(_ints(row.counts), _floats(row.sums), _floats(row.squares))


def find_step(connection: Connection, campaign: int, number: int) -> StepRow | None:
    """One step; None if it does not exist."""
    here = (steps.c.campaign == campaign, steps.c.number == number)
    row = connection.execute(select(steps).where(*here)).one_or_none()
    return None if row is None else StepRow(*row)


def lock_step(connection: Connection, campaign: int, number: int) -> StepRow:
    """A step, locked until the transaction ends.

    Closing a step and taking back one of its answers both take this lock, so neither can happen
    while the other is under way.
    """
    here = (steps.c.campaign == campaign, steps.c.number == number)
    return StepRow(*connection.execute(select(steps).where(*here).with_for_update()).one())


def insert_step(connection: Connection, step: NewStep) -> None:
    """Insert a step; one that exists already is an error."""
    batch = step.batch
    connection.execute(
        insert(steps).values(
            campaign=step.campaign,
            number=step.number,
            items=_bytes(batch.items),
            questions=_bytes(batch.questions),
            repeats=_bytes(batch.repeats),
            plans=plan_bytes(step.plans),
            why=batch.why,
            phase=None if batch.known is None else batch.known.phase,
            known=None if batch.known is None else pack(batch.known),
            opened=step.opened,
        )
    )


def freeze_step(
    connection: Connection, campaign: int, number: int, tally: Tally, seal: str, now: float
) -> None:
    """Close a step: store its Tally and its seal."""
    assert tally.squares is not None
    connection.execute(
        update(steps)
        .where(steps.c.campaign == campaign, steps.c.number == number)
        .values(
            closed=now,
            counts=_bytes(tally.counts),
            sums=_bytes(tally.sums),
            squares=_bytes(tally.squares),
            seal=seal,
        )
    )


def seal_of(connection: Connection, campaign: int, number: int) -> str | None:
    """The seal of a closed step; None if there is none."""
    here = (steps.c.campaign == campaign, steps.c.number == number)
    return connection.execute(select(steps.c.seal).where(*here)).scalar_one_or_none()


def seals_of(connection: Connection, campaigns_: Sequence[int]) -> set[str]:
    """The seals of all closed steps of these campaigns."""
    sealed = (steps.c.campaign.in_(campaigns_), steps.c.seal.is_not(None))
    return {str(seal) for seal in connection.execute(select(steps.c.seal).where(*sealed)).scalars()}


def answers_by_phase(connection: Connection, campaign: int) -> dict[str, int]:
    """How many answers closed steps have, by the phase of the method."""
    rows = connection.execute(
        select(steps.c.phase, steps.c.counts)
        .where(steps.c.campaign == campaign, steps.c.closed.is_not(None))
        .order_by(steps.c.number)
    )
    phases: dict[str, int] = {}
    for phase, counts in rows:
        name = phase or "answers"
        phases[name] = phases.get(name, 0) + int(_ints(counts).sum())
    return phases


def plans_after_learning(connection: Connection, campaign: int) -> tuple[Plan, ...]:
    """The plans of the first step that has plans and is not of the phase ``learn``."""
    frozen = connection.execute(
        select(steps.c.plans)
        .where(
            steps.c.campaign == campaign,
            steps.c.plans.is_not(None),
            steps.c.phase != "learn",
        )
        .order_by(steps.c.number)
        .limit(1)
    ).scalar()
    return read_plans(frozen)


def plan_bytes(plans: Sequence[Plan]) -> bytes | None:
    """Plans as the store keeps them; equal plans give equal bytes. None for no plans."""
    if not plans:
        return None
    return b"[" + b",".join(plan.to_bytes() for plan in plans) + b"]"


def read_plans(content: bytes | None) -> tuple[Plan, ...]:
    """The inverse of ``plan_bytes``."""
    return () if content is None else tuple(Plan.from_dict(each) for each in json.loads(content))


# Little-endian on every machine, because a store may move to another one.
def _bytes(array: np.ndarray[Any, Any]) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _ints(content: bytes) -> Ints:
    return np.frombuffer(content, dtype="<i8").astype(np.int64)


def _floats(content: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.frombuffer(content, dtype="<f8").astype(np.float64)


_NUMBERS = ("threshold", "question", "expected")
_MOST = 1 << 27
"""The most bytes that are unpacked, enough for 20 million items. A damaged or malicious store could
otherwise fill the memory with a few packed bytes."""


def pack(known: Snapshot) -> bytes:
    """A Snapshot as bytes, without its phase, which has its own column.

    Small types are enough, because snapshots are only shown: replay computes its own.
    """
    evidence = known.evidence
    facts: dict[str, Any] = {name: _finite(getattr(known, name)) for name in _NUMBERS}
    facts |= {"items": len(known.labels), "evidence": evidence is not None}
    arrays = known.labels.astype("<i2").tobytes()
    if evidence is not None:
        arrays += np.asarray(evidence).astype("<f4").tobytes()
    return zlib.compress(json.dumps(facts).encode() + b"\n" + arrays, 1)


def _finite(number: float | None) -> float | None:
    # JSON has no infinity.
    return number if number is not None and math.isfinite(number) else None


def unpack(content: bytes, phase: str) -> Snapshot:
    """The Snapshot that ``pack`` was given; ValueError for anything else.

    >>> known = Snapshot("label", np.array([0, -1, 1]), np.array([7.5, 0, 8]), threshold=6.0)
    >>> unpack(pack(known), "label").evidence
    array([7.5, 0. , 8. ])
    """
    try:
        head, _, arrays = zlib.decompressobj().decompress(content, _MOST).partition(b"\n")
        facts = json.loads(head)
        items, has_evidence = int(facts["items"]), bool(facts["evidence"])
        found: dict[str, Any] = {name: facts[name] for name in _NUMBERS}
    except (zlib.error, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError(f"no snapshot ({error!r})") from None
    for number in found.values():
        if not (number is None or (type(number) in (int, float) and math.isfinite(number))):
            raise ValueError(f"{number!r} in a snapshot")
    if items < 0 or len(arrays) != items * (6 if has_evidence else 2):
        raise ValueError(f"a snapshot of {items} items in {len(arrays)} bytes")
    labels = np.frombuffer(arrays, "<i2", items).astype(np.int64)
    evidence = np.frombuffer(arrays, "<f4", offset=2 * items).astype(np.float64)
    if (labels < -1).any():
        raise ValueError("labels below -1 in a snapshot")
    return Snapshot(phase, labels, evidence if has_evidence else None, **found)
