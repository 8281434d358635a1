import sys

import pytest

import askfew
from askfew import cli
from askfew.errors import AnswerFailed, AskfewError, InvalidInput


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["askfew", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return caught.value.code or 0


def test_the_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"askfew {askfew.__version__}\n"


def test_help_names_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--help") == 0
    said = capsys.readouterr()
    assert "simulate" in said.out
    assert "demo" in said.out
    assert said.err == ""


def test_an_unknown_command_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "simulat") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("askfew: No such command 'simulat'")
    assert said.err.count("\n") == 1


def test_bad_usage_names_the_help_of_its_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "work", "llm") == 2
    assert capsys.readouterr().err.endswith("try 'askfew work llm --help'\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("simulate", "--items", "x"), "'--items': Input should be a valid integer"),
        (("serve", "--port", "99999"), "'--port': Input should be less than or equal to 65535"),
    ],
)
def test_a_wrong_value_of_an_option_is_repeated(
    arguments: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert f", got '{arguments[-1]}': try 'askfew {arguments[0]} --help'" in err


@pytest.mark.parametrize(("kind", "code"), [(InvalidInput, 2), (AnswerFailed, 1)])
def test_what_goes_wrong_is_one_sentence_with_its_exit_code(
    kind: type[AskfewError],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def failing(**_: object) -> None:
        raise kind("a spoon was expected", "a fork", "swap them")

    monkeypatch.setattr(cli, "app", failing)
    assert run(monkeypatch) == code
    assert capsys.readouterr().err == "askfew: a spoon was expected, got a fork: swap them\n"


@pytest.mark.parametrize(
    "command",
    [[], ["status"], ["demo"], ["work"], ["work", "llm"], ["store", "upgrade"], ["token"]],
)
def test_flags_stand_alone_in_the_help(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *command, "--help") == 0
    said = capsys.readouterr().out
    assert "--help" in said
    assert "bool" not in said


def test_a_value_that_is_not_among_the_choices_is_one_plain_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "export", "birds", "--format", "xls") == 2
    assert capsys.readouterr().err.startswith(
        "askfew: --format must be one of csv, parquet, crowd-kit"
    )
