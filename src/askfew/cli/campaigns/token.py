"""``askfew token``: what the owner of a store logs in with."""

from __future__ import annotations

import typer

from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, StoreUrl, open_store
from askfew.cli.help import Command, Group
from askfew.cli.output import print_json
from askfew.web.access.owner import reset_token

__all__ = ["token_app"]

token_app = typer.Typer(
    cls=Group, help="Look after the token that the owner of a store logs in with."
)


@token_app.callback()
def _about() -> None:
    """Look after the token that the owner of a store logs in with."""


@token_app.command(cls=Command)
def reset(store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Make a new owner's token; the old one and its sessions are good no more."""
    with open_store(store) as opened:
        token = reset_token(opened)
    if json:
        print_json({"owner_token": token})
    else:
        typer.echo(f"The owner's token, shown this once: {token}")
