"""Where the store is, for every command about campaigns."""

from pathlib import Path

import pytest

from commands import Command


def test_the_store_may_come_from_the_environment(
    birds: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKFEW_STORE", "sqlite:///elsewhere.db")
    code, _, err = birds("status")
    assert code == 2
    assert "no file elsewhere.db" in err
    assert birds("create", "birds")[0] == 0
    assert Path("elsewhere.db").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("list",),
        ("ask", "birds", "--worker", "ann"),
        ("tell", "1-0-0-ab", "1"),
        ("result", "birds"),
        ("doctor",),
    ],
)
def test_looking_creates_no_store(command: tuple[str, ...], askfew: Command) -> None:
    code, out, err = askfew(*command)
    assert (code, out) == (2, "")
    assert err.startswith("askfew: the store must exist, got no file askfew.db")
    assert list(Path().iterdir()) == []
