"""``askfew tell``: an answer, by the id of the question that was asked."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from askfew.campaigns.slots.intake import UNKNOWN
from askfew.cli import options
from askfew.cli.campaigns.receipts import LeaseId, report_receipt
from askfew.cli.campaigns.store_option import DEFAULT_STORE, StoreUrl, open_store

__all__ = ["tell"]


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
