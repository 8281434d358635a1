"""The report: one HTML file that shows what was found, how sure it is, and who answered."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from askfew.answer_warnings import sentence
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.answers import largest_shares, median_seconds
from askfew.campaigns.db.queries.campaigns import get_campaign
from askfew.campaigns.db.queries.contents import find_picture
from askfew.campaigns.db.queries.steps import answers_by_phase
from askfew.campaigns.db.queries.workers import flags_of
from askfew.campaigns.gold import GoldScore, gold_scores
from askfew.campaigns.naming import in_names
from askfew.campaigns.reading.independence import qualified
from askfew.campaigns.reading.knowledge import (
    ItemState,
    Knowledge,
    cells_of,
    guesses_of,
    knowledge_of,
)
from askfew.campaigns.reading.split import Split, split_of
from askfew.campaigns.reading.status import CampaignStatus, status_of
from askfew.campaigns.reading.tallies import (
    AnsweredQuestion,
    RankedQuestion,
    answers_by_item,
    tallies_of,
)
from askfew.campaigns.records import Flag, StoredOutcome
from askfew.estimates.guesses import Guesses
from askfew.records import Ints
from askfew.wording import chance, counted, money

__all__ = ["ItemList", "LabelledItem", "Report", "WorkerShare", "report_html", "report_of"]

_MOST_LISTED = 20_000
"""The most answers that are listed one by one: with more, the page is too large for a browser. A
plain choice."""
_MOST_FITTED = 10_000
"""The most items that guesses are fitted to. A plain choice: the levels of this many items are as
good as known, and 100,000 would take two seconds more (benchmarks/scale.md). ``askfew result`` fits
all."""
_MOST_ITEMS = 500
"""The most items of a group that are listed; ``askfew result`` has all. A plain choice: nobody
reads more, and a report of 100,000 items would take minutes to open."""


@dataclass(frozen=True)
class LabelledItem:
    """An item, a guess of its group, and the evidence for it."""

    id: str
    text: str
    image: str | None
    state: ItemState
    guess: str
    """The name of the likeliest group."""
    confidence: float
    """Its estimated probability."""
    evidence: float | None
    answers: int
    represents: bool
    """Whether it represents its group: other items are compared with it to be labelled."""


@dataclass(frozen=True)
class ItemList:
    """Items of one group, or items undecided for one reason: their number, and the first ones."""

    title: str
    count: int
    items: tuple[LabelledItem, ...]


@dataclass(frozen=True)
class WorkerShare:
    """What one worker contributed, and their largest share in the answers about one item."""

    name: str
    answers: int
    skips: int
    seconds: float | None
    agreement: float | None
    """The share of their answers to one question that fall on the side of the item's label."""
    largest_share: float
    revoked: bool
    reused: int
    """How many of their answers come from a reused campaign."""


@dataclass(frozen=True)
class Report:
    """All that a report shows."""

    status: CampaignStatus
    outcome: StoredOutcome | None
    certificate_text: str | None
    """The warnings, then the promise; None if nothing is promised."""
    known: Knowledge
    threshold: float | None
    groups: tuple[ItemList, ...]
    undecided: tuple[ItemList, ...]
    """Items without a group, by reason."""
    questions: tuple[RankedQuestion, ...]
    workers: tuple[WorkerShare, ...]
    by_phase: dict[str, int]
    imported: bool
    """Whether the campaign was imported from another store."""
    split: Split | None
    """Which questions carry the groups, which agree, which do not."""
    looked_at: int
    """Items that the guesses and the split were measured on."""
    gold: dict[str, GoldScore]
    """The scores of workers who answered gold questions."""
    flags: list[tuple[str, Flag]]
    """Each flag with the id of its item."""
    answered: list[tuple[str, tuple[AnsweredQuestion, ...]]] | None
    """Who answered what, by item; None if there are too many answers for a page."""


