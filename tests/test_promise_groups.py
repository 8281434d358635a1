"""The options of the promise "groups", from every door: groups, a cap on cells, a tolerance."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import askfew
from askfew import oracles
from askfew.algorithms import METHODS, takes_option
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.crowd import crowd_forecast
from askfew.campaigns.folder.load import read_folder
from askfew.campaigns.reading.findings import findings_of
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.planning.usual import usual_useful
from askfew.records import Batch, Certificate, Finding, Known, Problem, Procedure
from askfew.simulation import Instance, simulate_runs
from askfew.web.pages.new.draft import Filled, read_draft
from commands import Command, command
from web_site import Site

SEEN: list[dict[str, Any]] = []


def stand_in(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: int | str = 2,
    per_cell: int | None = None,
    tolerance: float = 0.0,
    hunt: float = 1.0,
) -> Procedure[Finding]:
    """Asks every cell as often as it may, and groups items that answer alike."""
    SEEN.append({"groups": groups, "per_cell": per_cell, "tolerance": tolerance})
    each = min(per_cell or 15, 15)
    item = np.repeat(np.arange(problem.items), problem.questions)
    question = np.tile(np.arange(problem.questions), problem.items)
    nothing = np.full(problem.items, -1)
    known = Known("label", nothing, expected=1.0)
    tally = yield Batch(item, question, np.full(len(item), each), known=known)
    middle = (problem.answers.low + problem.answers.high) / 2
    high = (tally.sums / np.maximum(tally.counts, 1) > middle).reshape(problem.items, -1)
    _, first, labels = np.unique(high, axis=0, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[labels.ravel()]
    return Finding(labels, 0, Certificate(delta, "All is right.", ()), groups=int(labels.max()) + 1)


@pytest.fixture(autouse=True)
def frugal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "frugal", stand_in)
    SEEN.clear()


LEVELS = np.array([[0.02, 0.02, 0.5], [0.98, 0.02, 0.5], [0.02, 0.98, 0.5]])
"""Three groups on two questions; the third tells nothing."""
OPTIONS: dict[str, Any] = {"groups": 3, "per_cell": 12, "tolerance": 0.05}


def test_from_python() -> None:
    world = oracles.bernoulli(LEVELS[:, :2], labels=[0, 1, 2, 0, 1, 2], rng=1)
    outcome = askfew.cluster(world, rng=7, **OPTIONS)
    assert SEEN == [OPTIONS]
    assert outcome.labels.tolist() == [0, 1, 2, 0, 1, 2]
    assert outcome.group_names == ["0", "1", "2"]
    assert outcome.to_dict()["groups"] == ["0", "1", "2"]


def test_a_recorded_table_caps_cells_by_itself_only_where_each_cell_may_have_its_own() -> None:
    levels = LEVELS[np.arange(9) % 3, :2, np.newaxis]
    values = np.random.default_rng(0).binomial(1, levels, (9, 2, 20))
    askfew.cluster(oracles.table(values.tolist()), rng=7, groups=3)
    assert SEEN[0]["per_cell"] is None


@pytest.fixture
def askfew_(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    return command(tmp_path, monkeypatch, capfd)


YES_NO = "simulate --method frugal --noise yes-no --gap 0.96 --jobs 1 --json"


def test_from_the_command_simulate(askfew_: Command) -> None:
    line = f"{YES_NO} --items 12 --questions 4 --useful 4 --runs 3 --spread 0.01"
    code, out, _ = askfew_(*f"{line} --groups 3 --per-cell 12 --tolerance 0.05".split())
    assert code == 0
    assert SEEN == [OPTIONS] * 3
    found = json.loads(out)
    assert (found["errors"], found["instance"]["spread"]) == (0, 0.01)


@pytest.mark.parametrize(("look_for", "groups"), [("auto", "auto"), ("2", 2)])
def test_to_look_for(askfew_: Command, look_for: str, groups: object) -> None:
    line = f"{YES_NO} --items 4 --questions 2 --useful 1 --runs 1 --look-for {look_for}"
    assert askfew_(*line.split())[0] == 0
    assert SEEN[0]["groups"] == groups


PLAN = ("plan", "--items", 12, "--questions", 6, "--gap", 0.9, "--runs", 2, "--jobs", 1, "--json")


def test_from_the_command_plan(askfew_: Command) -> None:
    """Five groups need more useful questions than are usual for two."""
    assert askfew_(*PLAN, "--groups", 5, "--tolerance", 0.1)[0] == 0
    assert SEEN[0] == {"groups": 5, "per_cell": None, "tolerance": 0.1}
    assert usual_useful("frugal", 40, 12).low == 11


def test_too_many_of_one_group_are_wrong_as_a_partition() -> None:
    """Groups that were merged, or split, are errors whatever they are called."""
    instance = Instance(12, 4, 4, 0.96, "yes-no", groups=3)
    few = simulate_runs(instance, "frugal", delta=0.05, runs=5, options={"per_cell": 1})
    many = simulate_runs(instance, "frugal", delta=0.05, runs=5, options={"per_cell": 15})
    assert all(run.correct for run in many)
    assert not all(run.correct for run in few)


SETTINGS = """[campaign]
name = "birds"
method = "frugal"
groups = 3
per_cell = 12
tolerance = 0.05
answers_per_worker_and_cell = 20
"""


def folder(path: Path, settings: str = SETTINGS) -> Path:
    path.mkdir()
    (path / "campaign.toml").write_text(settings)
    (path / "items.csv").write_text("id,text\n" + "".join(f"i{n},\n" for n in range(9)))
    (path / "questions.csv").write_text("id,text\nq0,Swims?\nq1,Flies?\n")
    return path


def test_from_a_folder(tmp_path: Path) -> None:
    settings = read_folder(folder(tmp_path / "birds")).settings
    assert settings.arguments() == OPTIONS
    assert Settings.from_dict(settings.to_dict()) == settings
    assert "tolerance" not in Settings("x", method="frugal").arguments()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("= 0.05", "= -1"), "line 6: tolerance must be a number of at least 0"),
        (
            ('"frugal"', '"rule"'),
            "line 6: tolerance is a setting of another method, got method 'rule': leave tolerance"
            ' out, or write method = "frugal"',
        ),
    ],
)
def test_what_a_folder_cannot_say(tmp_path: Path, change: tuple[str, str], sentence: str) -> None:
    with pytest.raises(askfew.errors.InvalidInput) as caught:
        read_folder(folder(tmp_path / "birds", SETTINGS.replace(*change)))
    assert sentence in str(caught.value)


def test_from_the_form() -> None:
    how = {"method": "frugal", "groups": "3", "per_cell": "12", "tolerance": "0.05"}
    texts = {"name": "birds", "questions": "Swims?\nFlies?"} | how
    items = b"id,text\n" + b"".join(b"i%d,\n" % n for n in range(9))
    draft, sentences = read_draft(Filled(texts, items=items))
    assert draft is not None, sentences
    assert draft.settings.arguments() == OPTIONS


def test_the_form_forecasts_with_them_and_the_dashboard_shows_them(store: Store) -> None:
    site = Site(store)
    form = {
        "name": "birds",
        "questions": "Swims?\nFlies?",
        "method": "frugal",
        "groups": "3",
        "per_cell": "12",
        "tolerance": "0.05",
        "answers_per_worker_and_cell": "20",
    }
    items = b"id,text\n" + b"".join(b"i%d,\n" % n for n in range(9))
    files = [("items_file", ("items.csv", items, "text/csv"))]
    assert "3 groups" in site.owner.post("/new", data=form, files=files).text
    assert SEEN[-1] == OPTIONS
    site.owner.post("/new", data={**form, "step": "create"}, files=files)
    answered(store.campaign("birds"))
    page = site.owner.get("/campaigns/birds/parts/groups").text.lower()
    assert all(f"group {g}" in page for g in range(3))
    assert "against the other one" not in page
    assert "lower bound" not in site.owner.get("/campaigns/birds").text


def test_people_are_a_cap_too() -> None:
    assert Settings("x", method="frugal", people=5).arguments() == {"per_cell": 5}
    assert takes_option("frugal", "per_cell")


@pytest.mark.parametrize("groups", [3, 5, "auto"])
def test_a_campaign_is_forecast_with_them(groups: Any) -> None:
    settings = Settings("x", method="frugal", groups=groups, per_cell=12, tolerance=0.05)
    made = crowd_forecast(settings, 20, 4)
    assert made.most_workers <= 12
    assert SEEN[0]["groups"] == groups


def answered(campaign: Campaign) -> None:
    """By somebody who knows the groups."""
    place = {each.id: number for number, each in enumerate(campaign.questions)}
    while asked := campaign.ask("ann", 50):
        for each in asked:
            level = LEVELS[int(each.item.id[1:]) % 3, place[each.question.id]]
            campaign.tell(each.id, float(level > 0.5))


def test_a_campaign_of_three_groups_to_its_end(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    settings = Settings("birds", method="frugal", answers_per_worker_and_cell=20, **OPTIONS)
    campaign = store.create(
        settings, [Item(f"i{n}") for n in range(9)], [Question(f"q{n}", "?") for n in range(2)]
    )
    answered(campaign)
    result = result_of(campaign)
    assert result.status == "done"
    assert [sorted(group) for group in result.groups] == [
        [f"i{n}" for n in range(g, 9, 3)] for g in range(3)
    ]
    assert {row[1] for row in result.rows} == {"0", "1", "2"}
    assert [len(members) for _, members in findings_of(campaign).groups] == [3, 3, 3]
    assert "group 2" in report_html(campaign)
