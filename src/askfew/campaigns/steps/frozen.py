"""The rule that a campaign goes by, once it is frozen."""

from __future__ import annotations

from collections.abc import Sequence

from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.steps import plans_after_learning
from askfew.campaigns.settings import Settings
from askfew.rule import Rule

__all__ = ["frozen_rule"]


def frozen_rule(
    connection: Connection, campaign: int, settings: Settings, questions: Sequence[str]
) -> Rule | None:
    """The one that was given, or the one that was frozen in some step; by the questions' ids."""
    if settings.rule is not None:
        return settings.rule
    # It stands in the first step of its phase.
    for plan in plans_after_learning(connection, campaign):
        if plan.kind == "freeze":
            rule = Rule.from_dict(plan.facts["rule"])
            places = rule.places(range(len(questions)))
            return rule.renamed([questions[place] for place in places])
    return None
