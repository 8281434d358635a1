"""``askfew pause``, ``resume`` and ``close``: the three switches of a campaign."""

from __future__ import annotations

import typer

from askfew.campaigns.campaign import Campaign
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.output import print_json

__all__ = ["close", "pause", "resume"]


def pause(name: Name, store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Hand out nothing until resumed; answers on their way are still taken."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        campaign.pause()
        _say(campaign, json)


def resume(name: Name, store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """Go on with a paused campaign."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        campaign.resume()
        _say(campaign, json)


def close(name: Name, store: StoreUrl = DEFAULT_STORE, json: options.AsJson = False) -> None:
    """End a campaign for good, with what is known; there is no certificate then."""
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        campaign.close()
        _say(campaign, json)


def _say(campaign: Campaign, json: bool) -> None:
    if json:
        print_json({"campaign": campaign.settings.name, "state": campaign.state})
    else:
        typer.echo(f"{campaign.settings.name} is {campaign.state}.")
