"""The commands about campaigns, as a terminal would run them."""

import csv
import itertools
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from askfew.campaigns.folder.template import write_template
from askfew.campaigns.store import Store
from askfew.cli.commands import COMMANDS
from askfew.web.access.invitations import new_link
from commands import Command, Said, command

GROUPS = {"store", "work", "token"}
SWIMMERS = {"mallard", "puffin", "swan", "penguin"}


@pytest.fixture
def askfew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """In an empty folder: exit code, standard output and error."""
    return command(tmp_path, monkeypatch, capfd, columns=80)


@pytest.fixture
def birds(askfew: Command) -> Command:
    """A campaign in the default store; few workers are needed for it."""
    write_template("birds")
    change("birds", "answers_per_worker_and_cell = 1", "answers_per_worker_and_cell = 1000")
    change("birds", 'method = "rule"', 'method = "frugal"')
    assert askfew("create", "birds")[0] == 0
    return askfew


def change(folder: str, old: str, new: str) -> None:
    file = Path(folder) / "campaign.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def document(said: Said, code: int = 0) -> Any:
    assert said[0] == code, said
    return json.loads(said[1])


def answer_all(name: str = "birds", most: int = 10**6, *, guess_odd: bool = True) -> int:
    """Let two people answer by what birds do; returns how many answers they gave."""
    store = Store("sqlite:///askfew.db")
    campaign = store.campaign(name)
    told = 0
    for worker in itertools.cycle(["ann", "bob"]):
        asked = campaign.ask(worker, min(50, most - told)) if told < most else []
        for number, each in enumerate(asked):
            odd = each.question.id in ("night", "song")
            guess = guess_odd and (told + number) % 2 if odd else each.item.id in SWIMMERS
            assert campaign.tell(each.id, int(guess)).ok
        told += len(asked)
        if told == most or campaign.state != "running":
            break
    store.close()
    return told


def test_from_a_folder_to_groups_by_hand(birds: Command) -> None:
    (question,) = document(birds("ask", "birds", "--worker", "ann", "--json"))["questions"]
    assert set(question) == {"id", "item", "question", "expires", "seconds"}
    assert birds("tell", question["id"], "yes", "--seconds", "3.5")[:2] == (
        0,
        "accepted: thank you\n",
    )
    again = document(birds("tell", question["id"], "yes", "--json"))
    assert again == {
        "id": question["id"],
        "status": "already",
        "message": "the first answer to this question counts",
    }
    status = document(birds("status", "birds", "--json"))
    assert (status["answers"], status["cost"], status["leased"]) == (1, 0.02, 0)
    assert status["workers"][0]["seconds"] == 3.5
    (question,) = document(birds("ask", "birds", "--worker", "ann", "--json"))["questions"]
    assert birds("skip", question["id"], "--reason", "dark")[:2] == (0, "accepted: skipped\n")
    answer_all()
    code, out, _ = birds("ask", "birds", "--worker", "ann")
    assert (code, out) == (0, "The campaign has ended: see 'askfew result'.\n")
    found = document(birds("result", "birds", "--json"))
    assert found["status"] == "done"
    groups = {each["item"]: each["group"] for each in found["items"]}
    assert {item for item, group in groups.items() if group == 0} == SWIMMERS
    assert birds("doctor")[0] == 0


@pytest.mark.parametrize(
    ("lease", "answer", "status"),
    [
        ("ID", "maybe", "invalid"),
        ("ID", "2", "invalid"),
        ("1-0-0-0123456789abcdef", "yes", "late"),
        ("1-0-999-0123456789abcdef", "yes", "unknown"),
        ("99-0-0-0123456789abcdef", "yes", "unknown"),
        ("99999999999999999999-0-0-ab", "yes", "unknown"),
        ("1-99999999999999999999-0-ab", "yes", "unknown"),
        ("nonsense", "yes", "unknown"),
        ("", "yes", "unknown"),
    ],
)
def test_a_refused_answer_is_a_status_and_an_exit_code(
    lease: str, answer: str, status: str, birds: Command
) -> None:
    asked = document(birds("ask", "birds", "--worker", "ann", "--json"))["questions"]
    lease = lease.replace("ID", asked[0]["id"])
    expected = 2 if status == "invalid" else 1
    told = document(birds("tell", lease, answer, "--json"), code=expected)
    assert told["status"] == status
    code, out, err = birds("tell", lease, answer)
    assert (code, err) == (expected, "")
    assert out.startswith(f"{status}: ")
    if status != "invalid":
        assert document(birds("skip", lease, "--json"), code=1)["status"] == status


