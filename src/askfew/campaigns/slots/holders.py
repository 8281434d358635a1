"""Whose a question is."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, bindparam, select, union_all

from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import answers, slots

__all__ = ["holder_of"]

_LEASE = bindparam("this_lease", type_=slots.c.lease.type)
_HOLDER = union_all(
    select(slots.c.worker).where(
        and_(
            slots.c.campaign == bindparam("this_campaign"),
            slots.c.step == bindparam("at_step"),
            slots.c.number == bindparam("at_number"),
            slots.c.lease == _LEASE,
        )
    ),
    select(answers.c.worker).where(
        and_(
            answers.c.campaign == bindparam("this_campaign"),
            answers.c.step == bindparam("at_step"),
            answers.c.slot == bindparam("at_number"),
            answers.c.id == _LEASE,
        )
    ),
)


def holder_of(database: Database, slot: dict[str, Any]) -> str | None:
    """Who holds a lease, or has answered by it (see ``read_lease``); None if that is over.

    A lease is one worker's for good: what is true of it here stays true.
    """
    found = database.fetch_one(_HOLDER, slot)
    worker: str | None = None if found is None else found[0]
    return worker
