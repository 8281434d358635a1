"""The answers of a campaign: which of them count, and sums over them, made by the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Double, Integer, and_, case, cast, func, select

from askfew.answers import AnswerKind
from askfew.campaigns.db.queries.slots import cells_of_step, possible
from askfew.campaigns.db.schema import answers, items, questions, refusals, slots, steps
from askfew.campaigns.records import Answer
from askfew.campaigns.slots.lease import REUSED_ENDING, LeaseId

__all__ = [
    "Offer",
    "WorkerAnswers",
    "above_by_worker_and_item",
    "answers_about",
    "answers_by_worker",
    "count_and_cost",
    "count_by_item",
    "count_by_time",
    "counted_answers",
    "imported_marks",
    "is_alone",
    "largest_shares",
    "median_seconds",
    "offers_for_step",
    "repeated_answers",
    "skips_about",
    "skips_by_worker",
    "told_before",
    "told_times",
    "totals_by_campaign",
]

_COUNTS = answers.c.retracted.is_(False)
"""An answer counts unless it was taken back; answers of the open step count, too."""


def _counting(campaign: int) -> ColumnElement[bool]:
    return and_(answers.c.campaign == campaign, _COUNTS)


def _counted(campaign: int) -> ColumnElement[bool]:
    """The condition: the answer counts and its step is closed.

    Values of an open step are shown to nobody. A person who saw them could still influence the
    step: who is asked, what is imported, when to stop. They are also a biased sample: answers of
    people who take longer to say no are missing. So everything that reads values (pages, report,
    exports, the test of independence, ``create --reuse``) reads closed steps only.
    """
    closed = select(steps.c.number).where(steps.c.campaign == campaign, steps.c.closed.is_not(None))
    return and_(_counting(campaign), answers.c.step.in_(closed))


@dataclass(frozen=True, slots=True)
class WorkerAnswers:
    """How many answers a worker gave, how long they took, how many come from a reused campaign."""

    answers: int
    seconds: float | None
    """The mean per answer; None if not known."""
    reused: int


@dataclass(frozen=True, slots=True)
class Offer:
    """An answer of a reused campaign, with item and question as this campaign numbers them."""

    item: int
    question: int
    worker: str
    value: float
    raw: str
    seconds: float | None
    time: float


def totals_by_campaign(connection: Connection) -> dict[int, tuple[int, float]]:
    """The number of answers so far and their cost, by campaign."""
    totals = select(answers.c.campaign, func.count(), func.sum(answers.c.cost)).where(_COUNTS)
    rows = connection.execute(totals.group_by(answers.c.campaign))
    return {row[0]: (row[1], float(row[2] or 0.0)) for row in rows}


def count_and_cost(connection: Connection, campaign: int) -> tuple[int, float]:
    """The number of answers so far, and their cost."""
    query = select(func.count(), func.sum(answers.c.cost)).where(_counting(campaign))
    count, cost = connection.execute(query).one()
    return count, float(cost or 0.0)


def count_by_item(connection: Connection, campaign: int) -> dict[int, int]:
    """The number of answers so far, by item."""
    query = select(answers.c.item, func.count()).where(_counting(campaign))
    return {row[0]: row[1] for row in connection.execute(query.group_by(answers.c.item))}


def largest_shares(connection: Connection, campaign: int) -> dict[str, float]:
    """By worker: their largest share in the answers about one item, of items with at least two."""
    times = func.count()
    theirs = (
        select(
            answers.c.worker,
            times.label("times"),
            func.sum(times).over(partition_by=answers.c.item).label("total"),
        )
        .where(_counting(campaign))
        .group_by(answers.c.worker, answers.c.item)
        .subquery()
    )
    # SQLite would otherwise divide as whole numbers.
    share = cast(theirs.c.times, Double) / theirs.c.total
    query = select(theirs.c.worker, func.max(share)).where(theirs.c.total >= 2)
    return {row[0]: float(row[1]) for row in connection.execute(query.group_by(theirs.c.worker))}


def count_by_time(connection: Connection, campaign: int, points: int) -> list[tuple[float, int]]:
    """How many answers had come by which time, at about ``points`` times; empty without answers."""
    ours = _counting(campaign)
    first, last = connection.execute(
        select(func.min(answers.c.time), func.max(answers.c.time)).where(ours)
    ).one()
    if first is None:
        return []
    width = max((last - first) / points, 1e-3)  # all may have come at the same moment
    # Integer division, because a cast alone truncates on SQLite but rounds on PostgreSQL.
    bucket = cast((answers.c.time - first) // width, Integer).label("bucket")
    rows = connection.execute(
        select(bucket, func.count()).where(ours).group_by(bucket).order_by(bucket)
    )
    curve, total = [(float(first), 0)], 0
    for number, count in rows:
        total += count
        curve.append((min(first + (number + 1) * width, last), total))
    return curve


def answers_by_worker(connection: Connection, campaign: int) -> dict[str, WorkerAnswers]:
    """What each worker has answered so far."""
    # Only the mark says so. Comparing the whole id, made from the slot, takes twice as long.
    is_reused = answers.c.id.endswith(REUSED_ENDING)
    rows = connection.execute(
        select(
            answers.c.worker,
            func.count().label("answers"),
            func.avg(answers.c.seconds).label("seconds"),
            func.sum(case((is_reused, 1), else_=0)).label("reused"),
        )
        .where(_counting(campaign))
        .group_by(answers.c.worker)
    )
    return {row.worker: WorkerAnswers(row.answers, row.seconds, int(row.reused)) for row in rows}


def median_seconds(connection: Connection, campaign: int) -> dict[str, float]:
    """The median seconds per answer of each worker, where known."""
    theirs, seconds = answers.c.worker, answers.c.seconds
    ranked = (
        select(
            theirs,
            seconds,
            func.row_number().over(partition_by=theirs, order_by=seconds).label("rank"),
            func.count().over(partition_by=theirs).label("count"),
        )
        .where(_counting(campaign), seconds.is_not(None))
        .subquery()
    )
    # The rank in the middle, or the two ranks in the middle of an even number.
    middle = (2 * ranked.c.rank).between(ranked.c.count, ranked.c.count + 2)
    query = select(ranked.c.worker, func.avg(ranked.c.seconds)).where(middle)
    return {row[0]: float(row[1]) for row in connection.execute(query.group_by(ranked.c.worker))}


def skips_by_worker(connection: Connection, campaign: int) -> dict[str, int]:
    """How often each worker skipped or failed."""
    skipped = connection.execute(
        select(refusals.c.worker, func.count())
        .where(refusals.c.campaign == campaign)
        .group_by(refusals.c.worker)
    )
    return {row[0]: int(row[1]) for row in skipped}


def is_alone(connection: Connection, campaign: int, worker: str) -> bool:
    """Whether nobody but this worker has answered."""
    # One row is enough to know; counting workers would read every answer.
    others = select(answers.c.worker).where(_counting(campaign), answers.c.worker != worker)
    return connection.execute(others.limit(1)).first() is None


def above_by_worker_and_item(
    connection: Connection, campaign: int, question: int, middle: float, every: int
) -> list[tuple[str, int, int, int]]:
    """Worker, item, counted answers to the question, and how many of them are above ``middle``.

    Only of items whose number is a multiple of ``every``.
    """
    above = case((answers.c.value > middle, 1), else_=0)
    rows = connection.execute(
        select(answers.c.worker, answers.c.item, func.count(), func.sum(above))
        .where(_counted(campaign), answers.c.question == question, answers.c.item % every == 0)
        .group_by(answers.c.worker, answers.c.item)
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def repeated_answers(
    connection: Connection, campaign: int, worker: str | None = None
) -> list[tuple[str, int, int, float]]:
    """Worker, item, question and value of all counted answers by workers with repeated cells.

    Those are the workers (or the one worker) who answered some cell twice. Ordered by worker and
    cell, then by step and slot.
    """
    here = [_counted(campaign)]
    if worker is not None:
        here.append(answers.c.worker == worker)
    cell = (answers.c.worker, answers.c.item, answers.c.question)
    repeated = select(answers.c.worker).where(*here).group_by(*cell).having(func.count() > 1)
    rows = connection.execute(
        select(*cell, answers.c.value)
        .where(*here, answers.c.worker.in_(repeated))
        .order_by(*cell, answers.c.step, answers.c.slot)
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def counted_answers(connection: Connection, campaign: int) -> Iterator[Answer]:
    """Every answer of a closed step, in the order of steps and slots."""
    # Always false here, and the record has no such field.
    columns = [column for column in answers.columns if column.name != "retracted"]
    told = select(*columns).where(_counted(campaign)).order_by(answers.c.step, answers.c.slot)
    return (Answer(*row) for row in connection.execute(told))


def answers_about(
    connection: Connection, campaign: int, item: int
) -> list[tuple[int, str, float, float | None]]:
    """Question, worker, value and seconds of every answer of a closed step about an item."""
    rows = connection.execute(
        select(answers.c.question, answers.c.worker, answers.c.value, answers.c.seconds)
        .where(_counted(campaign), answers.c.item == item)
        .order_by(answers.c.question, answers.c.step, answers.c.slot)
    )
    return [(row.question, row.worker, row.value, row.seconds) for row in rows]


def skips_about(connection: Connection, campaign: int, item: int) -> list[str]:
    """The reasons for which questions about an item were skipped, one for each skip."""
    rows = connection.execute(
        select(refusals.c.reason)
        .select_from(refusals)
        .join(
            slots,
            and_(
                slots.c.campaign == refusals.c.campaign,
                slots.c.step == refusals.c.step,
                slots.c.number == refusals.c.slot,
            ),
        )
        .where(refusals.c.campaign == campaign, slots.c.item == item)
    )
    return list(rows.scalars())


def told_times(connection: Connection, campaign: int) -> Iterator[tuple[int, int, str, float]]:
    """Item, question, worker and time of every answer, taken back or not."""
    columns = (answers.c.item, answers.c.question, answers.c.worker, answers.c.time)
    rows = connection.execute(select(*columns).where(answers.c.campaign == campaign))
    return ((row[0], row[1], row[2], row[3]) for row in rows)


def imported_marks(connection: Connection, campaign: int, begin: str) -> set[str]:
    """The marks of all answers whose mark starts with ``begin``."""
    ids = connection.execute(select(answers.c.id).where(answers.c.campaign == campaign)).scalars()
    marks = (lease.mark for lease in map(LeaseId.parse, ids) if lease is not None)
    return {mark for mark in marks if mark.startswith(begin)}


def told_before(
    connection: Connection, campaign: int, step: int
) -> Iterator[tuple[tuple[int, int], str, bool, bool]]:
    """All answers about the cells of a step: cell, worker, whether it counts, whether reused."""
    cells = cells_of_step(campaign, step)
    rows = connection.execute(
        select(
            answers.c.id, answers.c.item, answers.c.question, answers.c.worker, answers.c.retracted
        )
        .join(cells, and_(cells.c.item == answers.c.item, cells.c.question == answers.c.question))
        .where(answers.c.campaign == campaign)
    )
    for row in rows:
        lease = LeaseId.parse(row.id)
        reused = lease is not None and lease.is_reused
        yield (row.item, row.question), row.worker, not row.retracted, reused


def offers_for_step(
    connection: Connection, campaign: int, step: int, old: int, kind: AnswerKind
) -> list[Offer]:
    """The counted answers of an old campaign to the cells of a step, by its own steps and slots.

    Two cells are the same if the ids of item and question are.
    """
    old_items, old_questions = items.alias("old_items"), questions.alias("old_questions")
    cells = cells_of_step(campaign, step)
    rows = connection.execute(
        select(
            items.c.number,
            questions.c.number,
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
        .where(_counted(old), possible(answers.c.value, kind))
        .order_by(answers.c.step, answers.c.slot)
    )
    return [Offer(*row) for row in rows]
