"""The groups, a page of items at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.knowledge import ItemState
from askfew.web.pages.dashboard.view import Details

__all__ = ["Gallery", "Shelf", "Tile", "gallery_of"]

_TILES = 48
UNDECIDED = -1


@dataclass(frozen=True)
class Tile:
    """An item in the gallery; ``strength`` is its evidence as a share of what a label needs."""

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


@dataclass(frozen=True)
class Shelf:
    """A group, or those without one."""

    key: int
    title: str
    size: int


@dataclass(frozen=True)
class Gallery:
    """All shelves, and the page of one of them that is open."""

    shelves: tuple[Shelf, ...]
    open: int
    page: int
    pages: int
    tiles: tuple[Tile, ...]


def gallery_of(campaign: Campaign, details: Details, shelf: int | None, page: int) -> Gallery:
    """The page of the shelf, or of the first that has items; within it the surest come first."""
    standing = details.standing
    labels = standing.labels
    titles = {key: name[:1].upper() + name[1:] for key, name in enumerate(standing.known.names)}
    titles[UNDECIDED] = "Undecided"
    shelves = tuple(Shelf(key, word, int((labels == key).sum())) for key, word in titles.items())
    chosen = next((each for each in shelves if each.key == shelf), None)
    if chosen is None:
        chosen = next(each for each in shelves if each.size)
    members = np.flatnonzero(labels == chosen.key)
    surely = np.array([_rank(details, int(item)) for item in members])
    members = members[np.argsort(-surely, kind="stable")]
    pages = max(1, -(-len(members) // _TILES))
    page = min(max(page, 1), pages)
    shown = members[(page - 1) * _TILES : page * _TILES]
    tiles = tuple(_tile(campaign, details, int(item)) for item in shown)
    return Gallery(shelves, chosen.key, page, pages, tiles)


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
    )
