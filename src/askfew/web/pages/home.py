"""The owner's list of campaigns, and the owner's door: log in, log out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from askfew.campaigns.db.queries.answers import totals_by_campaign
from askfew.campaigns.db.queries.campaigns import all_campaigns
from askfew.campaigns.db.queries.contents import anchors_by_campaign, item_counts
from askfew.campaigns.store import Store
from askfew.web.access.authenticator import sent_by_another_site
from askfew.web.access.dependencies import Entered, Owner
from askfew.web.pages.door import come_in
from askfew.web.pages.rendering import page
from askfew.web.pages.words import Ending, ending_of
from askfew.web.problems import Refused

__all__ = ["CampaignLine", "campaign_lines", "router"]

router = APIRouter()


@dataclass(frozen=True)
class CampaignLine:
    """One campaign in the list."""

    name: str
    ending: Ending
    items: int
    answers: int
    max_answers: int
    cost: float


def campaign_lines(store: Store) -> list[CampaignLine]:
    """All campaigns, newest first, by a query or two whatever their size."""
    with store.database.read() as connection:
        rows = all_campaigns(connection)
        size, anchors = item_counts(connection), anchors_by_campaign(connection)
        given = totals_by_campaign(connection)
    lines = []
    for row in reversed(rows):
        count, cost = given.get(row.id, (0, 0.0))
        lines.append(
            CampaignLine(
                row.name,
                ending_of(row.state, row.outcome_dict, anchors.get(row.id, ())),
                size.get(row.id, 0),
                count,
                row.settings_dict["max_answers"],
                cost,
            )
        )
    return lines


@router.get("/")
def home(request: Request, caller: Owner) -> Response:
    """The list."""
    return page(request, "home.html", caller, lines=campaign_lines(request.app.state.store))


@router.get("/login")
def login_form(request: Request) -> Response:
    """Ask for the owner's token."""
    return page(request, "login.html", sentence="")


@router.post("/login")
def login(request: Request, authenticator: Entered, token: Annotated[str, Form()] = "") -> Response:
    """Let the owner in, or say what is wrong beside the form.

    Another site must not log a browser in: its owner would work in somebody else's name.
    """
    if sent_by_another_site(request):
        raise Refused(403, "only this site's own page logs in: open it, and paste the token there")
    try:
        return come_in(request, authenticator, token.strip())
    except Refused as refused:
        sentence = refused.detail if token.strip() else "Paste the token first."
        return page(request, "login.html", status=refused.status_code, sentence=sentence)


@router.post("/logout")
def logout(request: Request, authenticator: Entered, _: Owner) -> Response:
    """End the owner's session in this browser."""
    response = RedirectResponse("/login", 303)
    authenticator.leave(request, response)
    return response
