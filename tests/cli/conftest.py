from pathlib import Path

import pytest

from askfew.campaigns.folder.template import write_template
from bird_campaign import change
from commands import Command, command


@pytest.fixture
def askfew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """In an empty folder: exit code, standard output and error."""
    return command(tmp_path, monkeypatch, capfd, columns=80)


@pytest.fixture
def birds(askfew: Command) -> Command:
    """A campaign in the default store; few workers are needed for it."""
    write_template("birds")
    change("birds", "answers_per_worker_and_cell = 1", "answers_per_worker_and_cell = 1000")
    change("birds", 'method = "rule"', 'method = "frugal"')
    assert askfew("create", "birds")[0] == 0
    return askfew
