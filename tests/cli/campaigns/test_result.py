"""``askfew result``."""

import csv
import json
from pathlib import Path

import pytest

from askfew.campaigns.folder.template import write_template
from bird_campaign import answer_all, change, document
from commands import Command


def test_result_as_a_table(birds: Command) -> None:
    answer_all()
    story = birds("result", "birds")[1]
    assert "group 0 (4): mallard, puffin, swan, penguin" in story
    assert "This assumes:" in story
    rows = list(csv.DictReader(birds("result", "birds", "--format", "csv")[1].splitlines()))
    assert [row["group"] for row in rows] == ["0"] * 4 + ["1"] * 4
    assert all(int(row["answers"]) > 0 for row in rows)
    for ending in ("csv", "json", "parquet"):
        code, out, err = birds("result", "birds", "--out", f"found.{ending}")
        assert (code, out, err) == (0, "", f"Wrote found.{ending}\n")
    assert list(csv.DictReader(Path("found.csv").read_text().splitlines())) == rows
    found = json.loads(Path("found.json").read_text())
    assert found == document(birds("result", "birds", "--json"))
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table("found.parquet").to_pylist()
    assert [row["item"] for row in table] == [row["item"] for row in rows]
    assert list(table[0]) == list(rows[0])
    assert {row["state"] for row in table} == {"certified"}


def test_a_campaign_by_rule(askfew: Command) -> None:
    """As the template is: anchors and a rule of one's own come with the folder."""
    write_template("birds")
    change("birds", "answers_per_worker_and_cell = 1", "answers_per_worker_and_cell = 1000")
    assert askfew("create", "birds")[0] == 0
    before = askfew("result", "birds")[1]
    assert "which promises" in before
    assert "No certificate yet: the campaign has not ended." in before
    answer_all()
    story = askfew("result", "birds")[1]
    assert "birds, done: every item is certified" in story
    assert story.index("The rule:") < story.index("group 0 (4):")
    assert "Does this bird swim?: yes more often than" in story
    assert "8 labels are right about the rule below" in " ".join(story.split())
    code, rule, _ = askfew("export", "birds", "--format", "rule")
    assert code == 0
    Path("birds/rule.json").write_text(rule)
    change("birds", 'name = "birds"', 'name = "applied"\nrule = "rule.json"')
    code, _, err = askfew("create", "birds", "--reuse", "birds")
    assert code == 2
    assert "a rule must be certified by answers that it was not learnt from" in err
    assert askfew("create", "birds")[0] == 0
    answer_all("applied")
    assert document(askfew("result", "applied", "--json"))["status"] == "done"


def test_result_before_the_end(birds: Command) -> None:
    said = birds("result", "birds")[1].replace("\n", " ")
    assert "undecided (8; with a guess, which promises nothing): mallard" in said
    assert "birds, so far (running): search: compare " in said
    assert "mostly [" not in said  # items by their ids, as in the status
    assert birds("result", "birds", "--format", "parquet")[0] == 2
    assert birds("result", "birds", "--out", "found.xls")[0] == 2
