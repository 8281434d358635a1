import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from askfew import cli
from askfew.campaigns.folder.load import read_folder
from askfew.errors import InvalidInput


def new(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["new", *arguments])


def test_it_says_what_to_do_next_in_three_lines(tmp_path: Path) -> None:
    folder = tmp_path / "my birds"
    result = new(str(folder))
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 3
    assert f"askfew create '{folder}'" in result.stdout
    assert read_folder(folder).settings.name == "my birds"


def test_json_names_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "birds"
    result = new(str(folder), "--json")
    files = [str(folder / name) for name in ("campaign.toml", "items.csv", "questions.csv")]
    assert json.loads(result.stdout) == {"folder": str(folder), "files": files}
    assert all(Path(file).is_file() for file in files)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    assert new(str(tmp_path)).exit_code == 0
    before = (tmp_path / "items.csv").read_bytes()
    assert isinstance(new(str(tmp_path)).exception, InvalidInput)
    assert (tmp_path / "items.csv").read_bytes() == before


def test_bad_usage_has_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "argv", ["askfew", "new", str(tmp_path)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"askfew: {tmp_path}: this must be a new or an empty folder")
    assert new().exit_code == 2


def test_help_says_what_it_does() -> None:
    assert "Create a campaign folder to fill in." in new("--help").stdout
