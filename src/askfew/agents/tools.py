"""The tools of ``askfew mcp``. An agent reads only their docstrings, so those say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from askfew import __version__
from askfew.agents.backends import Backend
from askfew.errors import AskfewError, MissingExtra

__all__ = ["Tools", "serve_tools"]

_INSTRUCTIONS = """\
askfew sorts items into groups from as few noisy answers as possible and ends with a certificate. \
'create' begins a campaign; then 'ask' for questions, answer each of them with 'tell' by its id, \
and ask again until the state is ended; 'result' has the groups and the certificate. Judge every \
question on its own, also when the same one comes again: answers that are copied from earlier ones \
void the certificate."""


class Tools:
    """What an agent may call, one method for each tool."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def create(
        self, settings: dict[str, Any], items: list[dict[str, Any]], questions: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Create a campaign (owner).

        settings: {"name": ..., "delta": 0.05, "method": "rule" or "frugal", "max_answers": ...,
        "answers_per_worker_and_cell": how often one worker may answer the same question about the
        same item (set it high if you alone answer), "guidelines": ...}. items: [{"id", "text"}],
        at least two; "group" only if it is known. questions: [{"id", "text"}], asked of any item;
        yes/no unless settings["answers"] is {"scale": [1, 5]} or {"number": {"sigma": 1}}.
        """
        return self._backend.create(settings, items, questions)

    def about(self, campaign: str) -> dict[str, Any]:
        """What one must know before answering: the kind of answers, and the guidelines."""
        return self._backend.about(campaign)

    def ask(self, campaign: str, n: int = 10) -> dict[str, Any]:
        """Get up to n questions to answer, each with an id that is yours until it expires.

        No questions and the state running: nothing is open for you just now; ask again later.
        """
        return self._backend.ask(campaign, n)

    def tell(self, campaign: str, id: str, answer: bool | float | str) -> dict[str, Any]:  # noqa: A002
        """Answer a question by its id; telling it twice counts once.

        Whether it counts is in "ok", and why not in "message".
        """
        return self._backend.tell(campaign, id, answer)

    def skip(self, campaign: str, id: str, reason: str = "") -> dict[str, Any]:  # noqa: A002
        """Leave a question to somebody else, if you cannot tell. Not because of the answer."""
        return self._backend.skip(campaign, id, reason)

    def status(self, campaign: str) -> dict[str, Any]:
        """Where a campaign stands: phase, answers, money, workers, what is left (owner)."""
        return self._backend.status(campaign)

    def result(self, campaign: str) -> dict[str, Any]:
        """The groups found or so far, with the certificate or without one (owner).

        Only items whose state is "certified" are promised; a guess is a guess.
        """
        return self._backend.result(campaign)


def serve_tools(backend: Backend) -> None:
    """Serve on standard input and output until the client closes them."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise MissingExtra(
            "serving agents needs the package mcp", "none", "pip install 'askfew[mcp]'"
        ) from error
    server = MCPServer(
        "askfew", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    tools = Tools(backend)
    for tool in (
        tools.create,
        tools.about,
        tools.ask,
        tools.tell,
        tools.skip,
        tools.status,
        tools.result,
    ):
        server.add_tool(_telling_errors()(tool))
    server.run("stdio")


@contextmanager
def _telling_errors() -> Iterator[None]:
    """Tell the agent what went wrong. MCP hides the text of any other exception from it."""
    from mcp.server.mcpserver.exceptions import ToolError

    try:
        yield
    except AskfewError as error:
        raise ToolError(str(error)) from error
