"""``askfew store``: the database itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument

from askfew.campaigns.backup import back_up
from askfew.campaigns.backup import restore as fill
from askfew.campaigns.store import Store
from askfew.cli import options
from askfew.cli.campaigns.store_option import (
    DEFAULT_STORE,
    StoreUrl,
    check_there,
    open_store,
    translate_database_errors,
)
from askfew.cli.help import Command, Group
from askfew.cli.output import print_json
from askfew.cli.places import check_writable
from askfew.wording import counted

__all__ = ["store_app"]

store_app = typer.Typer(cls=Group, help="Look after the database that holds the campaigns.")


@store_app.callback()
def _about() -> None:
    """Look after the database that holds the campaigns."""


@store_app.command(cls=Command)
def upgrade(store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Bring a store's tables to this askfew's version; nothing is lost."""
    check_there(store)
    with translate_database_errors(store):
        before, after = Store.upgrade(store)
    if json:
        print_json({"before": before, "after": after, "upgraded": before != after})
    elif before == after:
        typer.echo(f"The store is of version {after} already.")
    else:
        typer.echo(f"Upgraded from version {before or '(empty)'} to {after}.")


@store_app.command(cls=Command)
def backup(
    file: Annotated[Path, Argument(metavar="FILE", help="The copy.", show_default=False)],
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Copy a store as it stands at one moment, also while servers and workers use it.

    The copy is a SQLite file, also of a PostgreSQL store, and needs no other tools.
    """
    check_writable(file)
    with open_store(store) as opened:
        copied = back_up(opened, file)
    _say({"file": str(file), **copied}, f"Wrote {file}", json)


@store_app.command(cls=Command)
def restore(
    file: Annotated[Path, Argument(metavar="FILE", help="The copy.", show_default=False)],
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Fill a new, empty store with what a backup has."""
    with open_store(store, new=True) as opened, translate_database_errors(store):
        copied = fill(opened, file)
    _say({"file": str(file), **copied}, f"Restored {file}", json)


def _say(copied: dict[str, Any], done: str, json: bool) -> None:
    if json:
        print_json(copied)
    else:
        size = f"{counted(copied['campaigns'], 'campaign')}, {counted(copied['answers'], 'answer')}"
        typer.echo(f"{done}: {size}.")
