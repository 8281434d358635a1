"""Which answers taught a rule: no claim about it may count them again.

A rule names them by the seals of the steps they were given in. A campaign that took answers over
from another one is known by the seal of that one's first step, too.
"""

from __future__ import annotations

from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.campaigns import reused_by
from askfew.campaigns.db.queries.steps import seal_of, seals_of
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.rule import Rule

__all__ = ["check_fresh", "learning", "taught_by"]


def taught_by(connection: Connection, campaign: int, log: Log) -> list[str]:
    """Seals of the steps in which the campaign learnt its rule, and of those it reused."""
    own = learning(log)
    if not own:
        return []  # the rule was given
    older = [seal_of(connection, each, 0) for each in reused_by(connection, campaign)]
    return [*own, *(seal for seal in older if seal)]


def learning(log: Log) -> list[str]:
    """Seals of the steps in which a rule was learnt."""
    return [step.seal for step in log.steps if any(plan.kind == "screen" for plan in step.plans)]


def check_fresh(connection: Connection, rule: Rule, old: int, name: str) -> None:
    """Refuse to reuse a campaign whose answers taught the rule."""
    everyone = [old, *reused_by(connection, old)]
    if set(rule.learnt_from) & seals_of(connection, everyone):
        raise InvalidInput(
            "a rule must be certified by answers that it was not learnt from",
            f"the rule that the answers of {name!r} taught",
            "leave out --reuse, or reuse another campaign",
        )
