"""``askfew invite``: links by which people come to a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from typer import Argument, Option

from askfew.campaigns.campaign import Campaign
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, Name, StoreUrl, open_store
from askfew.cli.output import notes, print_json
from askfew.errors import InvalidInput
from askfew.web.access.invitations import invite_all, make_open_link, new_link, read_names
from askfew.web.links import check_url, opens_only_here

__all__ = ["invite"]


def invite(
    name: Name,
    people: Annotated[
        list[str] | None, Argument(metavar="PERSON", help="Their names.", show_default=False)
    ] = None,
    file: Annotated[
        Path | None,
        Option(metavar="CSV", help="More names: its column 'name', or else the first one."),
    ] = None,
    anyone: Annotated[
        int | None,
        Option("--open", metavar="N", help="One link by which up to N people sign up by name."),
    ] = None,
    anew: Annotated[
        bool,
        Option("--anew", help="A new link even for those who have one; the old one stops working."),
    ] = False,
    url: Annotated[
        str, Option(metavar="URL", help="The address that people reach the server by.")
    ] = "http://127.0.0.1:8080",
    store: StoreUrl = DEFAULT_STORE,
    json: options.AsJson = False,
) -> None:
    """Make links by which people come to a campaign and answer in a browser.

    A person has one link for all campaigns of a store. Links are shown only once, one per line.
    """
    site = check_url(url)
    names = _names(people or [], file, needed=anyone is None)
    with open_store(store) as opened:
        campaign = opened.campaign(name)
        made = _invite(campaign, names, anew=anew)
        sign_up = None if anyone is None else f"{site}/join/{make_open_link(campaign, anyone)}"
    links = {who: token and f"{site}/i/{token}" for who, token in made.items()}
    only_here = opens_only_here(site)
    if json:
        found = {"campaign": name, "links": links, "open_link": sign_up, "only_here": only_here}
        print_json(found)
    else:
        _say(links, sign_up)
    # On standard error, because the links may be written to a file.
    if only_here and (sign_up or any(links.values())):
        notes.print(
            Text(
                f"These links begin with {site}, which opens on this machine only. For people"
                " elsewhere pass --url with an address that they can reach.",
                style="bold red",
            )
        )


def _names(people: list[str], file: Path | None, *, needed: bool) -> list[str]:
    try:
        table = b"" if file is None else file.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{file}: the file of names must be readable", error.strerror, "check its path"
        ) from None
    if not people and file is None and not needed:
        return []
    return read_names("\n".join(people), table)


def _invite(campaign: Campaign, names: list[str], *, anew: bool) -> dict[str, str | None]:
    if anew:
        return {who: new_link(campaign, who) for who in names}
    return invite_all(campaign, names)


def _say(links: dict[str, str | None], sign_up: str | None) -> None:
    for who, link in links.items():
        if link is not None:
            # Plain, and with a tab: a table of the terminal would wrap long links.
            typer.echo(f"{who}\t{link}")
    if sign_up is not None:
        typer.echo(f"anybody\t{sign_up}")
    known = [who for who, link in links.items() if link is None]
    if known:
        notes.print(
            Text(
                f"Invited by the link that they have already: {', '.join(known)}. Pass --anew"
                " for those who have lost it."
            )
        )
