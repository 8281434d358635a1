"""``askfew skip``: no answer from this worker."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from askfew.campaigns.slots.intake import UNKNOWN
from askfew.cli import options
from askfew.cli.campaigns.receipts import LeaseId, report_receipt
from askfew.cli.campaigns.store_option import DEFAULT_STORE, StoreUrl, open_store

__all__ = ["skip"]


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
