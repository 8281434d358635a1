"""What a campaign is about, and what is kept of it: items, questions, slots, answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.states import SlotState

__all__ = ["Answer", "CampaignFolder", "Item", "Question", "Slot"]


@dataclass(frozen=True)
class Item:
    """Something to be sorted: a text, a picture, both, or only its id."""

    id: str
    text: str = ""
    image: bytes | None = field(default=None, repr=False)
    image_name: str = ""
    group: str = ""
    """Of an anchor: the name of the group that it is known to be in."""

    @property
    def shown(self) -> str:
        """The text for a worker; the id where there is neither text nor picture.

        >>> Item("mallard").shown
        'mallard'
        """
        return self.text if self.text or self.image is not None else self.id


@dataclass(frozen=True)
class Question:
    """Something that may be asked of every item."""

    id: str
    text: str
    defines: bool = False
    """Whether it defines the split."""


@dataclass(frozen=True)
class CampaignFolder:
    """A campaign before it is created: items and questions in the order of their files."""

    settings: Settings
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Slot:
    """One answer that is wanted about a cell (item, question), both by their numbers."""

    number: int
    item: int
    question: int
    state: SlotState
    worker: str | None
    """Who has it, or had it until their lease ran out."""


@dataclass(frozen=True)
class Answer:
    """An answer as it is kept; ``id`` is its lease's."""

    id: str
    campaign: int
    step: int
    slot: int
    worker: str
    item: int
    question: int
    value: float
    raw: str
    """As it was said."""
    seconds: float | None
    cost: float | None
    time: float
