"""What is known of a campaign's items: labels from its method, and guesses for the rest.

While the campaign runs, all of it comes from closed steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.campaigns import get_campaign
from askfew.campaigns.db.queries.steps import closed_tallies, newest_step
from askfew.campaigns.naming import named, read_names
from askfew.campaigns.reading.rules import Division, divisions_of, group_word
from askfew.campaigns.records import StoredOutcome
from askfew.campaigns.steps.log import frozen_rule
from askfew.estimates.cells import Cells, CellSums
from askfew.estimates.guesses import Guesses, guess_groups
from askfew.outcome import WHY_UNDECIDED
from askfew.records import Ints, Snapshot
from askfew.rule import Rule

__all__ = ["ItemState", "Knowledge", "cells_of", "guesses_of", "knowledge_of"]

ItemState = Literal["certified", "told", "labelled", "undecided"]
"""certified: the label is promised; told: an anchor; labelled: a label without a promise."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The outcome if there is one, otherwise what the method knew when it last asked."""

    outcome: StoredOutcome | None
    phase: str
    labels: Ints
    """-1 where an item has none."""
    told: Ints
    """The groups of anchors, -1 for other items."""
    evidence: list[float] | None
    threshold: float | None
    """The evidence that a label needs, in nats."""
    question: int | None
    """The question that separates best."""
    groups: tuple[str, ...]
    """The owner's names of the groups."""
    own_names: tuple[str, ...]
    """The method's names of the groups."""
    rule: Rule | None
    """The rule, with the ids of its questions; None while there is none."""
    divisions: tuple[Division, ...]
    """The rule in a form for people."""
    why_undecided: Mapping[int, str]
    """The reason in words, by item, as far as known."""
    promised: bool
    """Whether labels are certified, and no check voids that."""

    def state(self, item: int) -> ItemState:
        """Whether the item's label is certified, told, labelled or undecided."""
        if self.told[item] >= 0:
            return "told"
        if self.labels[item] < 0:
            return "undecided"
        return "certified" if self.promised else "labelled"

    @property
    def names(self) -> list[str]:
        """The groups as sentences name them."""
        return [group_word(name) for name in self.groups]


def knowledge_of(connection: Connection, campaign: Campaign) -> Knowledge:
    """Read what is known from the store."""
    row = get_campaign(connection, campaign.id)
    newest = newest_step(connection, campaign.id)
    outcome = row.stored_outcome
    known = _last_known(campaign.problem.items, outcome, None if newest is None else newest.known)
    labels = known.labels
    rule = _rule(connection, campaign, outcome)
    own = _groups(campaign, rule, outcome, labels)
    told = np.full(campaign.problem.items, -1)
    for item, name in campaign.anchors.items():
        # Anchors have the names of groups, labels have numbers.
        told[item] = own.index(name)
    groups = named(own, read_names(row.names))
    if rule is not None:
        rule = replace(rule, groups=groups)
    texts = {each.id: each.text for each in campaign.questions}
    return Knowledge(
        outcome=outcome,
        phase=known.phase,
        labels=np.where(told >= 0, told, labels),
        told=told,
        evidence=None if known.evidence is None else known.evidence.tolist(),
        threshold=known.threshold,
        question=known.question,
        groups=groups,
        own_names=own,
        rule=rule,
        divisions=() if rule is None else divisions_of(rule, campaign.settings.answers, texts),
        why_undecided=_why_undecided(outcome, row.state, np.where(told >= 0, told, labels)),
        promised=outcome.promised if outcome else rule is not None and row.state != "closed",
    )


def _last_known(items: int, outcome: StoredOutcome | None, asked: Snapshot | None) -> Snapshot:
    """What the method knew at the end; before that, when it last asked."""
    # Before its first step a method knows nothing, and some methods never report labels.
    if asked is None or not len(asked.labels):
        asked = Snapshot("starting", np.full(items, -1))
    if outcome is None:
        return asked
    return Snapshot(
        outcome.status or asked.phase,
        np.array(outcome.labels or [-1] * items, dtype=np.int64),
        None if outcome.evidence is None else np.array(outcome.evidence, dtype=np.float64),
        outcome.needed or asked.threshold,
        outcome.question,
    )


def _why_undecided(outcome: StoredOutcome | None, state: str, labels: Ints) -> dict[int, str]:
    """For every item without a label: the reason in words, from the method or from the end."""
    if outcome is None and state not in ("ended", "closed"):
        return {}
    # A method that was stopped gives no reasons; what it lacked are answers.
    rest = WHY_UNDECIDED["few-answers"]
    said: dict[int, str] = {}
    if outcome is not None:
        # The reason is stored as a key, so that its words can be improved later.
        said = {item: WHY_UNDECIDED[word] for item, word in outcome.undecided.items()}
        if outcome.status == "no-consensus":
            rest = "no split was found"
    return {item: said.get(item, rest) for item in np.flatnonzero(labels < 0).tolist()}


def guesses_of(
    connection: Connection, campaign: Campaign, known: Knowledge, cells: CellSums | None = None
) -> Guesses:
    """A group for every item with its estimated probability, from answers of closed steps.

    ``cells`` may be a part of them, to make it faster.
    """
    outcome = known.outcome
    if outcome is not None and outcome.guesses is not None:
        return Guesses(np.array(outcome.guesses), np.array(outcome.confidence))
    rule = known.rule
    if rule is not None:
        ids = [question.id for question in campaign.questions]
        rule = rule.renamed(rule.places(ids).tolist())
    return guess_groups(
        campaign.problem,
        cells_of(connection, campaign).sums() if cells is None else cells,
        known.labels,
        len(known.groups),
        sure=1 - campaign.settings.delta if known.promised else 0.0,
        identical=campaign.settings.method != "rule",
        rule=rule,
        told=known.told,
    )


def cells_of(connection: Connection, campaign: Campaign) -> Cells:
    """The answers of closed steps, added up by cell."""
    cells = Cells(campaign.problem)
    for batch, tally in closed_tallies(connection, campaign.id):
        cells.add(batch, tally)
    return cells


def _rule(connection: Connection, campaign: Campaign, outcome: StoredOutcome | None) -> Rule | None:
    """The rule of the outcome; before that, the one that was given or frozen."""
    if outcome is not None:
        return None if outcome.rule is None else Rule.from_dict(outcome.rule)
    ids = [question.id for question in campaign.questions]
    return frozen_rule(connection, campaign.id, campaign.settings, ids)


def _groups(
    campaign: Campaign,
    rule: Rule | None,
    outcome: StoredOutcome | None,
    labels: Ints,
) -> tuple[str, ...]:
    if rule is not None:
        return rule.groups
    if campaign.anchors:
        return tuple(dict.fromkeys(campaign.anchors.values()))
    if outcome is not None and outcome.groups:
        return tuple(outcome.groups)
    asked = campaign.settings.groups
    fewest = 2 if asked == "auto" else asked if isinstance(asked, int) else min(asked)
    return tuple(str(each) for each in range(max(fewest, int(labels.max(initial=-1)) + 1)))
