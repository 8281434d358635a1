"""Commands in an empty folder; a store there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from askfew.campaigns.store import Store
from commands import Command, command

URL = "sqlite:///askfew.db"


@pytest.fixture
def askfew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    return command(tmp_path, monkeypatch, capfd)


@pytest.fixture
def store(askfew: Command) -> Iterator[Store]:
    opened = Store(URL)
    yield opened
    opened.close()
