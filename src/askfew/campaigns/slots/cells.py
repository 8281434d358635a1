"""The cells (item, question) that a step asks, for queries about what they have had before."""

from __future__ import annotations

from sqlalchemy import Subquery, select

from askfew.campaigns.db.schema import slots

__all__ = ["cells_of_step"]


def cells_of_step(campaign: int, step: int) -> Subquery:
    """A table of two columns, item and question, without repeats."""
    here = (slots.c.campaign == campaign, slots.c.step == step)
    return select(slots.c.item, slots.c.question).where(*here).distinct().subquery("cells")
