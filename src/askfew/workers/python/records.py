"""What a function is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cell", "Item", "Question"]


@dataclass(frozen=True)
class Item:
    """The item: its id, its text, and the file of its picture if it has one."""

    id: str
    text: str
    image: Path | None = None


@dataclass(frozen=True)
class Question:
    """The question that is put about the item."""

    id: str
    text: str


@dataclass(frozen=True)
class Cell:
    """One entry of a batch; ``id`` names this very asking of the question about the item."""

    id: str
    item: Item
    question: Question
