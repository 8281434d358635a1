"""Campaigns of the store: list them, create one, look at one."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from fastapi import APIRouter, Request

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.contents import check_contents
from askfew.campaigns.forecast import Sizes, crowd_forecast
from askfew.campaigns.kinds import write_kind
from askfew.campaigns.reading.independence import warnings_about
from askfew.campaigns.reading.results import overview_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings, check_setting, most_groups
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.access.callers import Caller
from askfew.web.access.dependencies import Owner, Worker
from askfew.web.api import bodies, documents
from askfew.web.opened import Opened

__all__ = ["router"]

router = APIRouter(tags=["campaigns"])


@router.get("/campaigns")
def list_campaigns(request: Request, _: Owner) -> documents.Campaigns:
    """All campaigns, oldest first (owner)."""
    return documents.Campaigns(campaigns=overview_of(request.app.state.store))


@router.post("/campaigns", status_code=201)
def create_campaign(request: Request, owner: Owner, body: bodies.Campaign) -> documents.About:
    """Create a campaign, with its first questions open (owner)."""
    store: Store = request.app.state.store
    settings = Settings.from_dict(body.settings.model_dump(exclude_unset=True))
    items = [
        Item(each.id, each.text, _picture(each.image), group=each.group) for each in body.items
    ]
    questions = [Question(each.id, each.text, each.defines) for each in body.questions]
    check_contents(items, questions)
    reuse = None if body.reuse is None else check_setting("name", body.reuse)
    forecast = crowd_forecast(settings, Sizes.of(items, questions))
    return _about(store.create(settings, items, questions, reuse=reuse, forecast=forecast), owner)


@router.get("/campaigns/{name}")
def look_at_campaign(caller: Worker, campaign: Opened) -> documents.About:
    """What a worker must know before answering."""
    return _about(campaign, caller)


def _about(campaign: Campaign, caller: Caller) -> documents.About:
    settings = campaign.settings
    known: dict[str, Any] = {
        "name": settings.name,
        "state": campaign.state,
        "answers": write_kind(settings.answers),
        "guidelines": settings.guidelines,
        "items": len(campaign.items),
        "questions": len(campaign.questions),
        "question_ids": [each.id for each in campaign.questions],
        "groups": most_groups(settings.groups),
        "price": settings.price,
        "lease_seconds": settings.lease_seconds,
        "answers_per_worker_and_cell": settings.answers_per_worker_and_cell,
        "worker": caller.worker,
        "warnings": warnings_about(campaign, caller.worker),
    }
    return documents.About(**known)


def _picture(encoded: str | None) -> bytes | None:
    if encoded is None:
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput(
            "image must be the bytes of a picture as base64", "something else", "encode it"
        ) from None
