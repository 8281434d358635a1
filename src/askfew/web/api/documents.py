"""The bodies of responses."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, Field, create_model

from askfew.answer_warnings import AnswerWarning
from askfew.campaigns.reading.results import Overview
from askfew.campaigns.reading.status import CampaignStatus
from askfew.campaigns.slots.intake import Receipt, Received
from askfew.web.api.bodies import AnswersKind

__all__ = [
    "About",
    "Admission",
    "Assignments",
    "Campaigns",
    "Invitation",
    "Invitations",
    "Invited",
    "InvitedMany",
    "ReceiptDocument",
    "State",
    "StateDocument",
    "StatusDocument",
    "receipt_document",
]

State = Literal["running", "paused", "closed", "ended"]


class Campaigns(BaseModel):
    """All campaigns of the store."""

    campaigns: list[Overview]


class About(BaseModel):
    """What a worker must know of a campaign."""

    name: str
    state: State
    answers: AnswersKind
    guidelines: str
    items: int = Field(description="How many.")
    questions: int = Field(description="How many.")
    question_ids: list[str] = Field(description="Their ids, in order.")
    groups: int = Field(description="How many are looked for, at most; 2 if nobody said.")
    price: float
    lease_seconds: float
    answers_per_worker_and_cell: int
    worker: str | None = Field(description="Who asks; null for the owner.")
    warnings: list[AnswerWarning] = Field(
        description="What is wrong with answers; for a worker, their own."
    )


class Item(BaseModel):
    """What the question is about; ``image`` is the hash of a picture."""

    id: str
    text: str
    image: str | None


class Question(BaseModel):
    """What is asked."""

    id: str
    text: str


class Lease(BaseModel):
    """A question put to a worker: tell its ``id`` and the answer before it expires."""

    id: str
    item: Item
    question: Question
    expires: float = Field(description="Seconds since 1970, by the store's clock.")
    seconds: float = Field(description="How long that is from now.")


class Assignments(BaseModel):
    """Questions, none if there is nothing for this worker just now."""

    state: State
    questions: list[Lease]


class ReceiptDocument(BaseModel):
    """What became of something that was sent; not ok is no error, only a status."""

    status: Received
    ok: bool = Field(description="Whether it counts.")
    message: str
    lease: str | None = Field(
        default=None, description="After retract: the id to answer or skip the question by."
    )
    seconds: float | None = Field(
        default=None, description="After renew and retract: how long the question is kept."
    )


def receipt_document(receipt: Receipt) -> ReceiptDocument:
    """A receipt as it is sent."""
    return ReceiptDocument(
        status=receipt.status,
        ok=receipt.ok,
        message=receipt.message,
        lease=receipt.lease,
        seconds=receipt.seconds,
    )


class Admission(BaseModel):
    """Whether a call was counted."""

    wait: float = Field(description="Seconds until it may be tried again; 0: it was counted.")


class StateDocument(BaseModel):
    """The state of a campaign."""

    name: str
    state: State


class Invited(BaseModel):
    """A person who was invited. A token is shown only once, when it is made."""

    worker: str
    token: str | None = Field(
        description="Of their new link; null if they have one, which opens this campaign, too."
    )
    link: str | None


class InvitedMany(BaseModel):
    """Several people who were invited."""

    invited: list[Invited]


class Invitation(BaseModel):
    """An invitation as it stands. Times are seconds since 1970."""

    worker: str
    created: float
    expires: float | None = Field(description="When their link runs out; null without one.")
    revoked: bool
    signed_up: bool = Field(description="Whether they came by the open link.")


class Invitations(BaseModel):
    """All invitations of a campaign, oldest first."""

    invitations: list[Invitation]


def _of_status() -> type[BaseModel]:
    hints = get_type_hints(CampaignStatus)
    known: dict[str, Any] = {each.name: (hints[each.name], ...) for each in fields(CampaignStatus)}
    own: dict[str, Any] = {"reused_answers": (int, ...), "too_few_workers": (bool, ...)}
    return create_model("Status", __doc__=CampaignStatus.__doc__, **known, **own)


StatusDocument = _of_status()
"""What ``CampaignStatus.to_dict`` gives."""
