"""Records of a campaign: items, questions, slots, answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.states import SlotState

__all__ = ["Answer", "CampaignFolder", "Item", "Question", "Slot"]


@dataclass(frozen=True)
class Item:
    """Something to be sorted, shown as a text, a picture, both, or only its id."""

    id: str
    text: str = ""
    image: bytes | None = field(default=None, repr=False)
    image_name: str = ""
    group: str = ""
    """The name of an anchor's group; empty for other items."""

    @property
    def shown(self) -> str:
        """The text for a worker; the id if there is neither text nor picture.

        >>> Item("mallard").shown
        'mallard'
        """
        return self.text if self.text or self.image is not None else self.id


@dataclass(frozen=True)
class Question:
    """A question that may be asked about every item."""

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
    """One answer that a step wants; item and question are numbers."""

    number: int
    item: int
    question: int
    state: SlotState
    worker: str | None
    """Who holds it, or held it until the lease ran out."""


@dataclass(frozen=True)
class Answer:
    """An answer as it is stored; ``id`` is the id of its lease."""

    id: str
    campaign: int
    step: int
    slot: int
    worker: str
    item: int
    question: int
    value: float
    raw: str
    """The answer as the worker sent it."""
    seconds: float | None
    cost: float | None
    time: float
