"""What the owner of a campaign does: watch it, pause it, download its results, invite workers."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.calls import Call, CallLimits, admit_call
from askfew.campaigns.exchange.exporting import FORMATS, Format, write_export
from askfew.campaigns.exchange.files import (
    csv_text,
    write_whole,
)
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import RESULT_COLUMNS, CampaignResult, result_of
from askfew.campaigns.reading.status import status_of
from askfew.web.access.dependencies import Opened, Owner
from askfew.web.access.invitations import invitations_of, invite, invite_all, new_link, revoke
from askfew.web.api import bodies
from askfew.web.api.documents import (
    Admission,
    Invitation,
    Invitations,
    Invited,
    InvitedMany,
    StateDocument,
    StatusDocument,
)
from askfew.web.links import link_of
from askfew.web.problems import Refused

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{name}")

_REPORT = Format(".html", "text/html", "the report")
_EXPORTS = {**FORMATS, "report": _REPORT}
_TEXT: dict[str, Any] = {"schema": {"type": "string"}}
_FILE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_TASKS: dict[str, Any] = {"schema": {"type": "array", "items": {"type": "object"}}}
_CONTENT = {each.media_type: _FILE for each in _EXPORTS.values()} | {"application/json": _TASKS}


@router.get("/status", tags=["owning"], response_model=StatusDocument)
def status(_: Owner, campaign: Opened) -> Any:
    """Where the campaign stands."""
    return status_of(campaign).to_dict()


@router.get(
    "/result",
    tags=["owning"],
    response_model=CampaignResult,
    responses={200: {"content": {"text/csv": _TEXT}}},
)
def result(
    _: Owner,
    campaign: Opened,
    format: Literal["json", "csv"] = "json",  # noqa: A002 (the parameter is called so)
) -> Any:
    """The groups found, or so far."""
    found = result_of(campaign)
    if format == "json":
        return found
    table = csv_text(RESULT_COLUMNS, found.rows)
    response = Response(table, media_type="text/csv")
    response.headers["Content-Disposition"] = 'attachment; filename="result.csv"'
    return response


@router.get(
    "/export",
    tags=["owning"],
    response_class=FileResponse,
    responses={200: {"content": _CONTENT}},
)
def export(
    _: Owner,
    campaign: Opened,
    format: Literal[*_EXPORTS] = "csv",  # type: ignore[valid-type]  # noqa: A002
) -> FileResponse:
    """The answers (csv, parquet, crowd-kit), the open questions (label-studio), the whole campaign
    (campaign), or the report, as a file.
    """
    folder = Path(tempfile.mkdtemp(prefix="askfew-export-"))
    clear = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    kind = _EXPORTS[format]
    file = folder / f"export{kind.ending}"
    try:
        if kind is _REPORT:
            write_whole(file, report_html(campaign).encode())
        else:
            write_export(campaign, format, file)
    # Also if the request is cancelled: nobody else would delete the folder.
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    name = f"{campaign.settings.name}{kind.ending}"
    # The file is sent after this function has returned, so the response deletes it.
    return FileResponse(file, media_type=kind.media_type, filename=name, background=clear)


@router.post("/pause", tags=["owning"])
def pause(_: Owner, campaign: Opened) -> StateDocument:
    """Hand out nothing until resumed; answers on their way are still taken."""
    campaign.pause()
    return _state(campaign)


@router.post("/resume", tags=["owning"])
def resume(_: Owner, campaign: Opened) -> StateDocument:
    """Hand out questions again."""
    campaign.resume()
    return _state(campaign)


@router.post("/close", tags=["owning"])
def close(_: Owner, campaign: Opened) -> StateDocument:
    """End the campaign for good, with what is known."""
    campaign.close()
    return _state(campaign)


@router.post("/calls", tags=["owning"])
def admit(_: Owner, campaign: Opened, body: bodies.Call) -> Admission:
    """Count a call to a language model, if the limits allow one more in this minute. All campaigns
    of the store count together. The same id again corrects the tokens.
    """
    most = CallLimits(body.most_requests, body.most_tokens)
    new = Call(campaign.clock(), body.tokens, body.id)
    return Admission(wait=admit_call(campaign.database, new, most))


def _state(campaign: Campaign) -> StateDocument:
    known: dict[str, Any] = {"name": campaign.settings.name, "state": campaign.state}
    return StateDocument(**known)


@router.get("/invitations", tags=["invitations"])
def list_invitations(_: Owner, campaign: Opened) -> Invitations:
    """Who was invited; tokens are shown only once, when they are made."""
    listed = [Invitation(**asdict(each)) for each in invitations_of(campaign)]
    return Invitations(invitations=listed)


@router.post("/invitations", tags=["invitations"], status_code=201)
def invite_worker(request: Request, _: Owner, campaign: Opened, body: bodies.Invite) -> Invited:
    """Invite a worker. A link that they have stays good, unless it is to be made ``anew``."""
    token = (new_link if body.anew else invite)(campaign, body.worker)
    return Invited(worker=body.worker, token=token, link=link_of(request, token))


@router.post("/invite-many", tags=["invitations"], status_code=201)
def invite_many(
    request: Request, _: Owner, campaign: Opened, body: bodies.InviteMany
) -> InvitedMany:
    """Invite several at once, or none of them."""
    tokens = invite_all(campaign, body.workers)
    return InvitedMany(
        invited=[
            Invited(worker=name, token=token, link=link_of(request, token))
            for name, token in tokens.items()
        ]
    )


# path: a worker's name may contain a slash.
@router.delete("/invitations/{worker:path}", tags=["invitations"], status_code=204)
def revoke_worker(_: Owner, campaign: Opened, worker: str) -> None:
    """Lock a worker out. Their answers stay."""
    if not revoke(campaign, worker):
        raise Refused(404, "there is no such worker: check the name")
