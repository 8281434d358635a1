import pytest

from askfew.cli.commands import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_the_same_before_and_after_it_is_loaded(name: str) -> None:
    known = COMMANDS[name]
    assert known.name == name
    assert known.load().help.split("\n\n")[0] == known.help
