"""Commands as a terminal would run them, in this process."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askfew import cli
from askfew.campaigns import forecast
from askfew.cli import output

Said = tuple[int, str, str]
Command = Callable[..., Said]


def command(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    columns: int = 200,
) -> Command:
    """In that folder, on a terminal so wide: exit code, standard output and error."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ASKFEW_STORE", raising=False)
    monkeypatch.delenv("ASKFEW_TOKEN", raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    for console in (output.report, output.notes):  # they took the width when they were imported
        monkeypatch.setattr(console, "_width", None)
    monkeypatch.setattr(forecast, "RUNS", 2)

    def run(*arguments: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["askfew", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        said = capfd.readouterr()
        code = caught.value.code or 0
        assert isinstance(code, int)
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return run


def printed_by(*arguments: str) -> str:
    """What a command prints on standard output, in the current folder; it must succeed."""
    result = CliRunner().invoke(cli.app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout
