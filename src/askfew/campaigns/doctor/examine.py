"""Examining a store: every campaign is replayed, and every answer is counted again.

``mend`` takes out impossible answers, the only problem that can be mended without choosing data. It
does so only in the newest step, from which nothing has been computed yet. After an older one the
method has gone on; then the owner starts a new campaign on the answers already paid for (``create
--reuse`` leaves impossible ones out).
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from askfew.answers import AnswerKind
from askfew.campaigns.db.database import Connection, Database
from askfew.campaigns.db.failures import DATABASE_ERRORS
from askfew.campaigns.db.queries.campaigns import CampaignRow, all_campaigns, get_campaign, numbers
from askfew.campaigns.db.queries.contents import item_count, question_count
from askfew.campaigns.db.queries.slots import empty_impossible, impossible_slots
from askfew.campaigns.db.queries.soundness import file_problems
from askfew.campaigns.db.queries.steps import StepRow, find_step, lock_step, newest_number
from askfew.campaigns.db.queries.tables import count_rows
from askfew.campaigns.doctor.checks import (
    about_problems,
    answer_problems,
    content_problems,
    row_problems,
    slot_problems,
    step_problems,
)
from askfew.campaigns.doctor.upgrade import touched_campaigns
from askfew.campaigns.inputs import Inputs, new_session
from askfew.campaigns.settings import Settings
from askfew.campaigns.steps.advance import GOING, resumed, stop_at_close
from askfew.campaigns.steps.log import close_step, read_log
from askfew.campaigns.steps.reuse import learning
from askfew.errors import AskfewError, StoreUnreachable
from askfew.log import Log
from askfew.records import Batch, Problem

__all__ = [
    "FAILURES",
    "Examination",
    "Verdict",
    "examine",
    "examine_store",
    "first_problem",
    "mend",
    "mendable_slots",
]


def mend(database: Database) -> dict[str, int]:
    """Take impossible answers out of all open campaigns; how many there were, by campaign."""
    with database.read() as connection:
        everyone = all_campaigns(connection)
    mended = {}
    for campaign in everyone:
        try:
            kind = Settings.from_dict(campaign.settings_dict).answers
        except (AskfewError, ValueError):
            continue  # the examination says what is wrong with it
        with database.write() as connection:
            count = _mend(connection, campaign, kind)
        if count:
            mended[campaign.name] = count
    return mended


def mendable_slots(connection: Connection, campaign: CampaignRow, kind: AnswerKind) -> list[int]:
    """The slots of the newest step with an impossible answer, if the campaign is open."""
    newest = newest_number(connection, campaign.id)
    if campaign.state not in GOING or newest is None:
        return []
    return impossible_slots(connection, campaign.id, newest, kind)


def _mend(connection: Connection, campaign: CampaignRow, kind: AnswerKind) -> int:
    newest = newest_number(connection, campaign.id)
    if campaign.state not in GOING or newest is None:
        return 0
    # The lock that closing takes, so that no step is frozen with the answers that go.
    step = lock_step(connection, campaign.id, newest)
    count = empty_impossible(connection, campaign.id, newest, kind)
    if count and step.closed is not None:
        sizes = item_count(connection, campaign.id), question_count(connection, campaign.id)
        # Freeze the Tally again, without the impossible answers.
        close_step(connection, step, Problem(*sizes, kind), step.closed)
    return count


FAILURES = (
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError),
    *(MemoryError, AssertionError, *DATABASE_ERRORS),
)
"""What code may raise on damaged data; a check that raises one of these has found a problem."""
_FOUND = {"status", "labels", "answers", "question"}
"""Parts of an outcome that must be the same in every version of askfew."""
_LATER = {"claim", "texts"}
"""Parts of a recipe that campaigns of an older askfew do not have."""

IMPORTED = (
    "it was imported: that plans were made before their answers came is attested by the exporter"
)
"""A seal proves that nothing was changed since it was made, not when it was made."""


@dataclass(frozen=True)
class Verdict:
    """The findings about one campaign, which is sound if there are no problems."""

    campaign: str
    state: str
    steps: int
    answers: int
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    mendable: int = 0
    """Impossible answers that ``mend`` can take out."""
    other_claim: bool = False
    """Whether it began under another claim version: this askfew cannot replay it."""

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@dataclass(frozen=True)
class Examination:
    """A store's own problems, and the verdict on each campaign."""

    problems: tuple[str, ...]
    campaigns: tuple[Verdict, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing at all is wrong."""
        return not self.problems and all(each.sound for each in self.campaigns)

    def to_dict(self) -> dict[str, Any]:
        """The examination as JSON-ready values."""
        each = [{**asdict(verdict), "sound": verdict.sound} for verdict in self.campaigns]
        return {"sound": self.sound, "problems": self.problems, "campaigns": each}


def examine_store(database: Database) -> Examination:
    """Examine the whole store, each campaign in a snapshot of its own."""
    problems: list[str] = []
    verdicts = []
    try:
        for problem in file_problems(database):
            problems.append(problem)  # one by one, because reading the next may fail
        with database.read() as connection:
            everyone = numbers(connection)
        for number in everyone:
            with database.snapshot() as connection:
                verdicts.append(examine(connection, number))
    except (*DATABASE_ERRORS, StoreUnreachable) as error:
        problems.append(f"the database cannot be read: {error}")
    return Examination(tuple(problems), tuple(verdicts))


def first_problem(database: Database) -> str | None:
    """The first problem of a store; None if it is sound."""
    found = examine_store(database)
    for each in found.campaigns:
        if not each.sound:
            return f"{each.campaign}: {each.problems[0]}"
    return found.problems[0] if found.problems else None


def examine(connection: Connection, campaign: int) -> Verdict:
    """Replay one campaign and count its answers again."""
    row = get_campaign(connection, campaign)
    mendable = 0
    # A replay warns if the log was written with other versions: a note, not a problem.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = _listed(row_problems, connection, campaign)
        if not found:  # the other checks rely on fields of the right type
            try:
                settings = Settings.from_dict(row.settings_dict)
                sizes = item_count(connection, campaign), question_count(connection, campaign)
                problem = Problem(*sizes, settings.answers)
            except (AskfewError, ValueError, TypeError, RecursionError) as error:
                found.append(f"its settings cannot be used: {error}")
            else:
                found += _listed(about_problems, row, settings)
                found += _listed(content_problems, connection, campaign)
                found += _listed(step_problems, connection, campaign)
                found += _listed(slot_problems, connection, campaign, settings)
                found += _listed(answer_problems, connection, campaign, settings.answers)
                found += _listed(_replay_problems, connection, row, settings, problem)
                mendable = len(mendable_slots(connection, row, settings.answers))
    notes = [str(each.message) for each in caught]
    if row.imported is not None:
        notes.append(IMPORTED)
    return Verdict(
        str(row.name),
        str(row.state),
        *count_rows(connection, campaign),
        tuple(found),
        tuple(notes),
        mendable,
        len(found) == 1 and row.id in {each.id for each in touched_campaigns(connection)},
    )


def _listed(check: Callable[..., Iterable[str]], *about: Any) -> list[str]:
    """The problems that a check finds; if the check itself fails, that is the problem."""
    try:
        return list(check(*about))
    except FAILURES as error:
        return [f"it cannot be examined: {type(error).__name__} ({error})"]


def _replay_problems(
    connection: Connection,
    row: CampaignRow,
    settings: Settings,
    problem: Problem,
) -> list[str]:
    """Check that the log replays: every Batch is what the method asks, every seal is right.

    A campaign that has ended must also have the outcome that the method finds.
    """
    try:
        log = read_log(connection, row.id, problem)
        recipe, inputs = dict(log.recipe), Inputs.read(connection, row.id)
        live = resumed(settings, log, inputs)
        # The settings must still give the recipe that is stored: both could be changed by hand.
        new_session(settings, fresh := Log(problem), inputs)
        made = json.loads(json.dumps({**fresh.recipe, "texts": inputs.texts}))
        versions = [each.pop("versions", None) for each in (recipe, made)]
        if {**made, **recipe} != made or not made.keys() - _LATER <= recipe.keys():
            return ["it was not made with its settings"]
    except (AskfewError, *FAILURES) as error:
        return [f"its log does not replay: {error}"]
    opened = find_step(connection, row.id, len(log))
    asks = live.ask()
    if opened is not None and not _is(opened, asks):
        return [f"step {len(log)} is open, but is not what the method asks: {asks}"]
    closed = row.state == "closed" and row.outcome is not None  # an older askfew wrote none
    if closed:
        stop_at_close(live)
    outcome = live.outcome
    if row.state == "ended" or closed:
        if outcome is None:
            return [f"it has ended, but the method would ask more: {asks}"]
        stored = dict(json.loads(row.outcome or "{}"))
        finds = json.loads(json.dumps(outcome.to_dict()))
        taught = _without_taught(stored), _without_taught(finds)
        # Another version may word its texts differently, so then only _FOUND is compared.
        fields = {*stored, *finds} if versions[0] == versions[1] else _FOUND
        for name in sorted(fields):
            if not _alike(stored.get(name), finds.get(name)):
                return [f"its result is not what the method finds ({name})"]
        if outcome.rule is not None and not {*taught[1], *learning(log)} <= {*taught[0]}:
            return ["its rule does not name all the answers that taught it"]
    return []


def _without_taught(outcome: dict[str, Any]) -> list[str]:
    """Remove from the outcome which answers taught its rule, and return them.

    The store's outcome also names reused campaigns, which a replay does not know.
    """
    rule = outcome.get("rule")
    return rule.pop("learnt_from", []) if isinstance(rule, dict) else []


def _alike(one: object, other: object) -> bool:
    """Whether two values are equal, except for the last digits of numbers.

    Another processor may round differently.
    """
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9) or one == other or one != one
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return set(one) == set(other) and all(_alike(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def _is(step: StepRow, asks: Batch | None) -> bool:
    try:
        return asks is not None and step.batch.asks_the_same_as(asks)
    except ValueError:  # bytes that are no array
        return False
