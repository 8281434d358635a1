"""``askfew export``: answers, open questions, or a whole campaign, as a file."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Option

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.exchange.exporting import (
    LONG_COLUMNS,
    crowd_kit_rows,
    label_studio_tasks,
    long_rows,
)
from askfew.campaigns.exchange.formats import crowd_kit, csv_table, label_studio, parquet_table
from askfew.campaigns.exchange.formats.whole_file import write_whole
from askfew.campaigns.exchange.moving import export_campaign
from askfew.cli import options
from askfew.cli.campaigns.endings import by_ending
from askfew.cli.campaigns.opening import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.output import notes, print_json
from askfew.errors import InvalidInput

__all__ = ["export"]

ExportFormat = Literal[
    "csv", "parquet", "crowd-kit", "label-studio", "label-studio-interface", "campaign"
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
            help="csv, parquet: one row an answer. crowd-kit: task, worker, label."
            " label-studio: open questions as tasks. campaign: all of it, for another store.",
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
    if out is None and (json or kind in ("parquet", "campaign")):
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
        notes.print(f"Wrote {out}", markup=False, soft_wrap=True)
    if kind == "campaign" and running:
        notes.print(f"{name} goes on here: pause it if it is to go on elsewhere.", markup=False)


def _write(campaign: Campaign, kind: str, out: Path | None) -> int | None:
    """Write it; how many rows there were, where there are rows."""
    if kind == "campaign":
        assert out is not None
        export_campaign(campaign, out)
        return None
    if kind == "parquet":
        assert out is not None
        answers = long_rows(campaign)
        parquet_table.write(out, LONG_COLUMNS, answers)
        return len(answers)
    text, rows = _text(campaign, kind)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_whole(out, text.encode())
    return rows


def _text(campaign: Campaign, kind: str) -> tuple[str, int | None]:
    if kind == "csv":
        answers = long_rows(campaign)
        return csv_table.written(LONG_COLUMNS, answers), len(answers)
    if kind == "crowd-kit":
        labels = crowd_kit_rows(campaign)
        return csv_table.written(crowd_kit.COLUMNS, labels), len(labels)
    if kind == "label-studio":
        tasks = label_studio_tasks(campaign)
        return json_format.dumps(tasks, indent=2) + "\n", len(tasks)
    pictures = any(item.image for item in campaign.items)
    settings = campaign.settings
    return label_studio.interface(settings.answers, settings.guidelines, pictures=pictures), None
