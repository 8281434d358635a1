import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from askfew.campaigns.folder.load import read_folder
from askfew.campaigns.folder.template import write_template
from askfew.campaigns.settings import Settings
from askfew.errors import InvalidInput


def test_it_reads_back(tmp_path: Path) -> None:
    files = write_template(tmp_path / "birds")
    assert sorted(files) == sorted((tmp_path / "birds").iterdir())
    campaign = read_folder(tmp_path / "birds")
    assert campaign.settings.name == "birds"
    assert len(campaign.items) == 8
    assert len(campaign.questions) == 5
    assert all(item.text and item.image is None for item in campaign.items)


def test_every_setting_is_there_below_its_comment(tmp_path: Path) -> None:
    write_template(tmp_path)
    text = (tmp_path / "campaign.toml").read_text()
    usual = Settings("x").to_dict()
    written = [name for name, value in usual.items() if value is not None]
    assert list(tomllib.loads(text)["campaign"]) == written
    with_examples = re.sub(r"^# (?=[a-z_]+ = )", "", text, flags=re.MULTILINE)
    assert list(tomllib.loads(with_examples)["campaign"]) == list(usual)
    for before, line in pairwise(with_examples.splitlines()):
        if " = " in line and not line.startswith("#"):
            assert before.startswith("# ")


def test_its_settings_are_the_defaults_but_for_price_and_guidelines(tmp_path: Path) -> None:
    write_template(tmp_path / "x")
    settings = read_folder(tmp_path / "x").settings
    assert settings == Settings("x", price=settings.price, guidelines=settings.guidelines)


@pytest.mark.parametrize("name", ['a"b', "a\\b", "-", "x" * 81, "a\nb"])
def test_an_odd_folder_does_not_name_the_campaign(tmp_path: Path, name: str) -> None:
    write_template(tmp_path / name)
    assert read_folder(tmp_path / name).settings.name == "my campaign"


def test_folders_above_are_made_and_an_empty_one_is_used(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_template(tmp_path / "empty")
    write_template(tmp_path / "a" / "b")
    assert read_folder(str(tmp_path / "a" / "b")).settings.name == "b"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(InvalidInput, match="new or an empty folder, got one with files in it"):
        write_template(tmp_path)
    with pytest.raises(InvalidInput, match="new or an empty folder, got a file"):
        write_template(tmp_path / "notes")
    assert [file.name for file in tmp_path.iterdir()] == ["notes"]


def test_a_place_where_no_folder_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="a folder must be writable here"):
        write_template(tmp_path / "file" / "below")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InvalidInput, match="loop: this must be a new or an empty folder"):
        write_template(tmp_path / "loop")
