"""Where ``askfew work`` works: options for a store or a server, and the desks they open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Annotated

from typer import Option

from askfew.cli.campaigns.store_option import DEFAULT_STORE, open_store
from askfew.errors import InvalidInput
from askfew.workers.desk import Desk
from askfew.workers.server_desk import ServerDesk
from askfew.workers.store_desk import StoreDesk

__all__ = ["Idle", "ServerUrl", "Token", "WorkStore", "open_desks"]

WorkStore = Annotated[
    str | None,
    Option(
        "--store",
        envvar="ASKFEW_STORE",
        metavar="URL",
        help="The campaign's store.",
        show_default=DEFAULT_STORE,
    ),
]
ServerUrl = Annotated[
    str | None,
    Option("--server", metavar="URL", help="Work for this server instead of a store."),
]
Token = Annotated[
    str | None,
    Option(
        envvar="ASKFEW_TOKEN",
        help="For a server: the owner's, or an invitation's. Better in the environment.",
        show_default=False,
        show_envvar=True,
    ),
]
Idle = Annotated[
    float | None,
    Option(help="Stop after so many seconds without a question.", show_default=False),
]


@contextmanager
def open_desks(
    campaign: str, store: str | None, server: str | None, token: str | None, workers: Sequence[str]
) -> Iterator[list[Desk]]:
    """A desk for each of the workers; no name at all is for the token to know."""
    if server is None:
        with open_store(store or DEFAULT_STORE) as opened:
            found = opened.campaign(campaign)
            yield [StoreDesk(found, worker) for worker in workers]
        return
    if not token:
        raise InvalidInput(
            "a server needs a token", "none", "put it into ASKFEW_TOKEN, or say --token"
        )
    with ExitStack() as stack:
        desks = [ServerDesk(server, token, campaign, worker or None) for worker in workers]
        for desk in desks:
            stack.callback(desk.close)
        yield list(desks)
