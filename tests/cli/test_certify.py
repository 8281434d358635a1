import csv
import json
import random
from pathlib import Path

import pytest

import askfew
from askfew.rule import Node, Rule
from commands import Command, command

JUDGE = """
import random
from pathlib import Path
chance = random.Random(3)
def answer(item, question):
    with Path("calls").open("a") as calls:
        calls.write("x")
    known = {"owl": 0.95, "elk": 0.05, "hen": 0.9}
    yes = known[item.text] if item.text else int(item.id) % 2 * 0.9 + 0.05
    return chance.random() < yes
def many(batch):
    return [answer(cell.item, cell.question) for cell in batch]
def short(batch):
    return [1]
def tired(item, question):
    if Path("calls").exists() and len(Path("calls").read_text()) >= 30:
        raise RuntimeError("out of quota")
    return answer(item, question)
async def later(item, question):
    return 1
"""
CUT = ["--cut", "Is it a bird?=0.5"]


@pytest.fixture
def askfew_certify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """``askfew certify`` in a folder with a judge of its own."""
    name = f"judge_{tmp_path.name}"  # modules are imported once
    (tmp_path / f"{name}.py").write_text(JUDGE)
    run = command(tmp_path, monkeypatch, capfd)

    def certify(*arguments: object) -> tuple[int, str, str]:
        return run("certify", *(str(each).replace("judge:", f"{name}:") for each in arguments))

    return certify


def test_one_cut_for_numbered_items(askfew_certify: Command, tmp_path: Path) -> None:
    code, out, err = askfew_certify(
        *CUT, "--ask", "judge:answer", "--items", 8, "--csv", tmp_path / "out.csv"
    )
    assert (code, err) == (0, f"Wrote {tmp_path / 'out.csv'}\n")
    assert 'group 1 if "Is it a bird?" is above 0.5, else group 0' in out
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [row["item"] for row in rows] == [str(number) for number in range(8)]
    assert {row["group"] for row in rows} <= {"0", "1", ""}
    assert all(row["group"] in ("", str(int(row["item"]) % 2)) for row in rows)
    assert sum(row["group"] != "" for row in rows) >= 6


