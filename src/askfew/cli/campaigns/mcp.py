"""``askfew mcp``: campaigns as tools for AI agents."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from askfew.agents.backends import OfServer, OfStore
from askfew.agents.tools import serve_tools
from askfew.cli.campaigns.store_option import DEFAULT_STORE, open_store
from askfew.cli.work.desks import ServerUrl, Token, WorkStore
from askfew.errors import InvalidInput

__all__ = ["mcp"]


def mcp(
    store: WorkStore = None,
    server: ServerUrl = None,
    token: Token = None,
    worker: Annotated[
        str | None,
        Option(help="Under which name the agent answers.", show_default="agent, or the token's"),
    ] = None,
) -> None:
    """Serve campaigns to an AI agent: create, ask, tell, status, result as MCP tools.

    It speaks the Model Context Protocol on standard input and output; an agent's program starts it.
    With --server it may do what the token may: the owner's everything, an invitation's only answer.
    """
    if server is None:
        with open_store(store or DEFAULT_STORE, new=True) as opened:
            serve_tools(OfStore(opened, worker or "agent"))
        return
    if not token:
        raise InvalidInput(
            "a server needs a token", "none", "put it into ASKFEW_TOKEN, or say --token"
        )
    serve_tools(OfServer(server, token, worker))
