import json
import sys
from pathlib import Path

import pytest

from askfew.cli.demo import table
from commands import Command


def test_both_stories_are_told(askfew: Command, tmp_path: Path) -> None:
    code, out, err = askfew("demo")
    assert code == 0
    assert err == "Picture saved as askfew-demo.png\n"
    assert (tmp_path / "askfew-demo.png").stat().st_size > 10_000
    assert "every label is right" in out
    assert "one if these add up to more than 0, else zero:" in out
    assert "x (dark at row " in out
    assert "certified: on that side of the rule" in out
    assert "asking everything" in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_the_document_has_both(askfew: Command) -> None:
    code, out, _ = askfew("demo", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["outcome"]["status"] == "done"
    table = found["table"]
    assert table["outcome"]["groups"] == ["zero", "one"]
    assert table["certified_right"] > 0.95
    assert table["guesses_right"] > 0.9


def test_without_scikit_learn_the_second_story_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert table.run_table(7, 0.05) is None