def test_create_says_how_many_workers_are_needed(askfew: Command) -> None:
    write_template("birds")
    change("birds", 'method = "rule"', 'method = "frugal"')
    code, out, err = askfew("create", "birds")
    assert code == 0
    assert "8 items, 5 questions, yes/no answers" in out
    assert "The open step needs" in out
    assert "askfew ask birds --worker YOU" in out
    assert "MANY WORKERS NEEDED" in err
    change("birds", 'name = "birds"', 'name = "more birds"')
    change("birds", "answers_per_worker_and_cell = 1", "answers_per_worker_and_cell = 1000")
    code, out, err = askfew("create", "birds", "--json")
    assert (code, err) == (0, "")
    made = json.loads(out)
    assert made["name"] == "more birds"
    assert made["forecast"]["typical_workers"] == 1
    assert made["forecast"]["typical_answers"] <= made["forecast"]["most_answers"]
    assert made["workers_needed"] == 1


def test_status_says_loudly_that_there_are_too_few_workers(askfew: Command) -> None:
    write_template("birds")
    change("birds", 'method = "rule"', 'method = "frugal"')
    askfew("create", "birds")
    code, out, _ = askfew("status", "birds")
    assert code == 0
    assert "TOO FEW WORKERS: this step needs" in out
    assert "0 of at most 10,000" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "TOO FEW" in askfew("status")[1]


def test_status_of_all_campaigns(birds: Command) -> None:
    change("birds", 'name = "birds"', 'name = "second"')
    birds("create", "birds")
    names = [each["name"] for each in document(birds("status", "--json"))["campaigns"]]
    assert names == ["birds", "second"]
    out = birds("status")[1]
    assert "birds" in out
    assert "second" in out
    listed = document(birds("list", "--json"))["campaigns"]
    assert [each["name"] for each in listed] == names
    assert "second" in birds("list")[1]


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
    assert "undecided (8; with a guess, which promises nothing): mallard" in birds(
        "result", "birds"
    )[1].replace("\n", " ")
    assert birds("result", "birds", "--format", "parquet")[0] == 2
    assert birds("result", "birds", "--out", "found.xls")[0] == 2


def test_pause_resume_close(birds: Command) -> None:
    assert birds("pause", "birds")[:2] == (0, "birds is paused.\n")
    assert "paused" in birds("ask", "birds", "--worker", "ann")[1]
    assert document(birds("resume", "birds", "--json")) == {"campaign": "birds", "state": "running"}
    assert birds("close", "birds")[:2] == (0, "birds is closed.\n")
    code, _, err = birds("resume", "birds")
    assert code == 2
    assert "must be paused, got closed" in err


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


def test_create_with_reuse(birds: Command) -> None:
    spent = answer_all()
    change("birds", 'name = "birds"', 'name = "again"')
    code, out, _ = birds("create", "birds", "--reuse", "birds")
    assert code == 0
    assert f"Took over {spent} answers of birds, given by 2 workers." in out
    again = document(birds("status", "again", "--json"))
    assert (again["cost"], again["reused"], again["reused_answers"]) == (0, "birds", spent)
    _, out, _ = birds("status", "again")
    assert f"{spent} answers of birds, given by " in out
    assert birds("report", "again")[0] == 0
    page = Path("again.html").read_text()
    assert f"{spent} of the answers were taken over from the campaign <b>birds</b>" in page
    assert page.count("(all reused)") == 2
    change("birds", 'name = "again"', 'name = "third"')
    code, _, err = birds("create", "birds", "--reuse", "nobody")
    assert code == 2
    assert "in the same store, got 'nobody'" in err
    assert len(document(birds("list", "--json"))["campaigns"]) == 2


def test_doctor_names_what_is_wrong(birds: Command) -> None:
    answer_all(most=20)
    code, out, _ = birds("doctor")
    assert code == 0
    assert out.startswith("birds: sound (running; ")
    assert out.endswith("Nothing is wrong.\n")
    with sqlite3.connect("askfew.db") as connection:
        connection.execute("UPDATE answers SET value = 1 - value")
    connection.close()
    code, out, _ = birds("doctor")
    assert code == 1
    assert out.startswith("birds: WRONG")
    assert "but its answer says" in out
    found = document(birds("doctor", "--json"), code=1)
    assert found["sound"] is False
    assert len(found["campaigns"][0]["problems"]) == 20
    Path("askfew.db").write_bytes(b"not a database at all, only some text" * 100)
    for file in Path().glob("askfew.db-*"):
        file.unlink()
    assert birds("doctor")[0] == 1
    assert birds("status")[0] == 2


def test_store_upgrade(birds: Command) -> None:
    assert document(birds("store", "upgrade", "--json"))["upgraded"] is False
    assert "already" in birds("store", "upgrade")[1]
    assert birds("store", "upgrade", "--store", "sqlite:///none.db")[0] == 2
    assert not Path("none.db").exists()


