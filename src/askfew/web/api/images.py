"""Pictures of a campaign's items, by hash, and no others."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from askfew.campaigns.db.queries.contents import find_picture
from askfew.web.access.dependencies import Worker
from askfew.web.opened import Opened
from askfew.web.problems import Refused

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{name}/images", tags=["answering"])

_KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")
_FILE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}


@router.get(
    "/{digest}",
    response_class=Response,
    responses={200: {"content": dict.fromkeys(_KINDS, _FILE)}},
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
    kept = {"Cache-Control": "private, max-age=31536000, immutable", "ETag": f'"{digest}"'}
    return Response(picture.content, media_type=picture.kind, headers=kept)
