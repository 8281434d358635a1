"""``askfew new``: a campaign folder to fill in."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from askfew.campaigns.folder.template import write_template
from askfew.cli import options
from askfew.cli.output import print_json

__all__ = ["new"]


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    json: options.AsJson = False,
) -> None:
    """Create a campaign folder to fill in."""
    files = write_template(folder)
    if json:
        print_json({"folder": str(folder), "files": [str(file) for file in files]})
        return
    typer.echo(f"Created {folder} with {', '.join(file.name for file in files)}.")
    typer.echo(
        "Put your items and questions in the two tables, and read the comments in the settings."
    )
    typer.echo(f"Then: askfew create {quote(str(folder))}")
