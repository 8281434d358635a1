"""``askfew mcp`` before it speaks its protocol; ``tests/agents`` talk to it."""

from pathlib import Path

from commands import Command


def test_a_server_needs_a_token(askfew: Command) -> None:
    code, out, err = askfew("mcp", "--server", "http://127.0.0.1:9")
    assert (code, out) == (2, "")
    assert err.startswith("askfew: a server needs a token, got none: ")


def test_a_store_that_is_none_is_said_before_an_agent_waits(askfew: Command) -> None:
    Path("text.db").write_text("not a database at all, only some text" * 100)
    code, out, err = askfew("mcp", "--store", "sqlite:///text.db")
    assert (code, out) == (2, "")
    assert err.startswith("askfew: the store must be a sound database of askfew's, got ")
