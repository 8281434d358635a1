"""Log in, or come in by a link; then a list of campaigns.

The owner finds all campaigns of the store, a person those they are invited to. A link is somebody's
own, or one by which many sign up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from askfew.campaigns.db.queries.answers import totals_by_campaign
from askfew.campaigns.db.queries.campaigns import all_campaigns
from askfew.campaigns.db.queries.contents import anchors_by_campaign, item_counts
from askfew.campaigns.steps.advance import GOING
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.access.authenticator import Authenticator, sent_by_another_site
from askfew.web.access.dependencies import Entered, OpenedCampaigns, Owner
from askfew.web.access.invitations import campaigns_of, sign_up, signing_up
from askfew.web.links import link_of
from askfew.web.pages.rendering import address, page
from askfew.web.pages.words import Ending, ending_of
from askfew.web.problems import Refused

__all__ = ["CampaignLine", "campaign_lines", "come_in", "router"]

router = APIRouter()
_GONE = (
    "It may have been replaced by a newer one, have run out, or have been copied only in part."
    " Ask whoever sent it to you for a new one."
)


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
    """All campaigns, newest first, by a few queries however large they are."""
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
                ending_of(row.state, row.stored_outcome, anchors.get(row.id, ())),
                size.get(row.id, 0),
                count,
                row.settings_dict["max_answers"],
                cost,
            )
        )
    return lines


@router.get("/")
def home(request: Request, authenticator: Entered) -> Response:
    """The list. Who is invited finds their own, and is not asked for the owner's token."""
    try:
        caller = authenticator.owner(request)
    except Refused:
        if not authenticator.knows_person(request):
            raise
        return RedirectResponse("/mine", 303)
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


@router.get("/i/{token}")
def invited(request: Request, authenticator: Entered, token: str, watch: str = "") -> Response:
    """A link with a token in it: a person's own, or the owner's, who may ``watch`` a campaign."""
    try:
        return come_in(request, authenticator, token, watch)
    except Refused as refused:
        return _no_link(request, refused)


@router.get("/mine")
def mine(request: Request, authenticator: Entered) -> Response:
    """All campaigns that a person is invited to."""
    store: Store = request.app.state.store
    caller = authenticator.person(request)
    assert caller.worker is not None
    found = campaigns_of(store, caller.worker)
    going = [each for each in found if each.state in GOING]
    over = [each for each in found if each.state not in GOING]
    return page(request, "mine.html", caller, worker=caller.worker, going=going, over=over)


@router.get("/join/{token}")
def join_form(request: Request, authenticator: Entered, token: str) -> Response:
    """Ask for a name."""
    try:
        return _join(request, authenticator, token)
    except Refused as refused:
        return _no_link(request, refused)


@router.post("/join/{token}")
def join(
    request: Request, authenticator: Entered, token: str, worker: Annotated[str, Form()] = ""
) -> Response:
    """Let a person in by the name they give, and show them their own link.

    Another site must not do it: a browser would answer under a name that somebody else chose.
    """
    if sent_by_another_site(request):
        raise Refused(403, "only this site's own page signs up: open the link again")
    name = worker.strip()
    try:
        campaign, _ = _open_link(request, authenticator, token)
        campaigns: OpenedCampaigns = request.app.state.campaigns
        own = sign_up(campaigns.get(campaign), token, name)
    except InvalidInput as error:
        return _join(
            request, authenticator, token, str(error) if name else "Give a name first", name
        )
    except Refused as refused:
        return _no_link(request, refused)
    # Logged in at once: somebody who closes the page before they copy their link could not come
    # back under their name.
    session = authenticator.enter(request, own)
    link = link_of(request, own)
    response = page(
        request, "joined.html", session.caller, campaign=campaign, worker=name, link=link
    )
    session.set_on(response)
    return response


def come_in(
    request: Request, authenticator: Authenticator, token: str, watch: str = ""
) -> Response:
    """Open a session, and redirect to the page that its holder will want."""
    session = authenticator.enter(request, token)
    worker = session.caller.worker
    if worker is not None:
        there = _where(request.app.state.store, worker)
    else:
        there = address("campaigns", watch) if watch else "/"
    response = RedirectResponse(there, 303)
    session.set_on(response)
    return response


def _where(store: Store, worker: str) -> str:
    """The only campaign that is open; the list if there are several, or none."""
    going = [each.name for each in campaigns_of(store, worker) if each.state in GOING]
    return address("answer", going[0]) if len(going) == 1 else "/mine"


def _open_link(request: Request, authenticator: Authenticator, token: str) -> tuple[str, bool]:
    found = signing_up(request.app.state.store, token)
    if found is None:
        # Counted as any wrong token is: a program must not try links at full speed.
        authenticator.note_wrong_token(request, token)
        raise Refused(401, _GONE)
    return found


def _join(
    request: Request, authenticator: Authenticator, token: str, sentence: str = "", worker: str = ""
) -> Response:
    campaign, room = _open_link(request, authenticator, token)
    status = 422 if sentence else 200
    context = {"campaign": campaign, "room": room, "sentence": sentence, "worker": worker}
    return page(request, "join.html", None, status, **context)


def _no_link(request: Request, refused: Refused) -> Response:
    # Those sentences speak of tokens, and somebody who opened a link knows of none.
    gone = refused.status_code in (401, 403)
    return page(
        request,
        "message.html",
        status=refused.status_code,
        title="This link does not work",
        sentence=_GONE if gone else refused.detail,
    )