@pytest.mark.parametrize("function", ["judge:answer", "judge:many"])
def test_a_saved_rule_and_items_of_a_file(
    askfew_certify: Command, tmp_path: Path, function: str
) -> None:
    rule = Rule(("wings", "beak"), Node((0, 1), (1.0, 1.0), (0.5, 0.5), (0,), (1,)), ("no", "bird"))
    rule.save(tmp_path / "rule.json")
    (tmp_path / "items.csv").write_text("id,text\na,owl\nb,elk\nc,hen\n")
    code, out, err = askfew_certify(
        tmp_path / "rule.json",
        *("--ask", function, "--items", "items.csv", "--error", "share", "--json"),
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["items"] == ["a", "b", "c"]
    assert found["groups"] == ["no", "bird"]
    assert found["labels"] == [1, 0, 1]
    assert Rule.from_dict(found["rule"]).digest == rule.digest


def test_recorded_answers_need_not_be_complete(askfew_certify: Command, tmp_path: Path) -> None:
    chance = random.Random(1)
    lines = ["item,question,worker,answer"]
    for item, yes in (("a", 0.95), ("b", 0.05), ("c", 0.95), ("d", 0.05)):
        lines += [f"{item},Is it a bird?,w,{int(chance.random() < yes)}" for _ in range(15)]
    lines += ["e,Is it alive?,w,1"]
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")
    code, out, err = askfew_certify(
        *CUT, "--recorded", "answers.csv", "--error", "share", "--json", "--delta", "0.1"
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["labels"] == [1, 0, 1, 0, -1]
    assert found["undecided"] == {"4": "few-answers"}
    code, out, _ = askfew_certify(*CUT, "--recorded", "answers.csv", "--per-cell", 1, "--json")
    assert json.loads(out)["labels"] == [-1] * 5


def test_what_was_answered_before_a_failure_is_not_asked_again(
    askfew_certify: Command, tmp_path: Path
) -> None:
    with_log = [*CUT, "--items", 8, "--log", "kept.json"]
    code, _, err = askfew_certify(*with_log, "--ask", "judge:tired")
    assert code == 1
    assert "out of quota" in err
    assert len((tmp_path / "calls").read_text()) == 30
    code, out, _ = askfew_certify(*with_log, "--ask", "judge:answer", "--json")
    answers = json.loads(out)["answers"]
    assert (code, len((tmp_path / "calls").read_text())) == (0, answers)
    assert askfew_certify(*with_log, "--ask", "judge:answer", "--json")[1] == out
    assert len((tmp_path / "calls").read_text()) == answers


BAD = {
    "": "there must be one rule: a file, or --cut QUESTION=VALUE, got none",
    "rule.json --cut x=0.5": "there must be one rule: a file, or --cut QUESTION=VALUE, got both",
    "nowhere.json --ask judge:answer --items 4": "a rule's file must be JSON, got nowhere.json",
    "--cut x --ask judge:answer --items 4": "--cut must be QUESTION=VALUE, got 'x'",
    "--cut x=high --ask judge:answer --items 4": "--cut must be QUESTION=VALUE, got 'x=high'",
    "--cut x=nan --ask judge:answer --items 4": "a cut must be a finite number, got nan",
    "--cut x=0.5": "answers must come from --ask MODULE:FUNCTION or --recorded FILE, got none",
    "--cut x=0.5 --ask judge:answer --recorded a.csv": "answers must come from --ask",
    "--cut x=0.5 --ask judge:answer": "--ask needs to know the items, got none",
    "--cut x=0.5 --ask judge:answer --items 1": "items must be a whole number, at least 2, got 1",
    "--cut x=0.5 --ask judge:answer --items twice.csv": "twice.csv line 3: each item must have an",
    "--cut x=0.5 --ask judge:nobody --items 4": "the function judge",
    "--cut x=0.5 --ask judge:later --items 4": "the function must not be async",
    "--cut x=0.5 --recorded nowhere.csv": "nowhere.csv: this file must exist",
    "--cut x=0.5 --recorded a.csv": "a rule's questions must be among those that can be asked",
    "--cut q=0.5 --recorded odd.csv": "odd.csv line 2: ",
    "--cut q=0.5 --recorded a.csv --log l.json": "--log keeps what a function answers",
    "--cut x=0.5 --ask judge:answer --items 4 --answers many": "--answers must be yes-no, scale:",
    "--cut x=0.5 --ask judge:answer --items 4 --answers scale:5:1": "a scale needs two ends",
    "--cut x=0.5 --ask judge:answer --items 4 --error some": "error must be 'any' or 'share'",
    "--cut x=0.5 --ask judge:answer --items 4 --per-cell 0": "per_cell, the most answers of any",
    "--cut x=0.5 --ask judge:answer --items 4 --delta 1": "delta, the allowed probability",
    "--cut x=0.5 --ask judge:answer --items 4 --csv no/such.csv": "no/such.csv: a file must be",
    "--cut x=0.5 --ask judge:answer --items 4 --log other.json": "other.json must be of the same",
    "--cut x=0.5 --ask judge:answer --items 4 --log a.csv": "a.csv must hold what --log wrote",
}


@pytest.mark.parametrize("bad", BAD)
def test_what_cannot_be_is_one_sentence(askfew_certify: Command, tmp_path: Path, bad: str) -> None:
    Rule.cut("x", 0.5).save(tmp_path / "rule.json")
    (tmp_path / "twice.csv").write_text("id\na\na\n")
    (tmp_path / "a.csv").write_text("item,question,answer\na,q,1\nb,q,0\n")
    (tmp_path / "odd.csv").write_text("item,question,answer\na,q,maybe\nb,q,0\n")
    log = askfew.Log(askfew.Problem(2, 1))
    names = {"items": ["a", "b"], "questions": ["x"]}
    (tmp_path / "other.json").write_text(json.dumps({**names, "log": log.to_dict()}))
    code, out, err = askfew_certify(*bad.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: {BAD[bad]}")
    assert err.count("\n") == 1


def test_a_batch_that_comes_back_short_is_refused(askfew_certify: Command) -> None:
    code, out, err = askfew_certify(*CUT, "--ask", "judge:short", "--items", 4)
    assert (code, out) == (1, "")
    assert "must return one answer for each question of a batch (" in err
    assert "got 1: " in err
