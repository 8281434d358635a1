"""Campaigns of the store: list them, create one, look at one and at its pictures."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.contents import find_picture
from askfew.campaigns.forecast import Sizes, crowd_forecast
from askfew.campaigns.reading.independence import warnings_about
from askfew.campaigns.reading.results import overview_of
from askfew.campaigns.records import Item, Question, check_contents
from askfew.campaigns.setting_values import read_setting
from askfew.campaigns.settings import Settings, most_groups
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.access.dependencies import Opened, Owner, Worker
from askfew.web.access.tokens import Caller
from askfew.web.api import bodies, documents
from askfew.web.problems import Refused

__all__ = ["router"]

router = APIRouter()
_KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PICTURE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}


@router.get("/campaigns", tags=["campaigns"])
def list_campaigns(request: Request, _: Owner) -> documents.Campaigns:
    """All campaigns, oldest first (owner)."""
    return documents.Campaigns(campaigns=overview_of(request.app.state.store))


@router.post("/campaigns", status_code=201, tags=["campaigns"])
def create_campaign(request: Request, owner: Owner, body: bodies.Campaign) -> documents.About:
    """Create a campaign, with its first questions open (owner)."""
    store: Store = request.app.state.store
    settings = Settings.from_dict(body.settings.model_dump(exclude_unset=True))
    items = [
        Item(each.id, each.text, _picture(each.image), group=each.group) for each in body.items
    ]
    questions = [Question(each.id, each.text, each.defines) for each in body.questions]
    check_contents(items, questions)
    reuse = None if body.reuse is None else read_setting("name", body.reuse)
    forecast = crowd_forecast(settings, Sizes.of(items, questions))
    return _about(store.create(settings, items, questions, reuse=reuse, forecast=forecast), owner)


@router.get("/campaigns/{name}", tags=["campaigns"])
def look_at_campaign(caller: Worker, campaign: Opened) -> documents.About:
    """What a worker must know before answering."""
    return _about(campaign, caller)


def _about(campaign: Campaign, caller: Caller) -> documents.About:
    settings = campaign.settings
    known: dict[str, Any] = {
        "name": settings.name,
        "state": campaign.state,
        "answers": settings.answers.setting,
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


@router.get(
    "/campaigns/{name}/images/{digest}",
    tags=["answering"],
    response_class=Response,
    responses={200: {"content": dict.fromkeys(_KINDS, _PICTURE)}},
)
def image(
    _: Worker, campaign: Opened, digest: Annotated[str, Path(description="The picture's hash.")]
) -> Response:
    """The bytes. A hash never means another picture, so browsers may keep it."""
    picture = None
    if digest in campaign.pictures:
        with campaign.database.read() as connection:
            picture = find_picture(connection, digest)
    if picture is None:
        raise Refused(404, "this campaign has no such picture")
    # private: a proxy that many people share must not hand on what one of them may see.
    kept = {"Cache-Control": "private, max-age=31536000, immutable", "ETag": f'"{digest}"'}
    return Response(picture.content, media_type=picture.kind, headers=kept)
