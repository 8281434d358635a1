"""Invitations of workers, by the owner."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Request

from askfew.web.access.dependencies import Owner
from askfew.web.access.invitations import invitations_of, invite, invite_all, new_link, revoke
from askfew.web.api import bodies
from askfew.web.api.documents import Invitation, Invitations, Invited, InvitedMany
from askfew.web.links import link_of
from askfew.web.opened import Opened
from askfew.web.problems import Refused

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{name}", tags=["invitations"])


@router.get("/invitations")
def list_invitations(_: Owner, campaign: Opened) -> Invitations:
    """Who was invited; tokens are shown only once, when they are made."""
    listed = [Invitation(**asdict(each)) for each in invitations_of(campaign)]
    return Invitations(invitations=listed)


@router.post("/invitations", status_code=201)
def invite_worker(request: Request, _: Owner, campaign: Opened, body: bodies.Invite) -> Invited:
    """Let a worker in. Whoever has a link keeps it, unless it is to be made ``anew``."""
    token = (new_link if body.anew else invite)(campaign, body.worker)
    return Invited(worker=body.worker, token=token, link=link_of(request, token))


@router.post("/invite-many", status_code=201)
def invite_many(
    request: Request, _: Owner, campaign: Opened, body: bodies.InviteMany
) -> InvitedMany:
    """Let several in at once, or none of them."""
    tokens = invite_all(campaign, body.workers)
    return InvitedMany(
        invited=[
            Invited(worker=name, token=token, link=link_of(request, token))
            for name, token in tokens.items()
        ]
    )


@router.delete("/invitations/{worker:path}", status_code=204)
def revoke_worker(_: Owner, campaign: Opened, worker: str) -> None:
    """Let a worker in no more. Their answers stay."""
    if not revoke(campaign, worker):
        raise Refused(404, "there is no such worker: check the name")
