"""Which answers taught a rule: no claim about it may count them again.

A rule names them by the seals of the steps they were given in. A campaign that took answers over
from another one is known by the seal of that one's first step, too.
"""

from __future__ import annotations

from sqlalchemy import Connection, select

from askfew.campaigns.db.schema import campaigns, steps
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.rule import Rule

__all__ = ["check_fresh", "learning", "taught_by"]


def taught_by(connection: Connection, campaign: int, log: Log) -> list[str]:
    """Seals of the steps in which the campaign learnt its rule, and of those it reused."""
    own = learning(log)
    if not own:
        return []  # the rule was given
    older = [
        connection.execute(
            select(steps.c.seal).where(steps.c.campaign == each, steps.c.number == 0)
        ).scalar_one_or_none()
        for each in _reused(connection, campaign)
    ]
    return [*own, *(seal for seal in older if seal)]


def learning(log: Log) -> list[str]:
    """Seals of the steps in which a rule was learnt."""
    return [step.seal for step in log.steps if any(plan.kind == "screen" for plan in step.plans)]


def check_fresh(connection: Connection, rule: Rule, old: int, name: str) -> None:
    """Refuse to reuse a campaign whose answers taught the rule."""
    everyone = [old, *_reused(connection, old)]
    seals = connection.execute(
        select(steps.c.seal).where(steps.c.campaign.in_(everyone), steps.c.seal.is_not(None))
    ).scalars()
    if set(rule.learnt_from) & set(seals):
        raise InvalidInput(
            "a rule must be certified by answers that it was not learnt from",
            f"the rule that the answers of {name!r} taught",
            "leave out --reuse, or reuse another campaign",
        )


def _reused(connection: Connection, campaign: int) -> list[int]:
    """The campaigns whose answers it took over, and those whose answers they had taken over."""
    found: list[int] = []
    while True:
        older = connection.execute(
            select(campaigns.c.reused).where(campaigns.c.id == campaign)
        ).scalar_one()
        if older is None or older in found:
            return found
        found.append(campaign := older)
