"""The report says what was found, and item texts stay data."""

import base64

import numpy as np
import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading import report
from askfew.campaigns.reading.report import report_html, report_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from pictures import PIXEL

TRUTH = np.arange(12) % 2


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Twelve items, three questions, answered by three workers to the end."""
    settings = Settings(
        "birds", answers_per_worker_and_cell=1000, seed=3, price=0.5, method="frugal"
    )
    items = [Item(f"i{i}", f"<script>alert({i})</script>", None, "") for i in range(12)]
    questions = [Question(f"q{j}", f"Question {j}?") for j in range(3)]
    folder = tmp_path_factory.mktemp("report")
    campaign = Store(f"sqlite:///{folder}/store.db").create(settings, items, questions)
    rng = np.random.default_rng(0)
    turn = 0
    while asked := campaign.ask(f"worker {turn % 3}"):
        turn += 1
        number = int(asked[0].item.id[1:])
        chance = (0.05, 0.95)[TRUTH[number]] if asked[0].question.id == "q1" else 0.5
        assert campaign.tell(asked[0].id, bool(rng.random() < chance), seconds=2.0).ok
    return campaign


def test_findings_add_up(finished: Campaign) -> None:
    found = report_of(finished)
    assert found.status.state == "ended"
    groups = [[item.id for item in group.items] for group in found.groups]
    assert groups == [[f"i{n}" for n in np.flatnonzero(g == TRUTH)] for g in range(2)]
    items = [item for group in found.groups for item in group.items]
    assert sum(item.answers for item in items) == found.status.answers
    assert sum(found.by_phase.values()) == found.status.answers
    assert sum(worker.answers for worker in found.workers) == found.status.answers
    assert found.status.cost == pytest.approx(0.5 * found.status.answers)
    assert {worker.seconds for worker in found.workers} == {2.0}
    assert all(1 / 3 <= worker.largest_share < 1 for worker in found.workers)
    assert all(0.8 < (worker.agreement or 0.0) <= 1 for worker in found.workers)


def test_the_best_question_comes_first_with_its_interval(finished: Campaign) -> None:
    best = report_of(finished).questions[0]
    assert best.id == "q1"
    assert best.low is not None
    assert best.high is not None
    assert best.low < 0.9 < best.high


def test_labels_rest_on_evidence_beyond_the_threshold(finished: Campaign) -> None:
    found = report_of(finished)
    assert found.threshold is not None
    judged = [item.evidence for group in found.groups for item in group.items]
    assert min(each or 0.0 for each in judged) >= found.threshold


def test_of_a_large_group_the_first_items_are_listed(
    finished: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "_MOST_ITEMS", 2)
    found = report_of(finished)
    counts = [TRUTH.tolist().count(g) for g in range(2)]
    assert [(each.count, len(each.items)) for each in found.groups] == [(n, 2) for n in counts]
    page = report_html(finished)
    assert page.count('class="item"') == 4
    assert f"And {counts[0] - 2} more: <code>askfew result" in page


def test_what_was_measured_on_some_of_the_items_says_so(
    finished: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert report_of(finished).looked_at == 12
    assert "of the 12 items" not in report_html(finished)
    monkeypatch.setattr(report, "_MOST_FITTED", 5)
    assert "Measured on 5 of the 12 items" in report_html(finished)


def test_the_report_stands_alone_and_escapes_texts(finished: Campaign) -> None:
    page = report_html(finished)
    assert "12 labels are right" in page
    assert "This assumes" in page
    assert "<script>" not in page
    assert "&lt;script&gt;alert(3)&lt;/script&gt;" in page
    assert "http" not in page


def test_the_report_carries_its_own_pictures_and_no_others(store: Store) -> None:
    other = [Item("x", image=PIXEL + b"another"), Item("y")]
    store.create(Settings("other"), other, [Question("q", "?")])
    campaign = store.create(
        Settings("birds"), [Item("a", image=PIXEL), Item("b")], [Question("q", "?")]
    )
    page = report_html(campaign)
    assert f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}" in page
    assert page.count("base64,") == 1
