"""What workers do: ask, tell, skip, release, renew, retract.

The owner may do the same for any worker by naming them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.leases import holder_of
from askfew.campaigns.slots.intake import UNKNOWN, Receipt
from askfew.errors import InvalidInput
from askfew.web.access.dependencies import AdmittingRoute, Opened, Visiting
from askfew.web.access.tokens import Caller
from askfew.web.api import bodies
from askfew.web.api.documents import Assignments, ReceiptDocument, receipt_document
from askfew.web.problems import Refused

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{name}", tags=["answering"], route_class=AdmittingRoute)


@router.post("/ask", response_model=Assignments)
async def ask(visit: Visiting, campaign: Opened, body: bodies.Ask) -> Response:
    """Up to n questions, leased to the worker until they expire."""
    return await visit.served(lambda caller: _ask(caller, campaign, body))


@router.post("/tell", response_model=ReceiptDocument)
async def tell(visit: Visiting, campaign: Opened, body: bodies.Answer) -> Response:
    """Answer a question. Sent again, it counts once and is acknowledged again.

    Only the owner says what it cost: a worker's answers cost the campaign's price.
    """

    def told(caller: Caller) -> Response:
        if body.cost is not None and not caller.is_owner:
            raise Refused(403, "only the owner says what an answer cost: leave out 'cost'")
        amounts = {"seconds": body.seconds, "cost": body.cost}
        tell = partial(campaign.tell, body.id, body.answer, **amounts)
        return _about(caller, campaign, body.id, tell)

    return await visit.served(told)


@router.post("/skip", response_model=ReceiptDocument)
async def skip(visit: Visiting, campaign: Opened, body: bodies.Skip) -> Response:
    """No answer from this worker: someone else is asked."""
    skip = partial(campaign.skip, body.id, body.reason)
    return await visit.served(lambda caller: _about(caller, campaign, body.id, skip))


@router.post("/release", response_model=ReceiptDocument)
async def release(visit: Visiting, campaign: Opened, body: bodies.LeaseBody) -> Response:
    """Hand a question back unanswered."""
    release = partial(campaign.release, body.id)
    return await visit.served(lambda caller: _about(caller, campaign, body.id, release))


@router.post("/renew", response_model=ReceiptDocument)
async def renew(visit: Visiting, campaign: Opened, body: bodies.LeaseBody) -> Response:
    """Keep a question for another lease."""
    renew = partial(campaign.renew, body.id)
    return await visit.served(lambda caller: _about(caller, campaign, body.id, renew))


@router.post("/retract", response_model=ReceiptDocument)
async def retract(visit: Visiting, campaign: Opened, body: bodies.Retract) -> Response:
    """Take back an answer, as long as its step is open, to answer again or skip by ``lease``. An
    answer that is taken back and not replaced in time stands.
    """

    def retracted(caller: Caller) -> Response:
        return _receipt(campaign.retract(body.id, _acting(caller, body.worker)))

    return await visit.served(retracted)


@router.post("/flag", status_code=204)
async def flag_item(visit: Visiting, campaign: Opened, body: bodies.Flag) -> Response:
    """Say that something is wrong with an item. The owner sees it; no answer is touched by it."""

    def flagged(caller: Caller) -> Response:
        campaign.flag(_acting(caller, body.worker), body.item, body.reason)
        return Response(status_code=204)

    return await visit.served(flagged)


def _ask(caller: Caller, campaign: Campaign, body: bodies.Ask) -> Response:
    asked = campaign.ask(_acting(caller, body.worker), body.n, per_item=body.per_item)
    known: dict[str, Any] = {
        # With questions in hand the state is known, and a query is saved.
        "state": "running" if asked else campaign.state,
        "questions": [
            {
                "id": each.id,
                "item": vars(each.item),
                "question": {"id": each.question.id, "text": each.question.text},
                "expires": each.expires,
                "seconds": each.seconds,
            }
            for each in asked
        ],
    }
    return _written(Assignments(**known))


def _acting(caller: Caller, named: str | None) -> str:
    """The worker to act for: a worker acts for themselves, the owner for whom they name."""
    if caller.worker is not None:
        if named not in (None, caller.worker):
            raise Refused(403, "a worker acts for nobody else: leave out 'worker'")
        return caller.worker
    if named is None:
        raise InvalidInput("the owner must name the worker", "none", "send 'worker'")
    return named


def _about(caller: Caller, campaign: Campaign, lease: str, do: Callable[[], Receipt]) -> Response:
    """Do it, unless the lease is another worker's: that is answered as unknown."""
    which = campaign.lease_id(lease)
    if which is not None and caller.worker is not None:
        holder = holder_of(campaign.database, which)
        # The same as for a lease that never was, so that nobody learns what others are asked.
        if holder not in (None, caller.worker):
            return _receipt(UNKNOWN)
    return _receipt(do())


def _receipt(receipt: Receipt) -> Response:
    written = receipt_document(receipt).model_dump_json(exclude_none=True)
    return Response(written, media_type="application/json")


def _written(document: BaseModel) -> Response:
    """As JSON, written here: FastAPI would validate it again, in another thread."""
    return Response(document.model_dump_json(), media_type="application/json")
