"""All campaigns of a store at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from askfew.campaigns.db.queries.answers import totals_by_campaign
from askfew.campaigns.db.queries.campaigns import all_campaigns
from askfew.campaigns.store import Store

__all__ = ["Overview", "overview_of"]


@dataclass(frozen=True)
class Overview:
    """One campaign: its state, and how many of its answers are there."""

    name: str
    state: str
    answers: int
    max_answers: int


def overview_of(store: Store) -> list[Overview]:
    """Oldest first."""
    with store.database.snapshot() as connection:
        totals = totals_by_campaign(connection)
        rows = all_campaigns(connection)
    return [
        Overview(
            row.name, row.state, totals.get(row.id, (0, 0.0))[0], row.settings_dict["max_answers"]
        )
        for row in rows
    ]
