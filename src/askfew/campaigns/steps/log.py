"""The log in the store: a step opens with its plans and slots, and closes with an exact Tally."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries import campaigns, steps
from askfew.campaigns.db.queries.slots import insert_slots, is_waiting, values_by_row
from askfew.campaigns.db.queries.steps import (
    NewStep,
    StepRow,
    plan_bytes,
    plans_after_learning,
    read_plans,
)
from askfew.campaigns.settings import Settings
from askfew.log import Log, Step, origin, seal
from askfew.plans import Plan
from askfew.records import Batch, Ints, Problem, Tally
from askfew.rule import Rule

__all__ = [
    "close_step",
    "deal",
    "frozen_rule",
    "open_step",
    "read_log",
    "read_step",
    "same_plans",
]


def open_step(connection: Connection, step: NewStep) -> None:
    """Insert plans, Batch and slots; a step that exists already is an error.

    Call it in one transaction: no slot may be handed out before its plan is stored.
    """
    steps.insert_step(connection, step)
    # A method with plans compares items with a rule, not with each other: no row is a reference.
    dealt = deal(step.batch, references=not step.plans)
    insert_slots(connection, step.campaign, step.number, dealt)


def close_step(connection: Connection, step: StepRow, problem: Problem, now: float) -> bool:
    """Freeze the Tally of a locked step if all its slots are settled; True if they are."""
    campaign, number = step.campaign, step.number
    # Older steps are closed and have no waiting slots, so a waiting slot is one of this step.
    if is_waiting(connection, campaign):
        return False
    batch = step.batch
    tally = _tally(len(batch), values_by_row(connection, campaign, number))
    if number:
        before = steps.seal_of(connection, campaign, number - 1) or ""
    else:
        # The first seal covers what the campaign was given.
        before = origin(problem, campaigns.get_campaign(connection, campaign).recipe_dict)
    sealed = seal(before, batch, tally, step.plan_list)
    steps.freeze_step(connection, campaign, number, tally, sealed, now)
    return True


def read_log(
    connection: Connection, campaign: int, problem: Problem, *, before: int | None = None
) -> Log:
    """The closed steps (or those before step ``before``), and the plans made after them."""
    about = campaigns.get_campaign(connection, campaign)
    closed: list[Step] = []
    # The plans after the last closed step are with the open step, or with the ended campaign.
    pending = about.closing
    for row in steps.all_steps(connection, campaign):
        if row.closed is None or row.number == before:
            pending = row.plans
            break
        closed.append(_step(row))
    return Log(problem, about.recipe_dict, closed, read_plans(pending))


def read_step(connection: Connection, campaign: int, number: int) -> Step:
    """One closed step."""
    row = steps.find_step(connection, campaign, number)
    assert row is not None
    return _step(row)


def same_plans(one: Sequence[Plan], other: Sequence[Plan]) -> bool:
    """Whether both lists of plans are the same, bit for bit."""
    return plan_bytes(one) == plan_bytes(other)


def _step(row: StepRow) -> Step:
    return Step(row.batch, row.tally, row.seal or "", row.plan_list)


def _tally(rows: int, answered: Sequence[tuple[int, float]]) -> Tally:
    """Counts and exact sums by row.

    The sums are exact (fsum), so they do not depend on the order of arrival.
    """
    table = np.array(answered, dtype=np.float64).reshape(-1, 2)
    row, value = table[:, 0].astype(np.int64), table[:, 1]
    counts, sums, squares = np.bincount(row, minlength=rows), np.zeros(rows), np.zeros(rows)
    alone = counts[row] == 1  # most rows of a large step, so these are not summed one by one
    with np.errstate(over="ignore"):  # an impossible answer's square is inf, as Python's v * v
        sums[row[alone]], squares[row[alone]] = value[alone], value[alone] ** 2
    several: dict[int, list[float]] = {}
    for place, each in zip(row[~alone].tolist(), value[~alone].tolist(), strict=True):
        several.setdefault(place, []).append(each)
    for place, values in several.items():
        sums[place], squares[place] = math.fsum(values), math.fsum(v * v for v in values)
    return Tally(counts.astype(np.int64), sums, squares)


def frozen_rule(
    connection: Connection, campaign: int, settings: Settings, questions: Sequence[str]
) -> Rule | None:
    """The rule that was given, or the one that the campaign froze; with the questions' ids."""
    if settings.rule is not None:
        return settings.rule
    # The plan that freezes it is in the first step after learning.
    for plan in plans_after_learning(connection, campaign):
        if plan.kind == "freeze":
            rule = Rule.from_dict(plan.facts["rule"])
            places = rule.places(range(len(questions)))
            return rule.renamed([questions[place] for place in places])
    return None


Bools = np.ndarray[Any, np.dtype[np.bool_]]


def deal(batch: Batch, *, references: bool) -> list[tuple[int, int, int, bool]]:
    """The slots of a Batch, one for each answer: row, item, question, whether about a reference.

    All first answers come first, question by question; then all second answers, and so on. People
    are faster and more consistent if the question stays for a run of items, and a worker who goes
    through the slots in this order meets many items before one comes again. Without ``references``
    no slot is about a reference.
    """
    rows = np.repeat(np.arange(len(batch)), batch.repeats)
    questions = batch.questions[rows]
    width = int(questions.max(initial=0)) + 1
    repeats = _turns(batch.items[rows] * width + questions)
    # lexsort sorts by its last key first: repeats, then questions, then rows.
    dealt = rows[np.lexsort((rows, questions, repeats))]
    known = _references(batch) if references else np.zeros(len(batch), dtype=np.bool_)
    return list(
        zip(
            dealt.tolist(),
            batch.items[dealt].tolist(),
            batch.questions[dealt].tolist(),
            known[dealt].tolist(),
            strict=True,
        )
    )


def _turns(names: Ints) -> Ints:
    """For each name, how many equal ones come before it: 7 7 3 7 has the turns 0 1 0 2."""
    order = np.argsort(names, kind="stable")
    ordered = names[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[first, len(names)])
    turns = np.empty(len(names), dtype=np.int64)
    turns[order] = np.arange(len(names)) - np.repeat(first, lengths)
    return turns


def _references(batch: Batch) -> Bools:
    """Which rows are about items that have a label already: those are asked only as references."""
    if batch.known is None:
        return np.zeros(len(batch), dtype=np.bool_)
    return np.asarray(batch.known.labels[batch.items] >= 0)
