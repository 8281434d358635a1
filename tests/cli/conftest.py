import pytest

from askfew.campaigns.folder.template import write_template
from bird_campaign import change
from commands import Command


@pytest.fixture
def askfew(askfew: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """On a terminal of the usual width."""
    monkeypatch.setenv("COLUMNS", "80")
    return askfew


@pytest.fixture
def wide(askfew: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The same on a terminal so wide that no sentence is wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    return askfew


@pytest.fixture
def birds(askfew: Command) -> Command:
    """A campaign in the default store; few workers are needed for it."""
    write_template("birds")
    change("birds", "answers_per_worker_and_cell = 1", "answers_per_worker_and_cell = 1000")
    change("birds", 'method = "rule"', 'method = "frugal"')
    assert askfew("create", "birds")[0] == 0
    return askfew
