import json

import pytest

from askfew.cli.output import print_json, progress


def test_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"answers": 3, "mean": None})
    said = capsys.readouterr()
    assert json.loads(said.out) == {"answers": 3, "mean": None}
    assert said.err == ""


def test_nan_is_no_json() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        print_json({"mean": float("nan")})


def test_no_progress_bar_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    watch = progress("runs", 3)
    assert list(watch(iter([1, 2, 3]))) == [1, 2, 3]
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")
