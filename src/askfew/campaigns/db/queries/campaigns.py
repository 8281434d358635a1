"""The campaigns of a store, by number or by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from askfew.campaigns.db.schema import campaigns
from askfew.campaigns.records import StoredOutcome
from askfew.errors import InvalidInput

__all__ = [
    "CampaignRow",
    "all_campaigns",
    "change_state",
    "find_campaign",
    "finish",
    "get_campaign",
    "insert_campaign",
    "keep_names",
    "lock_campaign",
    "name_of",
    "names",
    "numbers",
    "outcome_of",
    "recipes",
    "reused_by",
    "state_of",
]

_STATE = select(campaigns.c.state).where(campaigns.c.id == bindparam("this_campaign"))


@dataclass(frozen=True)
class CampaignRow:
    """A campaign as it is stored; the properties decode the JSON."""

    id: int
    name: str
    settings: str
    recipe: str
    state: str
    outcome: str | None
    created: float
    reused: int | None
    forecast: str | None
    closing: bytes | None
    imported: float | None
    names: str | None

    @property
    def settings_dict(self) -> dict[str, Any]:
        """The settings it was created with."""
        return dict(json.loads(self.settings))

    @property
    def recipe_dict(self) -> dict[str, Any]:
        """The method it runs, with its options and versions."""
        return dict(json.loads(self.recipe))

    @property
    def stored_outcome(self) -> StoredOutcome | None:
        """The outcome; None until it has ended."""
        return None if self.outcome is None else StoredOutcome.from_json(self.outcome)


def insert_campaign(connection: Connection, **values: object) -> int:
    """Insert a campaign and return its number; a name that is taken is refused."""
    made = insert(campaigns).values(**values).returning(campaigns.c.id)
    try:
        return int(connection.execute(made).scalar_one())
    except IntegrityError:
        raise InvalidInput(
            "a campaign's name must be new in its store",
            repr(values["name"]),
            "choose another name, or another store",
        ) from None


def get_campaign(connection: Connection, number: int) -> CampaignRow:
    """The campaign with that number, which must exist."""
    query = select(campaigns).where(campaigns.c.id == number)
    return CampaignRow(*connection.execute(query).one())


def find_campaign(connection: Connection, name: str) -> CampaignRow | None:
    """The campaign with that name, if there is one."""
    query = select(campaigns).where(campaigns.c.name == name)
    row = connection.execute(query).one_or_none()
    return None if row is None else CampaignRow(*row)


def all_campaigns(connection: Connection) -> list[CampaignRow]:
    """All campaigns, oldest first."""
    query = select(campaigns).order_by(campaigns.c.id)
    return [CampaignRow(*row) for row in connection.execute(query)]


def recipes(connection: Connection) -> list[tuple[int, str, str, str]]:
    """Number, name, state and recipe of all campaigns, oldest first.

    Only columns of the first version of the tables: it also reads stores that are not upgraded.
    """
    asked = select(campaigns.c.id, campaigns.c.name, campaigns.c.state, campaigns.c.recipe)
    return [tuple(row) for row in connection.execute(asked.order_by(campaigns.c.id)).all()]


def numbers(connection: Connection) -> list[int]:
    """The numbers of all campaigns, oldest first."""
    return list(connection.execute(select(campaigns.c.id).order_by(campaigns.c.id)).scalars())


def names(connection: Connection) -> list[str]:
    """The names of all campaigns, oldest first."""
    return list(connection.execute(select(campaigns.c.name).order_by(campaigns.c.id)).scalars())


def name_of(connection: Connection, number: int | None) -> str | None:
    """The name of the campaign with that number, if there is one."""
    query = select(campaigns.c.name).where(campaigns.c.id == number)
    return connection.execute(query).scalar_one_or_none()


def state_of(connection: Connection, number: int) -> str:
    """The state: running, paused, closed or ended."""
    return str(connection.execute(_STATE, {"this_campaign": number}).scalar_one())


def outcome_of(connection: Connection, number: int) -> StoredOutcome | None:
    """The outcome; None until it has ended."""
    query = select(campaigns.c.outcome).where(campaigns.c.id == number)
    stored = connection.execute(query).scalar_one()
    return None if stored is None else StoredOutcome.from_json(stored)


def lock_campaign(connection: Connection, number: int) -> CampaignRow:
    """The campaign with that number, locked until the transaction ends."""
    # FOR NO KEY UPDATE: inserts of rows that refer to this one (such as workers) need not wait.
    held = select(campaigns).where(campaigns.c.id == number).with_for_update(key_share=True)
    return CampaignRow(*connection.execute(held).one())


def change_state(connection: Connection, number: int, before: str, after: str) -> bool:
    """Change the state if it is ``before``; whether it was."""
    moved = connection.execute(
        update(campaigns)
        .where(campaigns.c.id == number, campaigns.c.state == before)
        .values(state=after)
    )
    return moved.rowcount > 0


def finish(
    connection: Connection,
    number: int,
    state: str,
    outcome: StoredOutcome | None,
    plans: bytes | None,
) -> None:
    """End a campaign, with its outcome and the plans made after the last step."""
    connection.execute(
        update(campaigns)
        .where(campaigns.c.id == number)
        .values(state=state, outcome=None if outcome is None else outcome.to_json(), closing=plans)
    )


def keep_names(connection: Connection, number: int, names: dict[str, str]) -> None:
    """Store the owner's names of the groups, by the method's own names."""
    connection.execute(
        update(campaigns).where(campaigns.c.id == number).values(names=json.dumps(names))
    )


def reused_by(connection: Connection, number: int) -> list[int]:
    """The campaign whose answers this one reused, the one that that reused, and so on."""
    found: list[int] = []
    while True:
        older = connection.execute(
            select(campaigns.c.reused).where(campaigns.c.id == number)
        ).scalar_one()
        # In a damaged store the chain may lead back to its beginning.
        if older is None or older in found:
            return found
        found.append(number := older)
