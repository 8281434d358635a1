import pytest

from askfew.cli.commands import COMMANDS
from commands import Command


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_the_same_before_and_after_it_is_loaded(name: str) -> None:
    known = COMMANDS[name]
    assert known.name == name
    assert known.load().help.split("\n\n")[0] == known.help


GROUPS = {"store", "work", "token"}


def test_every_command_explains_itself(askfew: Command) -> None:
    helped = askfew("--help")[1]
    panel = helped[helped.index("Campaigns") :]
    first = list(COMMANDS).index("new")
    for name in list(COMMANDS)[first:]:
        assert f" {name} " in panel
    for name in COMMANDS.keys() - GROUPS - {"mcp"}:  # mcp speaks its own protocol
        code, out, _ = askfew(name, "--help")
        assert code == 0
        assert "--json" in out
    assert "upgrade" in askfew("store", "--help")[1]
