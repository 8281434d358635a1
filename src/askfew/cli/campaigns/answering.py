"""``askfew ask``, ``tell`` and ``skip``: answer by hand."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from askfew.campaigns.campaign import Assignment
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.intake import UNKNOWN, Receipt, Received
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.output import print_json, report

__all__ = ["LeaseId", "ask", "report_receipt", "skip", "tell"]

LeaseId = Annotated[
    str, typer.Argument(metavar="ID", help="The question's id, from ask.", show_default=False)
]


def report_receipt(lease: str, receipt: Receipt, *, json: bool) -> None:
    """Print the receipt; exit with 1 if the answer does not count, with 2 if it is invalid."""
    if json:
        print_json({"id": lease, "status": receipt.status.value, "message": receipt.message})
    else:
        typer.echo(f"{receipt.status.value}: {receipt.message}")
    if not receipt.ok:
        # An invalid answer can be corrected and told again; a late one cannot.
        raise typer.Exit(2 if receipt.status == Received.INVALID else 1)


_NOTHING = {
    "running": "Nothing for {worker} just now: what is open is with others, or was answered before"
    " by {worker}. Try again later.",
    "paused": "The campaign is paused: 'askfew resume' goes on.",
    "closed": "The campaign is closed.",
    "ended": "The campaign has ended: see 'askfew result'.",
}


def ask(
    name: Name,
    worker: Annotated[str, Option(help="Who will answer.", show_default=False)],
    n: Annotated[int, Option("-n", help="How many questions at most.")] = 1,
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Hand out questions to a worker, to be told or skipped by their id."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        asked = campaign.ask(worker, n)
        state = campaign.state
    settings = campaign.settings
    if json:
        print_json(
            {
                "campaign": settings.name,
                "state": state,
                "worker": worker,
                "answers": settings.to_dict()["answers"],
                "guidelines": settings.guidelines,
                "questions": [asdict(each) for each in asked],
            }
        )
    elif not asked:
        nothing = _NOTHING.get(state, f"The campaign is {state!r}: see 'askfew doctor'.")
        report.print(nothing.format(worker=worker), markup=False)
    else:
        _print(asked, settings)


def _print(asked: list[Assignment], settings: Settings) -> None:
    if settings.guidelines:
        report.print(Text(settings.guidelines))
    caption = f"{settings.answers}: askfew tell ID ANSWER"
    table = Table("id", "item", "question", caption=caption)
    # An id is copied from here, and must stay in one piece.
    table.columns[0].no_wrap = True
    for each in asked:
        picture = " (with a picture)" if each.item.image else ""
        item = each.item.text or each.item.id
        table.add_row(each.id, Text(item + picture), Text(each.question.text))
    report.print(table)
    pictures = {each.item.id: each.item.image for each in asked if each.item.image}
    if pictures:
        report.print("Pictures, at the address where 'askfew serve' runs:")
    for item, digest in pictures.items():
        address = f"/api/v1/campaigns/{quote(settings.name, safe='')}/images/{digest}"
        report.print(f"{item}: {address}", markup=False, soft_wrap=True)


def tell(
    lease: LeaseId,
    answer: Annotated[str, Argument(help="Yes, no, or a number.", show_default=False)],
    seconds: Annotated[
        float | None, Option(min=0, help="How long it took.", show_default=False)
    ] = None,
    cost: Annotated[
        float | None, Option(min=0, help="What it cost, if not the price set.", show_default=False)
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Answer a question; telling it twice counts once.

    Exit code 1 if the answer does not count: it came late, is not possible, or was never asked.
    """
    with open_store(store) as opened:
        campaign = opened.campaign_of(lease)
        receipt = (
            UNKNOWN
            if campaign is None
            else campaign.tell(lease, answer, seconds=seconds, cost=cost)
        )
    report_receipt(lease, receipt, json=json)


def skip(
    lease: LeaseId,
    reason: Annotated[str, Option(help="Kept for the report.")] = "skipped",
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Give a question back unanswered: someone else is asked."""
    with open_store(store) as opened:
        campaign = opened.campaign_of(lease)
        receipt = UNKNOWN if campaign is None else campaign.skip(lease, reason)
    report_receipt(lease, receipt, json=json)
