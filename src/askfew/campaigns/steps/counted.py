"""The answers that have been counted: those of closed steps.

Values of an open step are shown to nobody. Whoever sees them could still decide what becomes of the
step: who is asked, what is imported, when it is left alone. An open step's answers are also a
biased sample by themselves: those who take longer to say no are missing. So whatever reads values
(pages, report, exports, the test of independence, ``create --reuse``) reads closed steps only.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, select

from askfew.campaigns.db.schema import answers, steps

__all__ = ["counted"]


def counted(campaign: int) -> ColumnElement[bool]:
    """The condition, for queries: an answer of the campaign's that a closed step has counted."""
    closed = select(steps.c.number).where(steps.c.campaign == campaign, steps.c.closed.is_not(None))
    return and_(
        answers.c.campaign == campaign,
        answers.c.retracted.is_(False),
        answers.c.step.in_(closed),
    )