def report_of(campaign: Campaign) -> Report:
    """Collect everything that the report shows."""
    status = status_of(campaign)
    with campaign.database.snapshot() as connection:
        known = knowledge_of(connection, campaign)
        cells = cells_of(connection, campaign).sums()
        looked_at = _looked_at(known)
        some = cells.where(np.isin(cells.item, looked_at))
        guesses = guesses_of(connection, campaign, known, some)
        phases = answers_by_phase(connection, campaign.id)
        seconds = median_seconds(connection, campaign.id)
        shares = largest_shares(connection, campaign.id)
        imported = get_campaign(connection, campaign.id).imported
        split = split_of(connection, campaign, known, guesses, some)
        gold = gold_scores(connection, campaign.id, campaign.gold_cells())
        flags = flags_of(connection, campaign.id)
        few = status.answers <= _MOST_LISTED
        answered = answers_by_item(connection, campaign) if few else None
    outcome = known.outcome
    tallies = tallies_of(campaign, known.labels, cells)

    def listed(title: str, items: Ints) -> ItemList:
        shown = items[:_MOST_ITEMS].tolist()
        labelled = _labelled(campaign, shown, tallies.by_item, known, guesses)
        return ItemList(title, len(items), labelled)

    return Report(
        status=status,
        outcome=outcome,
        certificate_text=in_names(
            qualified(None if outcome is None else outcome.certificate_text, status.warnings),
            known.own_names,
            known.groups,
        ),
        known=known,
        threshold=known.threshold,
        groups=tuple(
            listed(name, np.flatnonzero(known.labels == number))
            for number, name in enumerate(known.names)
        ),
        undecided=tuple(listed(why, items) for why, items in _undecided(known)),
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
        looked_at=len(looked_at),
        gold=gold,
        flags=[(campaign.items[flag.item].id, flag) for flag in flags],
        answered=answered,
    )


def _looked_at(known: Knowledge) -> Ints:
    """The items that guesses and the split rest on: all, or the listed and evenly spread ones."""
    if len(known.labels) <= _MOST_FITTED:
        return np.arange(len(known.labels))
    listed = [items[:_MOST_ITEMS] for _, items in _undecided(known)]
    spread = np.linspace(0, len(known.labels) - 1, _MOST_FITTED).astype(np.int64)
    return np.unique(np.concatenate([spread, *listed]))


def _undecided(known: Knowledge) -> list[tuple[str, Ints]]:
    """Items without a group, by reason."""
    by_reason: dict[str, list[int]] = {}
    for item in np.flatnonzero(known.labels < 0).tolist():
        by_reason.setdefault(known.why_undecided.get(item, ""), []).append(item)
    return [(why, np.array(items)) for why, items in by_reason.items()]


def _labelled(
    campaign: Campaign, shown: list[int], answered: Ints, known: Knowledge, guesses: Guesses
) -> tuple[LabelledItem, ...]:
    representatives = () if known.outcome is None else known.outcome.representatives
    return tuple(
        LabelledItem(
            campaign.items[i].id,
            campaign.items[i].text,
            campaign.items[i].image,
            known.state(i),
            known.names[int(guesses.groups[i])],
            float(guesses.confidence[i]),
            known.evidence[i] if known.evidence else None,
            int(answered[i]),
            i in representatives,
        )
        for i in shown
    )


def report_html(campaign: Campaign) -> str:
    """The report as HTML, pictures included. Texts of items are always escaped."""
    environment = Environment(
        loader=PackageLoader("askfew.campaigns.reading"),
        autoescape=True,
        undefined=StrictUndefined,  # a misspelt name fails instead of showing nothing
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "counted": counted,
        "money": money,
        "chance": chance,
        "sentence": sentence,
    }
    found = report_of(campaign)
    return environment.get_template("report.html").render(
        settings=campaign.settings,
        found=found,
        pictures=_pictures(campaign, found),
        written=datetime.fromtimestamp(campaign.clock(), UTC),
    )


def _pictures(campaign: Campaign, found: Report) -> dict[str, str]:
    """The pictures of all listed items as data URLs, by hash."""
    listed = [item.image for each in (*found.groups, *found.undecided) for item in each.items]
    pictures = {}
    with campaign.database.read() as connection:
        for hash_ in {image for image in listed if image is not None}:
            picture = find_picture(connection, hash_)
            assert picture is not None
            content = base64.b64encode(picture.content).decode()
            pictures[hash_] = f"data:{picture.kind};base64,{content}"
    return pictures
