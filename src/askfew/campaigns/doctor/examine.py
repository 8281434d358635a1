"""Is a store sound? Every campaign is replayed, and every answer counted again."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DBAPIError

from askfew.campaigns.doctor.checks import answer_problems, slot_problems, step_problems
from askfew.campaigns.doctor.mend import mendable_slots
from askfew.campaigns.settings import Settings
from askfew.campaigns.steps.advance import new_session
from askfew.campaigns.steps.log import read_batch, read_log
from askfew.campaigns.tables.database import Database
from askfew.campaigns.tables.schema import answers, campaigns, items, questions, steps
from askfew.campaigns.tables.snapshot import snapshot
from askfew.errors import AskfewError, StoreUnreachable
from askfew.records import Batch, Problem

__all__ = ["Examination", "Verdict", "examine", "examine_store"]


@dataclass(frozen=True)
class Verdict:
    """What was found about one campaign; it is sound if there are no problems."""

    campaign: str
    state: str
    steps: int
    answers: int
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    mendable: int = 0
    """Impossible answers that ``mend`` can take out."""

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
        """As JSON-ready values."""
        each = [{**asdict(verdict), "sound": verdict.sound} for verdict in self.campaigns]
        return {"sound": self.sound, "problems": self.problems, "campaigns": each}


def examine_store(database: Database) -> Examination:
    """Look at everything; each campaign as it stood at one moment."""
    problems = list(_file_problems(database))
    verdicts = []
    try:
        with database.read() as connection:
            numbers = connection.execute(select(campaigns.c.id).order_by(campaigns.c.id))
            everyone = list(numbers.scalars())
        for number in everyone:
            with snapshot(database) as connection:
                verdicts.append(examine(connection, number))
    except (DBAPIError, StoreUnreachable) as error:
        problems.append(f"the database cannot be read: {error}")
    return Examination(tuple(problems), tuple(verdicts))


def examine(connection: Connection, campaign: int) -> Verdict:
    """Replay one campaign and count its answers again."""
    row = connection.execute(select(campaigns).where(campaigns.c.id == campaign)).one()
    found: list[str] = []
    notes: list[str] = []
    mendable = 0
    try:
        settings = Settings.from_dict(json.loads(row.settings))
        sizes = [_count(connection, table, campaign) for table in (items, questions)]
        problem = Problem(sizes[0], sizes[1], settings.answers)
    except (AskfewError, ValueError) as error:
        found.append(f"its settings cannot be used: {error}")
    else:
        found += step_problems(connection, campaign)
        found += slot_problems(connection, campaign, settings)
        found += answer_problems(connection, campaign, settings.answers)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found += _replay_problems(connection, row, settings, problem)
        notes += [str(each.message) for each in caught]
        mendable = len(mendable_slots(connection, row, settings.answers))
    return Verdict(
        row.name,
        row.state,
        _count(connection, steps, campaign),
        _count(connection, answers, campaign),
        tuple(found),
        tuple(notes),
        mendable,
    )


def _count(connection: Connection, table: Any, campaign: int) -> int:
    query = select(func.count()).select_from(table).where(table.c.campaign == campaign)
    return int(connection.execute(query).scalar_one())


def _replay_problems(
    connection: Connection, row: Any, settings: Settings, problem: Problem
) -> list[str]:
    """Every Batch must be what the method asks, and every Tally as it was sealed."""
    try:
        log = read_log(connection, row.id, problem, json.loads(row.recipe))
        live = new_session(settings, problem, log)
    except (AskfewError, ValueError, TypeError, KeyError) as error:
        return [f"its log does not replay: {error}"]
    opened = connection.execute(
        select(steps).where(steps.c.campaign == row.id, steps.c.number == len(log))
    ).one_or_none()
    asks = live.ask()
    if opened is not None and not _is(opened, asks):
        return [f"step {len(log)} is open, but is not what the method asks: {asks}"]
    outcome = live.outcome
    if row.state == "ended":
        if outcome is None:
            return [f"it has ended, but the method would ask more: {asks}"]
        stored = json.loads(row.outcome or "{}")
        if stored.get("labels") != outcome.labels.tolist():
            return ["its result is not what the method finds"]
    return []


def _is(step: Any, asks: Batch | None) -> bool:
    try:
        return asks is not None and read_batch(step).asks_the_same_as(asks)
    except ValueError:  # bytes that are no array
        return False


def _file_problems(database: Database) -> list[str]:
    """What SQLite finds wrong with its own file; a PostgreSQL server looks after itself."""
    if database.engine.dialect.name != "sqlite":
        return []
    found = []
    try:
        with database.read() as connection:
            for (said,) in connection.exec_driver_sql("PRAGMA integrity_check(10)"):
                if said != "ok":
                    found.append(f"SQLite's integrity check: {said}")
            orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    except (DBAPIError, StoreUnreachable) as error:
        return [*found, f"the database cannot be read: {error}"]
    by_tables: dict[tuple[str, str], int] = {}
    for table, _rowid, parent, _index in orphans:
        by_tables[table, parent] = by_tables.get((table, parent), 0) + 1
    return found + [
        f"{count} rows of {table} belong to no row of {parent}"
        for (table, parent), count in by_tables.items()
    ]
