"""``askfew store``: the database itself."""

from __future__ import annotations

import typer

from askfew.campaigns.store import Store
from askfew.cli import options
from askfew.cli.campaigns.opening import DEFAULT_STORE, StoreUrl, check_there, said_plainly
from askfew.cli.help import Command, Group
from askfew.cli.output import print_json

__all__ = ["store_app"]

store_app = typer.Typer(cls=Group, help="Look after the database that holds the campaigns.")


@store_app.callback()
def _about() -> None:
    """Look after the database that holds the campaigns."""


@store_app.command(cls=Command)
def upgrade(store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Bring a store's tables to this askfew's version; nothing is lost."""
    check_there(store)
    with said_plainly(store):
        before, after = Store.upgrade(store)
    if json:
        print_json({"before": before, "after": after, "upgraded": before != after})
    elif before == after:
        typer.echo(f"The store is of version {after} already.")
    else:
        typer.echo(f"Upgraded from version {before or '(empty)'} to {after}.")
