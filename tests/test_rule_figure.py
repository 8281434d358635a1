import sys
from pathlib import Path

import pytest

from askfew.errors import MissingExtra
from askfew.rule import Node, Rule

LONG = "Are the legs feathered, as far as one can see them in this photo, or in any other?"


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_rule_of_three_groups_is_drawn(tmp_path: Path, ending: str) -> None:
    below = Node((1, 2), (0.5, -0.8), (0.4, 0.61), (1,), (2,))
    root = Node((0, 2), (0.7, -0.5), (0.48, 0.52), (0,), below)
    rule = Rule(("wings", LONG, "$x_1 is not maths$"), root, ("owl", "hawk", "gull"))
    rule.draw(tmp_path / f"rule.{ending}")
    assert (tmp_path / f"rule.{ending}").stat().st_size > 3_000
    if ending == "svg":
        assert "is not maths" in (tmp_path / "rule.svg").read_text()


def test_without_matplotlib_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtra, match="a figure needs matplotlib"):
        Rule.cut("wings", 0.5).draw(tmp_path / "rule.png")


def test_sides_have_the_names_of_their_groups() -> None:
    rule = Rule.cut("wings", 0.5)
    assert rule.side_names(rule.root) == ("group 0", "group 1")
