"""The people of a campaign: how much and how well they answer, and how they are invited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, UploadFile
from starlette.responses import Response

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.gold import GoldScore
from askfew.errors import InvalidInput
from askfew.web.access import invitations
from askfew.web.access.dependencies import Opened, Owner
from askfew.web.access.invitations import invitations_of
from askfew.web.links import link_of, only_here, site_of
from askfew.web.pages.dashboard.view import Details
from askfew.web.pages.rendering import page

__all__ = ["InvitedPerson", "Person", "people_of", "router"]


@dataclass(frozen=True)
class Person:
    """A worker, or somebody invited who has not come yet."""

    name: str
    came: bool
    answers: int
    seconds: float | None
    skips: int
    agreement: float | None
    leases: int
    revoked: bool
    gold: GoldScore | None

    @property
    def skipped(self) -> float:
        """The share of skips."""
        return self.skips / max(self.skips + self.answers, 1)


def people_of(campaign: Campaign, details: Details) -> list[Person]:
    """Workers and invited people; those with the most answers come first."""
    tallies = details.tallies
    workers = [
        Person(
            each.name,
            True,
            each.answers,
            each.seconds,
            tallies.skips.get(each.name, 0),
            tallies.agreement.get(each.name),
            each.leases,
            each.revoked,
            details.gold.get(each.name),
        )
        for each in details.standing.status.workers
    ]
    known = {each.name for each in workers}
    invited = [
        Person(each.worker, False, 0, None, 0, None, 0, each.revoked, None)
        for each in invitations_of(campaign)
        if each.worker not in known
    ]
    return sorted(workers, key=lambda each: (each.revoked, -each.answers)) + invited


router = APIRouter(prefix="/campaigns/{name}")


@dataclass(frozen=True)
class InvitedPerson:
    """An invited person and their new link; None if they have a link already."""

    name: str
    link: str | None


@router.post("/invite")
def invite(
    request: Request,
    caller: Owner,
    campaign: Opened,
    names: Annotated[str, Form()] = "",
    names_file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Links for all of them, shown once."""
    table = b"" if names_file is None else names_file.file.read()
    return _invited(
        request,
        caller,
        campaign,
        lambda: invitations.invite_all(campaign, invitations.read_names(names, table)),
    )


@router.post("/invite/anew")
def invite_anew(
    request: Request, caller: Owner, campaign: Opened, worker: Annotated[str, Form()] = ""
) -> Response:
    """A new link for one person; the page says that the old one ends."""
    return _invited(
        request, caller, campaign, lambda: {worker: invitations.new_link(campaign, worker)}
    )


def _invited(
    request: Request,
    caller: Owner,
    campaign: Opened,
    make: Callable[[], Mapping[str, str | None]],
) -> Response:
    """The links that were made, or why there are none."""
    people, sentence = [], ""
    try:
        people = [InvitedPerson(name, link_of(request, token)) for name, token in make().items()]
    except InvalidInput as error:
        sentence = str(error)
    return page(
        request,
        "dashboard/invited.html",
        caller,
        settings=campaign.settings,
        people=people,
        local=only_here(request),
        sentence=sentence,
    )


@router.get("/parts/open-link")
def open_link(request: Request, caller: Owner, campaign: Opened) -> Response:
    """The part of the page about the open link."""
    return _open_link(request, caller, campaign)


@router.post("/open-link")
def make_open_link(
    request: Request, caller: Owner, campaign: Opened, most: Annotated[str, Form()] = ""
) -> Response:
    """Make a link by which ``most`` people may sign up. It is shown once; an older one ends."""
    try:
        try:
            wanted = int(most.replace(",", ""))
        except ValueError:
            raise InvalidInput(
                "the number of people who may sign up must be a whole number",
                repr(most),
                "enter one",
            ) from None
        token = invitations.make_open_link(campaign, wanted)
    except InvalidInput as error:
        return _open_link(request, caller, campaign, sentence=str(error))
    return _open_link(request, caller, campaign, link=f"{site_of(request)}/join/{token}")


@router.post("/open-link/close")
def close_open_link(request: Request, caller: Owner, campaign: Opened) -> Response:
    """End the open link."""
    invitations.close_open_link(campaign)
    return _open_link(request, caller, campaign)


def _open_link(
    request: Request, caller: Owner, campaign: Opened, link: str = "", sentence: str = ""
) -> Response:
    return page(
        request,
        "dashboard/open_link.html",
        caller,
        settings=campaign.settings,
        open_link=invitations.open_link_of(campaign),
        link=link,
        local=only_here(request),
        sentence=sentence,
    )
