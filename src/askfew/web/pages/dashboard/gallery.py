"""The groups by name, each with its items: some of every group, or all of one, page by page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.knowledge import ItemState
from askfew.campaigns.records import Flag
from askfew.records import Ints
from askfew.web.pages.dashboard.view import Details

__all__ = ["Gallery", "Shelf", "Tile", "gallery_of"]

_TILES = 48
"""Items on a page of one group: eight rows on a wide screen. A plain choice of layout."""
_FIRST = 12
"""Items of a group that are shown beside the other groups: two rows on a wide screen."""
UNDECIDED = -1


@dataclass(frozen=True)
class Tile:
    """An item in the gallery; ``strength`` is its evidence as a share of what a label needs."""

    number: int
    id: str
    text: str
    image: str | None
    answers: int
    evidence: float | None
    strength: float
    represents: bool
    state: ItemState
    guess: str
    """The name of the likeliest group."""
    confidence: float
    why: str
    """Why it is undecided, as far as that is known."""
    flags: tuple[Flag, ...]


@dataclass(frozen=True)
class Shelf:
    """A group, or the undecided items, with the items that are shown of it."""

    key: int
    title: str
    own_name: str
    """As the method calls the group; nothing for those without."""
    size: int
    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Gallery:
    """All shelves with their first items; or one page of the shelf that is ``open``."""

    shelves: tuple[Shelf, ...]
    open: int | None
    page: int
    pages: int


def gallery_of(campaign: Campaign, details: Details, shelf: int | None, page: int) -> Gallery:
    """The gallery, or one shelf of it. Within a shelf the surest items come first."""
    known = details.standing.known
    groups = zip(known.names, known.own_names, strict=True)
    titles = {key: (name[:1].upper() + name[1:], own) for key, (name, own) in enumerate(groups)}
    if known.outcome is not None and known.rule is None and not (known.labels >= 0).any():
        titles = {}  # no groups were found, so there are none to be shown or named
    titles[UNDECIDED] = ("Undecided", "")
    opened = shelf if shelf in titles else None
    pages = 1
    if opened is not None:
        pages = max(1, -(-int((known.labels == opened).sum()) // _TILES))
        # Items may have left the shelf since the link to this page was made.
        page = min(max(page, 1), pages)
        titles = {opened: titles[opened]}
    shelves = []
    for key, (title, own) in titles.items():
        members = _in_order(details, np.flatnonzero(known.labels == key))
        if key == UNDECIDED and not len(members) and opened is None:
            continue
        first = 0 if opened is None else (page - 1) * _TILES
        shown = members[first : first + (_FIRST if opened is None else _TILES)]
        tiles = tuple(_tile(campaign, details, int(item)) for item in shown)
        shelves.append(Shelf(key, title, own, len(members), tiles))
    return Gallery(tuple(shelves), opened, page, pages)


def _in_order(details: Details, members: Ints) -> Ints:
    surely = np.array([_rank(details, int(item)) for item in members])
    # Stable, so that items with the same evidence do not jump when the page renews itself.
    return members[np.argsort(-surely, kind="stable")]


def _rank(details: Details, item: int) -> float:
    """Representatives and anchors first; then by evidence, or else by the guess."""
    standing = details.standing
    if standing.represents(item) or standing.known.state(item) == "told":
        return np.inf
    evidence = standing.known.evidence
    return float(details.guesses.confidence[item]) if evidence is None else evidence[item]


def _tile(campaign: Campaign, details: Details, item: int) -> Tile:
    shown, standing = campaign.items[item], details.standing
    known, guesses = standing.known, details.guesses
    evidence = None if known.evidence is None else max(known.evidence[item], 0.0)
    represents = standing.represents(item)
    needed = known.threshold or 1.0
    return Tile(
        item,
        shown.id,
        shown.text,
        shown.image,
        int(details.tallies.by_item[item]),
        None if represents else evidence,
        1.0 if represents or known.labels[item] >= 0 else min((evidence or 0.0) / needed, 1.0),
        represents,
        known.state(item),
        known.names[int(guesses.groups[item])],
        float(guesses.confidence[item]),
        known.why_undecided.get(item, ""),
        details.flags.get(item, ()),
    )
