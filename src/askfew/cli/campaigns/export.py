"""``askfew export``: answers, open questions, or a whole campaign, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Option

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.exchange.writing import FORMATS, text_of, write_export
from askfew.cli import options
from askfew.cli.campaigns.file_format import by_ending
from askfew.cli.campaigns.store_option import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.output import note, print_json
from askfew.errors import InvalidInput

__all__ = ["export"]

ExportFormat = Literal[
    "csv", "parquet", "crowd-kit", "label-studio", "label-studio-interface", "rule", "campaign"
]
_ENDINGS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "label-studio",
    ".xml": "label-studio-interface",
    ".askfew": "campaign",
}


def export(
    name: Name,
    format: Annotated[  # noqa: A002 (the option is called so)
        ExportFormat | None,
        Option(
            metavar="FORMAT",
            help="csv, parquet: one row an answer. crowd-kit: task, worker, label."
            " label-studio: open questions as tasks; label-studio-interface: how to show them."
            " rule: what was learnt, for new items. campaign: all of it, for another store.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(help="The file; its ending chooses the format.", show_default=False),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Write answers, open questions or a whole campaign to a file.

    The answers are a table of item, question, worker, answer, seconds, cost and time.
    """
    kind = format or (by_ending(out, _ENDINGS) if out is not None else "csv")
    if out is None and (json or not FORMATS[kind].is_text):
        raise InvalidInput(
            f"{'--json' if json else kind} needs a file to write to", "none", "say --out FILE"
        )
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        rows = _write(campaign, kind, out)
        running = campaign.state == "running"
    if json:
        about = {"campaign": campaign.settings.name, "format": kind}
        print_json({**about, "out": str(out), "rows": rows})
    elif out is not None:
        note(f"Wrote {out}")
    if kind == "campaign" and running:
        note(f"{name} goes on here: pause it if it is to go on elsewhere.")


def _write(campaign: Campaign, kind: str, out: Path | None) -> int | None:
    """Write it; how many rows there were, where there are rows."""
    if out is not None:
        return write_export(campaign, kind, out)
    text, rows = text_of(campaign, kind)
    typer.echo(text, nl=False)
    return rows