def test_the_store_may_come_from_the_environment(
    birds: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKFEW_STORE", "sqlite:///elsewhere.db")
    code, _, err = birds("status")
    assert code == 2
    assert "no file elsewhere.db" in err
    assert birds("create", "birds")[0] == 0
    assert Path("elsewhere.db").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("list",),
        ("ask", "birds", "--worker", "ann"),
        ("tell", "1-0-0-ab", "1"),
        ("result", "birds"),
        ("doctor",),
    ],
)
def test_looking_creates_no_store(command: tuple[str, ...], askfew: Command) -> None:
    code, out, err = askfew(*command)
    assert (code, out) == (2, "")
    assert err.startswith("askfew: the store must be there, got no file askfew.db")
    assert list(Path().iterdir()) == []


def test_an_unknown_campaign_is_a_sentence(birds: Command) -> None:
    code, out, err = birds("status", "nobody")
    assert (code, out) == (2, "")
    assert err == (
        "askfew: a campaign of this store must be one of: birds, got 'nobody': check its name\n"
    )


BROKEN = {
    "broken TOML": ("campaign.toml", "[campaign\n", "campaign.toml line 1: this must be TOML"),
    "an unknown setting": (
        "campaign.toml",
        '[campaign]\nname = "x"\nprise = 3\n',
        "campaign.toml line 3: settings must be known keys",
    ),
    "a missing column": ("items.csv", "id,image\na,\nb,\n", "items.csv line 1: "),
    "a duplicate id": (
        "items.csv",
        "id,text\na,A\nb,B\na,C\n",
        "items.csv line 4: an id must be used once",
    ),
    "an image outside": (
        "items.csv",
        "id,text,image\na,A,../secret.png\nb,B,\n",
        "items.csv line 2: image must be a path inside the folder",
    ),
    "a million characters": (
        "questions.csv",
        f"id,text\nq,{'x' * 1_000_000}\n",
        "questions.csv line 2: ",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_bad_folder_is_a_sentence_and_nothing_is_created(what: str, birds: Command) -> None:
    file, text, sentence = BROKEN[what]
    write_template("broken")
    (Path("broken") / file).write_text(text)
    before = Path("askfew.db").read_bytes()
    code, out, err = birds("create", "broken")
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: broken/{sentence}")
    assert err.count("\n") == 1
    assert len(err) < 500
    assert Path("askfew.db").read_bytes() == before
    birds("create", "broken", "--store", "sqlite:///new.db")
    assert not Path("new.db").exists()


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
        (("none.csv", "birds"), "none.csv: this file must be there"),
        (("none.askfew",), "none.askfew: this file must be there"),
        (("none.json", "birds"), "none.json: this file must be there"),
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


def test_every_command_explains_itself(askfew: Command) -> None:
    helped = askfew("--help")[1]
    panel = helped[helped.index("Campaigns") :]
    first = list(COMMANDS).index("new")
    for name in list(COMMANDS)[first:]:
        assert f" {name} " in panel
    for name in COMMANDS.keys() - GROUPS - {"mcp"}:  # mcp speaks its own protocol
        code, out, _ = askfew(name, "--help")
        assert code == 0
        assert "--json" in out
    assert "upgrade" in askfew("store", "--help")[1]


def test_workers_are_listed_and_revoked(birds: Command) -> None:
    answer_all(most=5)
    for worker in ("ann", "bob"):
        document(birds("ask", "birds", "--worker", worker, "-n", 3, "--json"))
    store = Store("sqlite:///askfew.db")
    new_link(store.campaign("birds"), "cora")
    store.close()
    code, out, _ = birds("workers", "birds")
    assert code == 0
    assert [name for name in ("ann", "bob", "cora") if name in out] == ["ann", "bob", "cora"]
    before = document(birds("workers", "birds", "--json"))["workers"]
    assert before[0]["leases"] == 3
    assert birds("revoke", "birds", "ann") == (
        0,
        "ann is asked no more. Their answers count.\n",
        "",
    )
    assert document(birds("revoke", "birds", "cora", "--json"))["revoked"]
    after = document(birds("workers", "birds", "--json"))["workers"]
    assert {each["name"]: each["revoked"] for each in after} == {
        "ann": True,
        "bob": False,
        "cora": True,
    }
    assert (before[0]["answers"], after[0]["answers"], after[0]["leases"]) == (5, 5, 0)
    code, _, err = birds("ask", "birds", "--worker", "ann")
    assert code != 0
    assert "who was revoked" in err
    code, _, err = birds("revoke", "birds", "eve")
    assert code != 0
    assert "must have come or been invited, got 'eve'" in " ".join(err.split())
