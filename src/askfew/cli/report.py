"""``askfew report``: one HTML file that says what a campaign found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from askfew.campaigns.report import report_html
from askfew.campaigns.store import Store
from askfew.cli import options
from askfew.cli.output import notes, print_json

__all__ = ["report"]


def report(
    name: Annotated[str, Argument(help="The campaign.")],
    store: Annotated[
        str, Option(envvar="ASKFEW_STORE", help="Address of the store.")
    ] = "sqlite:///askfew.db",
    out: Annotated[Path | None, Option(help="Where to write it; NAME.html by default.")] = None,
    json: options.AsJson = False,
) -> None:
    """Write a campaign's report as one self-contained HTML file."""
    opened = Store(store)
    path = out or Path(f"{name}.html")
    path.write_text(report_html(opened.campaign(name)), encoding="utf-8")
    opened.close()
    if json:
        print_json({"campaign": name, "report": str(path)})
    else:
        notes.print(f"Report written to {path}")
