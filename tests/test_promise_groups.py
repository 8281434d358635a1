"""The options of the promise "groups", from every door: groups, a cap, a tolerance, an audit."""

import json
from functools import wraps
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import askfew
from askfew import oracles
from askfew.algorithms import METHODS, takes_option
from askfew.algorithms.frugal import frugal
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.folder.load import read_folder
from askfew.campaigns.forecast import Sizes, crowd_forecast
from askfew.campaigns.reading.report import report_html, report_of
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.planning.defaults import default_useful
from askfew.records import Finding, Problem, Procedure
from askfew.simulation import Instance, simulate_runs
from askfew.web.pages.dashboard.view import View
from askfew.web.pages.new.draft import FormInput, read_draft
from askfew.workers.simulate import random_groups
from commands import Command, command
from web_site import API, Site, document

SEEN: list[dict[str, Any]] = []
AUDITS: list[int] = []


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real method, which notes what it is given."""

    @wraps(frugal)
    def noting(problem: Problem, delta: float, **options: Any) -> Procedure[Finding]:
        given = {"groups": 2, "per_cell": None, "tolerance": 0.0} | options
        SEEN.append({name: given[name] for name in ("groups", "per_cell", "tolerance")})
        AUDITS.append(options.get("audit", 0))
        return frugal(problem, delta, **options)

    monkeypatch.setitem(METHODS, "frugal", noting)
    SEEN.clear()
    AUDITS.clear()


LEVELS = np.array([[0.02, 0.02, 0.5], [0.98, 0.02, 0.5], [0.02, 0.98, 0.5]])
"""Three groups on two questions; the third tells nothing."""
OPTIONS: dict[str, Any] = {"groups": 3, "per_cell": 12, "tolerance": 0.0}
"""Many groups under a small cap."""
UNLIKE: dict[str, Any] = {"groups": 2, "per_cell": 40, "tolerance": 0.05}
"""Two groups whose items may differ, under a large cap."""


def test_from_python() -> None:
    labels = [0, 1, 2] * 4
    world = oracles.bernoulli(np.tile(LEVELS[:, :2], 3), labels=labels, rng=1)
    outcome = askfew.cluster(world, rng=7, **OPTIONS)
    assert SEEN == [OPTIONS]
    assert outcome.labels.tolist() == labels
    assert outcome.group_names == ["0", "1", "2"]
    assert outcome.to_dict()["groups"] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": 0.05, "per_cell": 19},
        {"tolerance": 0.05, "per_cell": 40, "groups": 3},
        {"groups": "auto", "per_cell": 40},
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any]) -> None:
    world = oracles.bernoulli(LEVELS, labels=[0, 1, 2, 0], rng=1)
    with pytest.raises(InvalidInput, match="per_cell below 20, or with more than two groups, need"):
        askfew.cluster(world, rng=7, **options)
    with pytest.raises(InvalidInput, match="per_cell below 20"):
        Settings("x", method="frugal", **options)


def test_tolerance_goes_with_more_groups_and_with_large_caps() -> None:
    world = oracles.bernoulli(LEVELS, labels=[0, 1, 2, 0], rng=1)
    assert askfew.cluster(world, rng=7, groups=3, tolerance=0.05).labels.tolist() == [0, 1, 2, 0]
    two = oracles.bernoulli(LEVELS[:2], labels=[0, 1, 1, 0], rng=1)
    assert askfew.cluster(two, rng=7, **UNLIKE).labels.tolist() == [0, 1, 1, 0]
    assert SEEN[1] == UNLIKE


def test_a_recorded_table_caps_cells_by_itself_only_where_each_cell_may_have_its_own() -> None:
    levels = LEVELS[np.arange(9) % 3, :2, np.newaxis]
    values = np.random.default_rng(0).binomial(1, levels, (9, 2, 20))
    outcome = askfew.cluster(oracles.table(values.tolist(), rng=1), rng=7, groups=3)
    assert SEEN[0]["per_cell"] is None
    # Groups are numbered by their first item with a label.
    decided = np.flatnonzero(outcome.labels >= 0)
    same = decided[:, np.newaxis] % 3 == decided % 3
    found = outcome.labels[decided]
    assert ((found[:, np.newaxis] == found) == same).all()


@pytest.fixture
def askfew_(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    return command(tmp_path, monkeypatch, capfd)


YES_NO = "simulate --method frugal --noise yes-no --gap 0.96 --jobs 1 --json"


def test_from_the_command_simulate(askfew_: Command) -> None:
    line = f"{YES_NO} --items 12 --questions 4 --useful 4 --runs 3 --spread 0.01"
    code, out, _ = askfew_(*f"{line} --groups 2 --per-cell 40 --tolerance 0.05".split())
    assert code == 0
    assert SEEN == [UNLIKE] * 3
    found = json.loads(out)
    assert (found["errors"], found["instance"]["spread"]) == (0, 0.01)


def test_many_groups_from_the_command_simulate(askfew_: Command) -> None:
    line = f"{YES_NO} --items 15 --questions 6 --useful 4 --runs 5 --groups 3"
    code, out, err = askfew_(*line.split())
    assert code == 0, err
    assert {each["groups"] for each in SEEN} == {3}
    assert json.loads(out)["errors"] == 0


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
    assert default_useful("frugal", 40, 12).low == 11


def test_too_many_of_one_group_are_wrong_as_a_partition() -> None:
    """Groups that were merged, or split, are errors whatever they are called."""
    instance = Instance(12, 4, 4, 0.96, "yes-no", groups=3)
    merged = simulate_runs(instance, "frugal", delta=0.05, runs=5, options={"groups": 2})
    right = simulate_runs(instance, "frugal", delta=0.05, runs=5, options={"groups": 3})
    assert all(run.correct for run in right)
    assert not any(run.correct for run in merged)


SETTINGS = """[campaign]
name = "birds"
method = "frugal"
groups = 3
per_cell = 12
answers_per_worker_and_cell = 20
"""


def folder(path: Path, settings: str = SETTINGS) -> Path:
    path.mkdir()
    (path / "campaign.toml").write_text(settings)
    (path / "items.csv").write_text("id,text\n" + "".join(f"i{n},\n" for n in range(12)))
    (path / "questions.csv").write_text("id,text\nq0,Swims?\nq1,Flies?\nq2,Sings?\n")
    return path


def test_from_a_folder(tmp_path: Path) -> None:
    settings = read_folder(folder(tmp_path / "birds")).settings
    assert settings.arguments() == {"groups": 3, "per_cell": 12}
    assert Settings.from_dict(settings.to_dict()) == settings
    assert "tolerance" not in Settings("x", method="frugal").arguments()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("tolerance = -1", "line 6: tolerance must be a number of at least 0"),
        (
            "tolerance = 0.05",
            "line 6: per_cell below 20, or with more than two groups, needs a known number of"
            " groups and no tolerance, got a tolerance of 0.05: leave it out",
        ),
        (
            'tolerance = 0.05\nmethod = "rule"',
            "line 6: tolerance is a setting of another method, got method 'rule': leave tolerance"
            ' out, or write method = "frugal"',
        ),
    ],
)
def test_what_a_folder_cannot_say(tmp_path: Path, more: str, sentence: str) -> None:
    settings = SETTINGS.replace('method = "frugal"\n', "") if "method" in more else SETTINGS
    lines = settings.splitlines()
    lines.insert(5, more)
    with pytest.raises(InvalidInput) as caught:
        read_folder(folder(tmp_path / "birds", "\n".join(lines)))
    assert sentence in str(caught.value)


def test_from_the_form() -> None:
    how = {"method": "frugal", "groups": "2", "per_cell": "40", "tolerance": "0.05"}
    texts = {"name": "birds", "questions": "Swims?\nFlies?"} | how
    items = b"id,text\n" + b"".join(b"i%d,\n" % n for n in range(9))
    draft, sentences = read_draft(FormInput(texts, items=items))
    assert draft is not None, sentences
    assert draft.settings.arguments() == {"per_cell": 40, "tolerance": 0.05}
    draft, sentences = read_draft(FormInput(texts | {"per_cell": "12"}, items=items))
    assert draft is None
    assert "no tolerance, got a tolerance of 0.05" in sentences["tolerance"]


def test_the_form_forecasts_with_them_and_the_dashboard_shows_them(store: Store) -> None:
    site = Site(store)
    form = {
        "name": "birds",
        "questions": "Swims?\nFlies?",
        "method": "frugal",
        "groups": "3",
        "per_cell": "12",
        "answers_per_worker_and_cell": "20",
    }
    items = b"id,text\n" + b"".join(b"i%d,\n" % n for n in range(9))
    files = [("items_file", ("items.csv", items, "text/csv"))]
    checked = site.owner.post("/new", data=form, files=files).text
    assert "%22groups%22%3A+3" in checked  # what the process that simulates is told
    site.owner.post("/new", data={**form, "step": "create"}, files=files)
    assert OPTIONS in SEEN  # what was simulated for the campaign's own forecast
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
    cap: dict[str, Any] = {} if groups == "auto" else {"per_cell": 40}
    made = crowd_forecast(Settings("x", method="frugal", groups=groups, **cap), Sizes(20, 12))
    assert 0 < made.most_answers < 10_000
    assert not cap or made.most_workers <= 40
    assert SEEN[0]["groups"] == groups


QUESTIONS = [Question(f"q{n}", "?") for n in range(6)]


def answered(campaign: Campaign, times: int = 10**6, seed: int = 5) -> None:
    """By somebody who knows the groups, and comes so many times."""
    rng = np.random.default_rng(seed)
    place = {each.id: number % 2 for number, each in enumerate(campaign.questions)}
    while times and (asked := campaign.ask("ann", 200)):
        times -= 1
        for each in asked:
            level = LEVELS[int(each.item.id[1:]) % 3, place[each.question.id]]
            campaign.tell(each.id, float(rng.random() < level))


THREE: list[dict[str, Any]] = [{"groups": 3}, {"groups": 3, "per_cell": 12}]


@pytest.mark.parametrize("options", THREE, ids=["free", "capped"])
def test_a_campaign_of_three_groups_to_its_end(tmp_path: Path, options: dict[str, Any]) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    settings = Settings("birds", method="frugal", answers_per_worker_and_cell=1000, **options)
    campaign = store.create(settings, [Item(f"i{n}") for n in range(12)], QUESTIONS)
    answered(campaign)
    result = result_of(campaign)
    assert (result.status, result.reason) == ("done", "every item is certified")
    assert [sorted(group) for group in result.groups] == [
        sorted(f"i{n}" for n in range(g, 12, 3)) for g in range(3)
    ]
    assert {row[1] for row in result.rows} == {"0", "1", "2"}
    assert result.certificate_text is not None
    assert "there are exactly 3 groups" in result.certificate_text
    report = report_of(campaign)
    assert [each.count for each in report.groups] == [4, 4, 4]
    assert report.threshold is not None
    assert report.threshold > 0
    assert "group 2" in report_html(campaign)
    store.close()


@pytest.mark.parametrize("options", THREE, ids=["free", "capped"])
def test_the_dashboard_says_where_it_stands(tmp_path: Path, options: dict[str, Any]) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    settings = Settings("birds", method="frugal", answers_per_worker_and_cell=1000, **options)
    campaign = store.create(settings, [Item(f"i{n}") for n in range(12)], QUESTIONS)
    site, seen = Site(store), set()
    view = View(SimpleNamespace(app=site.app), campaign)  # type: ignore[arg-type]
    for turn in count():
        if campaign.state != "running":
            break
        answered(campaign, times=1, seed=turn)
        view.changed()
        phases = view.summary().phases
        assert phases, status_of(campaign).phase
        seen |= {phase.word for phase, when in phases if when == "now"}
    assert seen == (
        {"Explore", "Certify"} if "per_cell" in options else {"Search", "Find groups", "Sort"}
    )
    page = site.owner.get("/campaigns/birds").text
    assert "rule" not in page.partition("<main")[2].partition("Download")[0].lower()
    groups = site.owner.get("/campaigns/birds/parts/groups").text
    assert ("representative" in groups) == ("per_cell" not in options)
    store.close()


def test_an_audit_from_the_command_line(askfew_: Command) -> None:
    line = f"{YES_NO} --items 12 --questions 4 --useful 4 --runs 3"
    plain = json.loads(askfew_(*line.split())[1])
    code, out, err = askfew_(*f"{line} --audit 40".split())
    assert code == 0, err
    assert AUDITS == [0] * 3 + [40] * 3
    assert json.loads(out)["mean_answers"] == plain["mean_answers"] + 40
    assert askfew_(*PLAN, "--audit", 50)[0] == 0
    assert set(AUDITS[6:]) == {50}
    code, _, err = askfew_(*f"{line} --audit 40 --method rule".split())
    assert code == 2
    assert "--audit 40 needs a method that can (frugal), got rule" in err


def test_an_audit_from_a_folder_and_from_the_form(tmp_path: Path) -> None:
    settings = read_folder(folder(tmp_path / "birds", f"{SETTINGS}audit = 60\n")).settings
    assert settings.arguments() == {"groups": 3, "per_cell": 12, "audit": 60}
    assert Settings.from_dict(settings.to_dict()) == settings
    assert "audit" not in Settings("x", method="frugal").arguments()
    with pytest.raises(InvalidInput, match="line 7: audit must be a whole number from 0"):
        read_folder(folder(tmp_path / "other", f"{SETTINGS}audit = -1\n"))
    texts = {"name": "birds", "questions": "Swims?", "method": "frugal", "audit": "60"}
    items = b"id,text\n" + b"".join(b"i%d,\n" % n for n in range(9))
    draft, sentences = read_draft(FormInput(texts, items=items))
    assert draft is not None, sentences
    assert draft.settings.arguments() == {"audit": 60}
    draft, sentences = read_draft(FormInput(texts | {"per_cell": "1"}, items=items))
    assert draft is None
    assert "needs a per_cell of at least 2" in sentences["audit"]


@pytest.mark.parametrize("options", [{"groups": 3}, {"groups": 3, "per_cell": 12}])
def test_an_audited_campaign_to_its_end(tmp_path: Path, options: dict[str, Any]) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    how = {"method": "frugal", "answers_per_worker_and_cell": 1000, "audit": 60, **options}
    body = {
        "settings": {"name": "birds", **how},
        "items": [{"id": f"i{n}"} for n in range(12)],
        "questions": [{"id": each.id, "text": "Is it?"} for each in QUESTIONS],
    }
    site = Site(store)
    assert document(site.owner.post(API, json=body), 201)["groups"] == 3
    campaign = store.campaign("birds")
    assert campaign.settings.audit == 60
    view, words = View(SimpleNamespace(app=site.app), campaign), set()  # type: ignore[arg-type]
    for turn in count():
        if campaign.state != "running":
            break
        answered(campaign, times=1, seed=turn)
        view.changed()
        words |= {phase.word for phase, when in view.summary().phases if when == "now"}
        assert site.owner.get("/campaigns/birds").status_code == 200
    assert "Audit" in words
    result = result_of(campaign)
    assert (result.status, result.reason) == ("done", "every item is certified")
    assert "audited: 60 answers on" in str(result.certificate_text)
    assert "audited: 60 answers on" in report_html(campaign)
    store.close()


def test_from_the_folder_to_the_report(askfew_: Command, tmp_path: Path) -> None:
    """Simulated workers plant as many groups as are looked for."""
    folder(tmp_path / "birds", SETTINGS.replace("per_cell = 12\n", "").replace("20", "1000"))
    code, out, err = askfew_("create", "birds")
    assert code == 0, err
    assert "3 groups" in out
    code, _, err = askfew_("work", "simulate", "birds", "--workers", 2, "--reliability", 0.95)
    assert code == 0, err
    found = json.loads(askfew_("result", "birds", "--json")[1])
    assert found["status"] == "done"
    planted = random_groups(0, groups=3)
    pairs = {(each["group"], planted(each["item"])) for each in found["items"]}
    assert len(pairs) == 3
    for export in ("csv", "crowd-kit", "campaign"):
        assert askfew_("export", "birds", "--format", export, "--out", f"x.{export}")[0] == 0
    assert askfew_("report", "birds", "--out", "x.html")[0] == 0
    assert "represents the group" in Path("x.html").read_text()
    assert askfew_("doctor")[0] == 0


def test_from_the_api(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    site = Site(store)
    body = {
        "settings": {
            "name": "birds",
            "method": "frugal",
            "groups": 3,
            "answers_per_worker_and_cell": 1000,
        },
        "items": [{"id": f"i{n}"} for n in range(12)],
        "questions": [{"id": each.id, "text": "Is it?"} for each in QUESTIONS],
    }
    assert document(site.owner.post(API, json=body), 201)["groups"] == 3
    answered(store.campaign("birds"))
    result = document(site.owner.get(f"{API}/birds/result"))
    assert result["status"] == "done"
    assert len({each["group"] for each in result["items"]}) == 3
    store.close()
