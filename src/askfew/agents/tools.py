"""The tools, as an agent sees them. Their docstrings are all it reads, so they say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from askfew import __version__
from askfew.agents.backends import Backend
from askfew.errors import AskfewError, MissingExtra

__all__ = ["serve_tools"]

_INSTRUCTIONS = """\
askfew sorts items into groups from as few noisy answers as possible and ends with a certificate. \
'create' begins a campaign; then 'ask' for questions, answer each of them with 'tell' by its id, \
and ask again until the state is ended; 'result' has the groups and the certificate. Answer every \
question for itself and afresh, also when the same one comes again: repeated answers that were \
copied void the certificate."""


def serve_tools(backend: Backend) -> None:
    """Serve on standard input and output until the client hangs up."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise MissingExtra(
            "serving agents needs the package mcp", "none", "pip install 'askfew[mcp]'"
        ) from error
    server = MCPServer(
        "askfew", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING"
    )

    @contextmanager
    def sentences() -> Iterator[None]:
        """What goes wrong is a sentence for the agent; anything else would be kept from it."""
        try:
            yield
        except AskfewError as error:
            raise ToolError(str(error)) from error

    @server.tool()
    @sentences()
    def create(
        settings: dict[str, Any], items: list[dict[str, Any]], questions: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Create a campaign (owner).

        settings: {"name": ..., "delta": 0.05, "method": "rule" or "frugal", "max_answers": ...,
        "answers_per_worker_and_cell": how often one worker may answer the same question about the
        same item (set it high if you alone answer), "guidelines": ...}. items: [{"id", "text"}],
        at least two; "group" only if it is known. questions: [{"id", "text"}], asked of any item;
        yes/no unless settings["answers"] is {"scale": [1, 5]} or {"number": {"sigma": 1}}.
        """
        return backend.create(settings, items, questions)

    @server.tool()
    @sentences()
    def about(campaign: str) -> dict[str, Any]:
        """What one must know before answering: the kind of answers, and the guidelines."""
        return backend.about(campaign)

    @server.tool()
    @sentences()
    def ask(campaign: str, n: int = 10) -> dict[str, Any]:
        """Get up to n questions to answer, each with an id that is yours until it expires.

        No questions and the state running: nothing is open for you just now; ask again later.
        """
        return backend.ask(campaign, n)

    @server.tool()
    @sentences()
    def tell(campaign: str, id: str, answer: bool | float | str) -> dict[str, Any]:  # noqa: A002
        """Answer a question by its id; telling it twice counts once.

        Whether it counts is in "ok", and why not in "message".
        """
        return backend.tell(campaign, id, answer)

    @server.tool()
    @sentences()
    def skip(campaign: str, id: str, reason: str = "") -> dict[str, Any]:  # noqa: A002
        """Leave a question to somebody else, if you cannot tell. Not because of the answer."""
        return backend.skip(campaign, id, reason)

    @server.tool()
    @sentences()
    def status(campaign: str) -> dict[str, Any]:
        """Where a campaign stands: phase, answers, money, workers, what is left (owner)."""
        return backend.status(campaign)

    @server.tool()
    @sentences()
    def result(campaign: str) -> dict[str, Any]:
        """The groups found or so far, with the certificate or without one (owner).

        Only items whose state is "certified" are promised; a guess is a guess.
        """
        return backend.result(campaign)

    server.run("stdio")
