"""Find the campaign that a question's id belongs to."""

from __future__ import annotations

from sqlalchemy import select

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import campaigns
from askfew.campaigns.store import Store

__all__ = ["campaign_of"]

_MOST = 2**31
"""Larger numbers do not fit the column, and PostgreSQL would say so."""


def campaign_of(store: Store, lease: str) -> Campaign | None:
    """The campaign that handed the question out; its number is how the id begins."""
    number = lease.partition("-")[0]
    if not (number.isascii() and number.isdecimal() and len(number) < 11 and int(number) < _MOST):
        return None
    with store.database.read() as connection:
        name = connection.execute(
            select(campaigns.c.name).where(campaigns.c.id == int(number))
        ).scalar_one_or_none()
    return None if name is None else store.campaign(name)
