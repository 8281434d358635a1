"""The groups, a page of items at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.tallies import Tallies
from askfew.web.pages.dashboard.standing import Standing

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


def gallery_of(
    campaign: Campaign, standing: Standing, tallies: Tallies, shelf: int | None, page: int
) -> Gallery:
    """The page of the shelf, or of the first that has items; within it the surest come first."""
    labels = standing.labels
    keys = [*range(max(2, int(labels.max()) + 1)), UNDECIDED]
    shelves = tuple(Shelf(key, _title(key), int((labels == key).sum())) for key in keys)
    chosen = next((each for each in shelves if each.key == shelf), None)
    if chosen is None:
        chosen = next(each for each in shelves if each.size)
    members = np.flatnonzero(labels == chosen.key)
    if standing.evidence is not None:
        surely = np.array([_rank(standing, int(item)) for item in members])
        members = members[np.argsort(-surely, kind="stable")]
    pages = max(1, -(-len(members) // _TILES))
    page = min(max(page, 1), pages)
    shown = members[(page - 1) * _TILES : page * _TILES]
    tiles = tuple(_tile(campaign, standing, tallies, int(item)) for item in shown)
    return Gallery(shelves, chosen.key, page, pages, tiles)


def _title(key: int) -> str:
    return "Undecided" if key == UNDECIDED else f"Group {key}"


def _rank(standing: Standing, item: int) -> float:
    if standing.represents(item):
        return np.inf
    return standing.evidence[item] if standing.evidence is not None else 0.0


def _tile(campaign: Campaign, standing: Standing, tallies: Tallies, item: int) -> Tile:
    shown = campaign.items[item]
    evidence = None if standing.evidence is None else max(standing.evidence[item], 0.0)
    represents = standing.represents(item)
    needed = standing.threshold or 1.0
    return Tile(
        shown.id,
        shown.text,
        shown.image,
        int(tallies.by_item[item]),
        None if represents else evidence,
        1.0 if represents else min((evidence or 0.0) / needed, 1.0),
        represents,
    )
