"""What the commands of ``askfew work`` share: options, desks, logging, and the printed report."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from typer import Option

from askfew.cli import options
from askfew.cli.campaigns.store_option import DEFAULT_STORE, open_store
from askfew.cli.output import notes, print_json, report
from askfew.errors import InvalidInput
from askfew.workers.desk import Desk, StoreDesk
from askfew.workers.server_desk import ServerDesk
from askfew.workers.shift import ShiftReport

__all__ = ["USUAL_DESK", "DeskOptions", "ServerUrl", "Token", "WorkStore", "check_token"]

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
    Option(help="Stop after this many seconds without a question.", show_default=False),
]


def check_token(token: str | None) -> str:
    """The token, which a server always needs."""
    if not token:
        raise InvalidInput(
            "a server needs a token", "none", "put it into ASKFEW_TOKEN, or pass --token"
        )
    return token


@dataclass(frozen=True)
class DeskOptions:
    """The options that all workers share: where they work, when they stop, what is printed."""

    idle: Idle = None
    store: WorkStore = None
    server: ServerUrl = None
    token: Token = None
    json: options.AsJson = False

    @property
    def patience(self) -> float:
        """How many seconds a worker waits for a question."""
        return math.inf if self.idle is None else self.idle

    def name(self, wanted: str, usual: str) -> str:
        """The name that a worker answers under: at a server, the invitation may know it."""
        return wanted or ("" if self.server else usual)

    @contextmanager
    def open(self, campaign: str, workers: Sequence[str]) -> Iterator[list[Desk]]:
        """Open a desk for each worker. An empty name means that the token knows the worker."""
        with _logging_work():
            if self.server is None:
                with open_store(self.store or DEFAULT_STORE) as opened:
                    found = opened.campaign(campaign)
                    yield [StoreDesk(found, worker) for worker in workers]
                return
            given = check_token(self.token)
            with ExitStack() as stack:
                desks = [
                    ServerDesk(self.server, given, campaign, worker or None) for worker in workers
                ]
                for desk in desks:
                    stack.callback(desk.close)
                yield list(desks)

    def print(
        self,
        reports: Sequence[ShiftReport],
        more: Mapping[str, object] | None = None,
        *,
        bill: str = "",
    ) -> None:
        """Print a line for each worker and the bill, or one JSON document with ``more`` in it."""
        if self.json:
            print_json({"workers": [asdict(each) for each in reports], **(more or {})})
            return
        for each in reports:
            parts = [f"{each.answered:,} answered"]
            if each.skipped:
                parts.append(f"{each.skipped:,} without an answer")
            if each.handed_back:
                parts.append(f"{each.handed_back:,} handed back")
            if each.refused:
                parts.append(f"{each.refused:,} too late")
            report.print(f"{each.worker}: {', '.join(parts)}; {each.ended}.", markup=False)
        if bill:
            report.print(bill, markup=False)


USUAL_DESK = DeskOptions()


@contextmanager
def _logging_work() -> Iterator[None]:
    """Write the workers' log to standard error; a worker that is stopped aborts the command."""
    handler = logging.StreamHandler(notes.file)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("askfew.workers")
    # Replaced, not added: in tests several commands run in one process, and each line would be
    # written several times.
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    try:
        yield
    except asyncio.CancelledError:
        raise typer.Abort from None
