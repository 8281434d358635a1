"""Invitations of workers, by the owner."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Request

from askfew.web.access.dependencies import Owner
from askfew.web.access.invitations import invitations_of, invite, revoke
from askfew.web.api import bodies
from askfew.web.api.documents import Invitation, Invitations, Invited
from askfew.web.opened import Opened
from askfew.web.problems import Refused

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{name}/invitations", tags=["invitations"])


@router.get("")
def list_invitations(_: Owner, campaign: Opened) -> Invitations:
    """Who was invited; tokens are shown only once, when they are made."""
    listed = [Invitation(**asdict(each)) for each in invitations_of(campaign)]
    return Invitations(invitations=listed)


@router.post("", status_code=201)
def invite_worker(request: Request, _: Owner, campaign: Opened, body: bodies.Invite) -> Invited:
    """Make a link for a worker; an older one of theirs is good no more."""
    token = invite(campaign, body.worker)
    return Invited(worker=body.worker, token=token, link=f"{request.base_url}i/{token}")


@router.delete("/{worker:path}", status_code=204)
def revoke_worker(_: Owner, campaign: Opened, worker: str) -> None:
    """Let a worker in no more. Their answers stay."""
    if not revoke(campaign, worker):
        raise Refused(404, "there is no such worker: check the name")
