"""``askfew report``: one HTML file that says what a campaign found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from askfew.campaigns.exchange.formats.whole_file import write_whole
from askfew.campaigns.reading.report import report_html
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.output import note, print_json

__all__ = ["report"]


def report(
    name: Name,
    store: StoreUrl = DEFAULT_STORE,
    out: Annotated[Path | None, Option(help="Where to write it; NAME.html by default.")] = None,
    json: options.AsJson = False,
) -> None:
    """Write a campaign's report as one self-contained HTML file."""
    path = out or Path(f"{name}.html")
    with open_store(store) as opened:
        write_whole(path, report_html(opened.campaign(name)).encode())
    if json:
        print_json({"campaign": name, "report": str(path)})
    else:
        note(f"Report written to {path}")
