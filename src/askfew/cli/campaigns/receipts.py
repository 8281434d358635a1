"""What became of something that was sent: a status and a sentence, and an exit code."""

from __future__ import annotations

from typing import Annotated

import typer

from askfew.campaigns.slots.intake import Receipt, Received
from askfew.cli.output import print_json

__all__ = ["LeaseId", "report_receipt"]

LeaseId = Annotated[
    str, typer.Argument(metavar="ID", help="The question's id, from ask.", show_default=False)
]


def report_receipt(lease: str, receipt: Receipt, *, json: bool) -> None:
    """Say it, and leave with exit code 1 if it does not count, 2 if it is no answer at all."""
    if json:
        print_json({"id": lease, "status": receipt.status.value, "message": receipt.message})
    else:
        typer.echo(f"{receipt.status.value}: {receipt.message}")
    if not receipt.ok:
        raise typer.Exit(2 if receipt.status == Received.INVALID else 1)
