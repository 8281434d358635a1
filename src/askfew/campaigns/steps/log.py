"""The log in the store: opening steps with plans and slots, closing them with an exact Tally."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries import campaigns, steps
from askfew.campaigns.db.queries.slots import insert_slots, is_waiting, values_by_row
from askfew.campaigns.db.queries.steps import StepRow, plan_bytes, plans_after_learning, read_plans
from askfew.campaigns.settings import Settings
from askfew.campaigns.steps.dealing import deal
from askfew.campaigns.steps.reuse import fill_step
from askfew.log import Log, Step, origin, seal
from askfew.plans import Plan
from askfew.records import Batch, Problem, Tally
from askfew.rule import Rule

__all__ = ["close_step", "frozen_rule", "open_step", "read_log", "read_step", "same_plans"]


def open_step(
    connection: Connection,
    campaign: int,
    number: int,
    batch: Batch,
    plans: Sequence[Plan],
    now: float,
) -> None:
    """Insert plans, Batch and slots; a step that exists already is an error.

    Call it in one transaction: no slot may be handed out before its plan is stored. Slots that a
    reused campaign has answers for are filled at once.
    """
    steps.insert_step(connection, campaign, number, batch, plans, now)
    # A method with plans compares items with a rule, not with each other: no row is a reference.
    insert_slots(connection, campaign, number, deal(batch, references=not plans))
    fill_step(connection, campaign, number)


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
