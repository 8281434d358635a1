"""What a campaign's answers say, for people: groups, questions by what they separate, workers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.answers import count_by_worker_and_item, seconds_by_worker
from askfew.campaigns.db.queries.campaigns import get_campaign
from askfew.campaigns.db.queries.steps import answers_by_phase
from askfew.campaigns.flags import Flag, flags_of
from askfew.campaigns.gold import GoldScore, gold_scores
from askfew.campaigns.naming import in_names
from askfew.campaigns.reading.independence import qualified
from askfew.campaigns.reading.item_answers import AnsweredQuestion, answers_by_item
from askfew.campaigns.reading.knowledge import ItemState, Knowledge, guesses_of, knowledge_of
from askfew.campaigns.reading.split import Split, split_of
from askfew.campaigns.reading.status import CampaignStatus, status_of
from askfew.campaigns.reading.tallies import RankedQuestion, tallies_of
from askfew.estimates.guesses import Guesses
from askfew.records import Ints

__all__ = ["LabelledItem", "Report", "WorkerShare", "findings_of"]


_MOST_LISTED = 20_000
"""Answers that are listed one by one: a report of more would be too large for a browser. Chosen."""


@dataclass(frozen=True)
class LabelledItem:
    """An item, its group (None while undecided), a guess, and what speaks for it."""

    id: str
    text: str
    image: str | None
    group: int | None
    state: ItemState
    guess: str
    """The name of the likeliest group."""
    confidence: float
    """Its estimated probability."""
    why: str
    """Why it is undecided, as far as that is known."""
    evidence: float | None
    answers: int
    represents: bool
    """Whether it stands for its group: others are labelled by not being like it, or like it."""


@dataclass(frozen=True)
class WorkerShare:
    """What one worker contributed, and the largest part they have in any item's answers."""

    name: str
    answers: int
    skips: int
    seconds: float | None
    agreement: float | None
    """Share of their answers, on the best question, that fall on the side of the item's label."""
    largest_share: float
    revoked: bool
    reused: int
    """Answers of theirs that were taken over from another campaign."""


@dataclass(frozen=True)
class Report:
    """All that a report shows."""

    status: CampaignStatus
    outcome: dict[str, Any] | None
    certificate_text: str | None
    """The warnings, and the promise; None where nothing is promised."""
    known: Knowledge
    threshold: float | None
    items: tuple[LabelledItem, ...]
    questions: tuple[RankedQuestion, ...]
    workers: tuple[WorkerShare, ...]
    by_phase: dict[str, int]
    imported: bool
    """Whether it came from another store."""
    split: Split | None
    """Which questions carry the groups, which agree, which do not."""
    gold: dict[str, GoldScore]
    """By worker, as far as they answered gold questions."""
    flags: list[Flag]
    answered: list[tuple[str, tuple[AnsweredQuestion, ...]]] | None
    """Who answered what, by item; None where there are too many answers for a page."""

    @property
    def groups(self) -> list[tuple[str, list[LabelledItem]]]:
        """Each group's name, and its items."""
        return [
            (name, [item for item in self.items if item.group == number])
            for number, name in enumerate(self.known.names)
        ]

    @property
    def undecided(self) -> list[tuple[str, list[LabelledItem]]]:
        """Items without a group, by the reason."""
        by_reason: dict[str, list[LabelledItem]] = {}
        for item in self.items:
            if item.group is None:
                by_reason.setdefault(item.why, []).append(item)
        return list(by_reason.items())


def findings_of(campaign: Campaign) -> Report:
    """Read the answers and add them up."""
    status = status_of(campaign)
    with campaign.database.snapshot() as connection:
        known = knowledge_of(connection, campaign)
        guesses = guesses_of(connection, campaign, known)
        phases = answers_by_phase(connection, campaign.id)
        seconds = _median_seconds(connection, campaign.id)
        shares = _largest_shares(connection, campaign.id)
        imported = get_campaign(connection, campaign.id).imported
        split = split_of(connection, campaign, known, guesses)
        gold = gold_scores(connection, campaign.id, campaign.gold_cells())
        flags = flags_of(connection, campaign.id)
        few = status.answers <= _MOST_LISTED
        answered = answers_by_item(connection, campaign) if few else None
    outcome = known.outcome
    tallies = tallies_of(campaign, known.labels)
    return Report(
        status=status,
        outcome=outcome,
        certificate_text=in_names(
            qualified((outcome or {}).get("certificate_text"), status.warnings),
            known.own_names,
            known.groups,
        ),
        known=known,
        threshold=known.threshold,
        items=_labelled(campaign, tallies.by_item, known, guesses),
        questions=tallies.questions,
        workers=tuple(
            WorkerShare(
                name=worker.name,
                answers=worker.answers,
                skips=tallies.skips.get(worker.name, 0),
                seconds=seconds.get(worker.name),
                agreement=tallies.agreement.get(worker.name),
                largest_share=shares.get(worker.name, 0.0),
                revoked=worker.revoked,
                reused=worker.reused,
            )
            for worker in status.workers
        ),
        by_phase=phases,
        imported=imported is not None,
        split=split,
        gold=gold,
        flags=flags,
        answered=answered,
    )


def _median_seconds(connection: Connection, campaign: int) -> dict[str, float]:
    """By worker, where it is known how long their answers took."""
    rows = seconds_by_worker(connection, campaign)
    return {
        worker: float(np.median([seconds for _, seconds in theirs]))
        for worker, theirs in groupby(rows, key=itemgetter(0))
    }


def _largest_shares(connection: Connection, campaign: int) -> dict[str, float]:
    """By worker: the largest part they have in the answers about any item that has two."""
    rows = count_by_worker_and_item(connection, campaign)
    by_item: Counter[int] = Counter()
    for _, item, times in rows:
        by_item[item] += times
    shares: dict[str, float] = {}
    for worker, item, times in rows:
        if by_item[item] >= 2:
            shares[worker] = max(times / by_item[item], shares.get(worker, 0.0))
    return shares


def _labelled(
    campaign: Campaign, answered: Ints, known: Knowledge, guesses: Guesses
) -> tuple[LabelledItem, ...]:
    certificate = (known.outcome or {}).get("certificate") or {}
    representatives = certificate.get("representatives", ())
    return tuple(
        LabelledItem(
            item.id,
            item.text,
            item.image,
            int(known.labels[i]) if known.labels[i] >= 0 else None,
            known.state(i),
            known.names[int(guesses.groups[i])],
            float(guesses.confidence[i]),
            known.why_undecided.get(i, ""),
            known.evidence[i] if known.evidence else None,
            int(answered[i]),
            i in representatives,
        )
        for i, item in enumerate(campaign.items)
    )
