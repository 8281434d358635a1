"""The campaigns of a store that this version of askfew cannot go on with.

Plans are recorded, so new heuristics affect no open campaign. A new claim version does: what was
claimed holds under the version a campaign began with, and no other version may continue it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from askfew.algorithms import CLAIM_VERSIONS
from askfew.campaigns.db.database import Connection, Database
from askfew.campaigns.db.queries.campaigns import recipes
from askfew.campaigns.steps.advance import GOING

__all__ = ["Touched", "touched_by_upgrade", "touched_campaigns"]


@dataclass(frozen=True)
class Touched:
    """A campaign that began under another version of its method's claim."""

    id: int
    campaign: str
    state: str
    method: str
    begun_under: int | None
    claim: int | None
    written_with: str

    @property
    def is_open(self) -> bool:
        """Whether it still takes answers."""
        return self.state in GOING

    def __str__(self) -> str:
        begun = (
            "before claims had versions"
            if self.begun_under is None
            else f"under {self.begun_under}"
        )
        about = f"{self.campaign} ({self.state}): {self.method}'s claim is of version {self.claim}"
        if not self.is_open:
            return f"{about}, it began {begun}; its result stands as it is"
        return (
            f"{about}, it began {begun} and cannot go on here: finish it with askfew"
            f" {self.written_with}, or go on in a new campaign with the answers already paid for"
            f" ('askfew create DIR --reuse {self.campaign}')"
        )

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON-ready values."""
        return {**asdict(self), "open": self.is_open}


def touched_by_upgrade(url: str) -> list[Touched]:
    """The same for a store by its address, which is only read: its tables may be older."""
    database = Database(url)
    try:
        with database.read() as connection:
            return touched_campaigns(connection)
    finally:
        database.close()


def touched_campaigns(connection: Connection) -> list[Touched]:
    """The campaigns that began under another claim version than this askfew's."""
    found = []
    for number, name, state, written in recipes(connection):
        recipe = json.loads(written)
        method, begun = str(recipe.get("method")), recipe.get("claim")
        if begun != CLAIM_VERSIONS.get(method):
            version = str(dict(recipe.get("versions") or {}).get("askfew", "that began it"))
            claim = CLAIM_VERSIONS.get(method)
            found.append(Touched(number, name, state, method, begun, claim, version))
    return found
