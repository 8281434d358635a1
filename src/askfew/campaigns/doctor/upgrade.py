"""What a newer askfew would do to the campaigns of a store.

Plans are recorded, so new heuristics touch no open campaign. A new version of a claim does: what
was claimed holds under the claim it was begun with, and no other may go on with it.
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
    """A campaign that was begun under another version of its method's claim."""

    id: int
    campaign: str
    state: str
    method: str
    begun_under: int | None
    claim: int | None
    written_with: str

    @property
    def is_open(self) -> bool:
        """Whether it would take more answers."""
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
        """As JSON-ready values."""
        return {**asdict(self), "open": self.is_open}


def touched_by_upgrade(url: str) -> list[Touched]:
    """The same of a store whose tables are older, which is only read."""
    database = Database(url)
    try:
        with database.read() as connection:
            return touched_campaigns(connection)
    finally:
        database.close()


def touched_campaigns(connection: Connection) -> list[Touched]:
    """Campaigns whose claim is not this askfew's."""
    found = []
    for number, name, state, written in recipes(connection):
        recipe = json.loads(written)
        method, begun = str(recipe.get("method")), recipe.get("claim")
        if begun != CLAIM_VERSIONS.get(method):
            version = str(dict(recipe.get("versions") or {}).get("askfew", "that began it"))
            claim = CLAIM_VERSIONS.get(method)
            found.append(Touched(number, name, state, method, begun, claim, version))
    return found
