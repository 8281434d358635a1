"""``askfew create``."""

import json
from pathlib import Path

import pytest

from askfew.campaigns.folder.template import write_template
from bird_campaign import answer_all, change, document
from commands import Command


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
    change("birds", 'name = "more birds"', 'name = "alone"')
    assert " from one person; " in " ".join(askfew("create", "birds")[1].split())
    assert made["forecast"]["typical_workers"] == 1
    assert made["forecast"]["typical_answers"] <= made["forecast"]["most_answers"]
    assert made["workers_needed"] == 1


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


@pytest.mark.parametrize(("limit", "warned"), [(10, True), (100_000, False)])
def test_create_says_when_one_model_alone_cannot_finish(
    askfew: Command, limit: int, warned: bool
) -> None:
    write_template("birds")
    toml = Path("birds/campaign.toml")
    text = toml.read_text().replace('method = "rule"', 'method = "frugal"')
    toml.write_text(text.replace("cell = 1", f"cell = {limit}"))
    code, _, err = askfew("create", "birds")
    assert code == 0
    assert ("one model alone" in " ".join(err.split())) == warned
