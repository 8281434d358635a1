"""``askfew export`` and ``import``."""

import csv
import json
from pathlib import Path

import pytest

from bird_campaign import answer_all, change, document
from commands import Command


@pytest.mark.parametrize("kind", ["csv", "parquet", "crowd-kit"])
def test_answers_go_out_and_into_another_campaign(kind: str, birds: Command) -> None:
    pytest.importorskip("pyarrow")
    spent = answer_all(guess_odd=False)  # so that it does not matter which answer comes first
    file = f"answers.{'parquet' if kind == 'parquet' else 'csv'}"
    about = document(birds("export", "birds", "--format", kind, "--out", file, "--json"))
    assert about == {"campaign": "birds", "format": kind, "out": file, "rows": spent}
    change("birds", 'name = "birds"', 'name = "again"')
    birds("create", "birds")
    code, out, _ = birds("import", file, "again")
    assert (code, out) == (0, f"{spent} of {spent} answers taken.\n")
    first, second = (document(birds("result", name, "--json")) for name in ("birds", "again"))
    assert second == {**first, "name": "again"}


def test_export_to_standard_output(birds: Command) -> None:
    answer_all(most=3)
    rows = list(csv.DictReader(birds("export", "birds")[1].splitlines()))
    assert rows == []  # the step is open
    tasks = json.loads(birds("export", "birds", "--format", "label-studio")[1])
    assert set(tasks[0]) == {"data"}
    answer_all()
    rows = list(csv.DictReader(birds("export", "birds")[1].splitlines()))
    assert list(rows[0]) == ["item", "question", "worker", "answer", "seconds", "cost", "time"]
    assert birds("export", "birds", "--format", "label-studio-interface")[1].startswith("<View>")
    assert birds("export", "birds", "--json")[0] == 2
    assert birds("export", "birds", "--format", "campaign")[0] == 2
    assert birds("export", "birds", "--out", "a.doc")[0] == 2


def test_a_whole_campaign_moves_to_another_store(birds: Command) -> None:
    answer_all(most=20)
    code, _, err = birds("export", "birds", "--out", "birds.askfew")
    assert code == 0
    assert "goes on here" in err
    there = ("--store", "sqlite:///other.db")
    code, out, _ = birds("import", "birds.askfew", *there)
    assert code == 0
    assert out.startswith("Imported birds: running, 20 answers,")
    own, other = (document(birds("status", "birds", "--json", *where)) for where in ((), there))
    assert other["why"] == own["why"]
    code, _, err = birds("import", "birds.askfew", *there)
    assert code == 2
    assert "name must be new" in err
    assert birds("import", "birds.askfew", "copy", *there)[0] == 0
    assert birds("doctor", *there)[0] == 0


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("mallard,swims,ann,7", "bad.csv line 3: an answer must be yes (True, 1) or no (False, 0)"),
        ("dodo,swims,ann,1", "bad.csv line 3: the item must be one of the campaign's, got 'dodo'"),
        ("mallard,flies,ann,1", "bad.csv line 3: the question must be one of the campaign's"),
    ],
)
def test_bad_answers_are_a_sentence_and_nothing_is_taken(
    row: str, sentence: str, birds: Command
) -> None:
    asked = json.loads(birds("export", "birds", "--format", "label-studio")[1])[0]["data"]
    good = f"{asked['item']},{asked['question']},ann,1"
    Path("bad.csv").write_text(f"item,question,worker,answer\n{good}\n{row}\n")
    code, out, err = birds("import", "bad.csv", "birds")
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: {sentence}")
    assert document(birds("status", "birds", "--json"))["answers"] == 0
    code, out, _ = birds("import", "bad.csv", "birds", "--skip-bad")
    assert code == 1
    assert out.startswith("1 of 2 answers taken.\n1 are ")
    assert "bad.csv line 3" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("none.csv", "birds"), "none.csv: this file must exist"),
        (("none.askfew",), "none.askfew: this file must exist"),
        (("none.json", "birds"), "none.json: this file must exist"),
        (("birds/items.csv", "birds"), "birds/items.csv line 1: "),
        (("birds/items.csv",), "answers are for a campaign"),
        (("birds/campaign.toml", "birds"), "the file's ending must be one of"),
    ],
)
def test_import_of_what_is_not_there(
    arguments: tuple[str, ...], sentence: str, birds: Command
) -> None:
    code, out, err = birds("import", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: {sentence}")
