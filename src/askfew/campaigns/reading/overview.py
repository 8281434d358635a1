"""All campaigns of a store at a glance."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import func, select

from askfew.campaigns.db.schema import answers, campaigns
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
        counted = connection.execute(
            select(answers.c.campaign, func.count())
            .where(answers.c.retracted.is_(False))
            .group_by(answers.c.campaign)
        )
        counts = {row[0]: row[1] for row in counted}
        rows = connection.execute(
            select(
                campaigns.c.id, campaigns.c.name, campaigns.c.state, campaigns.c.settings
            ).order_by(campaigns.c.id)
        ).all()
    return [
        Overview(
            row.name, row.state, counts.get(row.id, 0), json.loads(row.settings)["max_answers"]
        )
        for row in rows
    ]
