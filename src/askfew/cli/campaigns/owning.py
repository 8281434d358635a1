"""Commands for the owner only: workers, pause and close, the token."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text
from typer import Argument

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.status import WorkerStatus, status_of
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.commands import Command, Group
from askfew.cli.output import print_json, report
from askfew.errors import InvalidInput
from askfew.web.access import invitations
from askfew.web.access.tokens import reset_token

__all__ = ["close", "pause", "resume", "revoke", "token_app", "workers"]


def workers(name: Name, store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """List who has come to a campaign or was invited: answers, questions held, who was revoked."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        come = status_of(campaign).workers
        invited = invitations.invitations_of(campaign)
    there = {each.name for each in come}
    waiting = [each for each in invited if each.worker not in there]
    if json:
        listed = [
            *({**asdict(each), "came": True} for each in come),
            *({"name": each.worker, "revoked": each.revoked, "came": False} for each in waiting),
        ]
        print_json({"campaign": name, "workers": listed})
        return
    table = Table("worker", "answers", "holds", "mean seconds", "note")
    for column in table.columns[1:4]:
        column.justify = "right"
    for each in come:
        table.add_row(
            Text(each.name),
            f"{each.answers:,}",
            f"{each.leases:,}",
            "" if each.seconds is None else f"{each.seconds:.1f}",
            _note(each),
        )
    for guest in waiting:
        table.add_row(Text(guest.worker), "", "", "", "revoked" if guest.revoked else "invited")
    report.print(table)


def revoke(
    name: Name,
    worker: Annotated[str, Argument(metavar="WORKER", help="Their name.", show_default=False)],
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Stop asking a worker: their open questions go to others, their answers count."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        if not invitations.revoke(campaign, worker):
            raise InvalidInput(
                "a worker to be revoked must have come or been invited",
                repr(worker),
                f"see 'askfew workers {name}'",
            )
    if json:
        print_json({"campaign": name, "worker": worker, "revoked": True})
    else:
        typer.echo(f"{worker} gets no more questions. Their answers count.")


def _note(worker: WorkerStatus) -> str:
    if worker.revoked:
        return "revoked"
    return "reused" if 0 < worker.reused == worker.answers else ""


def pause(name: Name, store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Hand out nothing until resumed; answers on their way are still taken."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        campaign.pause()
        _print_state(campaign, json)


def resume(name: Name, store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Go on with a paused campaign."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        campaign.resume()
        _print_state(campaign, json)


def close(name: Name, store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """End a campaign for good: what is certified stays, the rest has guesses."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        campaign.close()
        _print_state(campaign, json)


def _print_state(campaign: Campaign, json: bool) -> None:
    if json:
        print_json({"campaign": campaign.settings.name, "state": campaign.state})
    else:
        typer.echo(f"{campaign.settings.name} is {campaign.state}.")


token_app = typer.Typer(
    cls=Group, help="Look after the token that the owner of a store logs in with."
)


@token_app.callback()
def _about() -> None:
    """Look after the token that the owner of a store logs in with."""


@token_app.command(cls=Command)
def reset(store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Make a new owner's token; the old one and its sessions stop working."""
    with open_store(store) as opened:
        token = reset_token(opened)
    if json:
        print_json({"owner_token": token})
    else:
        typer.echo(f"The owner's token, shown this once: {token}")
