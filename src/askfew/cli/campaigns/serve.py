"""``askfew serve`` and ``askfew mcp``: campaigns for people in a browser, and for AI agents."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer
from typer import Option

from askfew.agents.backends import ServerBackend, StoreBackend
from askfew.agents.tools import serve_tools
from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, StoreUrl, open_store
from askfew.cli.output import print_json
from askfew.cli.work.desks import ServerUrl, Token, WorkStore, check_token
from askfew.errors import MissingExtra

__all__ = ["mcp", "serve"]


def serve(
    store: StoreUrl = DEFAULT_STORE,
    host: Annotated[str, Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65_535, help="0 for any free one.")] = 8080,
    behind_tls: Annotated[
        bool,
        Option(
            "--behind-tls",
            help="There is a proxy with TLS in front: cookies are sent over TLS only.",
        ),
    ] = False,
    without_tls: Annotated[
        bool, Option("--without-tls", help="Let other machines connect without TLS.")
    ] = False,
    url: Annotated[
        str | None,
        Option(metavar="URL", help="The public address of the server; links begin with it."),
    ] = None,
    workers: Annotated[
        int,
        Option(min=1, max=64, help="Server processes. One is enough for dozens of people."),
    ] = 1,
    json: options.AsJson = False,
) -> None:
    """Serve pages and the HTTP API over the campaigns of a store.

    The first start makes the owner's token and prints it once. Several servers, also of several
    machines, may serve the same PostgreSQL store.
    """
    try:
        from askfew.web import server
        from askfew.web.access.tokens import first_token
        from askfew.web.links import check_url
    except ImportError as error:
        raise MissingExtra(
            "serving needs the packages fastapi and uvicorn", "none", "pip install 'askfew[web]'"
        ) from error
    server.check_host(host, behind_tls=behind_tls, without_tls=without_tls)
    links = None if url is None else check_url(url)
    interrupted = suppress(KeyboardInterrupt)  # Ctrl-C is how a server ends
    with interrupted, open_store(store, new=True) as opened, server.bound(host, port) as listening:
        token, address = first_token(opened), server.address(listening)
        if json:
            told = {"address": address, "owner_token": token, "url": links, "workers": workers}
            print_json(told)
        else:
            _say(address, token, links)
        if workers == 1:
            server.serve(opened, listening, behind_tls=behind_tls, url=links)
        else:
            opened.close()  # every process opens the store by itself
            server.serve_many(store, listening, workers, behind_tls=behind_tls, url=links)


def _say(address: str, token: str | None, links: str | None) -> None:
    if token is not None:
        typer.echo(f"The owner's token, shown this once: {token}")
        typer.echo("Keep it; 'askfew token reset' makes another.")
    typer.echo(f"Open {address}/login (Ctrl-C ends the server).")
    if links is not None:
        typer.echo(f"Invitations begin with {links}.")


def mcp(
    store: WorkStore = None,
    server: ServerUrl = None,
    token: Token = None,
    worker: Annotated[
        str | None,
        Option(help="The name that the agent answers under.", show_default="agent, or the token's"),
    ] = None,
) -> None:
    """Serve campaigns to an AI agent: create, ask, tell, status, result as MCP tools.

    It speaks the Model Context Protocol on standard input and output; an agent's program starts it.
    With --server it may do what the token may: the owner's everything, an invitation's only answer.
    """
    if server is None:
        with open_store(store or DEFAULT_STORE, new=True) as opened:
            serve_tools(StoreBackend(opened, worker or "agent"))
        return
    serve_tools(ServerBackend(server, check_token(token), worker))
