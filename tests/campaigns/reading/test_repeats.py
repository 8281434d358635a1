"""Workers who repeat themselves are named wherever a certificate is shown."""

import html
import re
from pathlib import Path

import numpy as np

from askfew.answer_warnings import sentence
from askfew.campaigns.campaign import Assignment
from askfew.campaigns.reading.independence import repeats_of
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from campaign_tools import answer_all, by_rule, sweep, with_a_stubborn_worker


def test_the_warning_is_in_status_result_and_report(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    campaign = sweep(store, rows=20, columns=6, each=4, answers_per_worker_and_cell=4)

    def stubborn(asked: Assignment) -> bool:
        item, question = int(asked.item.id[1:]), int(asked.question.id[1:])
        return (item % 2 == 0) != ((item * 7 + question * 3) % 8 == 0)

    answer_all(campaign, "stubborn", stubborn)
    warnings = status_of(campaign).warnings
    assert len(warnings) == 1
    assert "answers from worker stubborn are not independent draws" in sentence(warnings[0])
    assert result_of(campaign).warnings == warnings
    assert "answers from worker stubborn are not independent draws" in report_html(campaign)
    outcome = campaign.outcome()
    assert outcome is not None
    with store.database.read() as connection:
        verdict = repeats_of(connection, campaign.id, outcome.labels)["stubborn"]
    assert verdict.varied_differ == 0
    assert verdict.suspect
    store.close()


def test_the_certificate_says_it_first(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    campaign = with_a_stubborn_worker(store)
    found = result_of(campaign)
    assert found.status == "done"
    assert found.certificate_text is not None
    warning, promise, *_ = found.certificate_text.splitlines()
    assert warning.startswith("WARNING: answers from worker stubborn are not independent draws")
    assert promise.startswith("30 labels are right")
    (certificate,) = re.findall("<pre>(.*?)</pre>", report_html(campaign), re.DOTALL)
    assert html.unescape(certificate) == found.certificate_text
    store.close()


def test_by_rule_the_warning_does_not_say_that_the_promise_is_void(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    campaign, rng = by_rule(store, rows=30, seed=2), np.random.default_rng(2)
    while campaign.state == "running":
        for worker in ("ann", "stubborn"):
            for asked in campaign.ask(worker, 20):
                item, question = int(asked.item.id[1:]), int(asked.question.id[1:])
                errs = rng.random() < 0.12
                if worker == "stubborn":
                    errs = (7 * item + 3 * question) % 4 == 0
                campaign.tell(asked.id, (item % 2 == 0) != errs)
    found = result_of(campaign)
    assert found.certificate_text is not None
    warning, promise, *_ = found.certificate_text.splitlines()
    assert warning.startswith("WARNING: answers from worker stubborn repeat each other")
    assert "does not hold" not in found.certificate_text
    assert "labels are right about the rule below" in promise
    store.close()


def test_one_who_decides_alone_and_never_wavers_is_named(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    alone = sweep(store, rows=8, columns=2, each=4, answers_per_worker_and_cell=4)
    answer_all(alone, "ann", lambda asked: int(asked.item.id[1:]) % 2 == 0)
    (warning,) = status_of(alone).warnings
    assert sentence(warning).startswith(
        "all answers are by worker ann, and asked again about the same cell, 48 answers differed in"
        " 0.0% only"
    )
    assert result_of(alone).warnings == (warning,)
    assert html.escape(sentence(warning)) in report_html(alone)
    store.close()


def test_one_slip_does_not_silence_the_warning(tmp_path: Path) -> None:
    """It used to be enough to contradict oneself once."""
    store = Store(f"sqlite:///{tmp_path}/store.db")
    alone = sweep(store, rows=20, columns=2, each=4, answers_per_worker_and_cell=4)
    slips = iter([True])
    answer_all(alone, "ann", lambda asked: (int(asked.item.id[1:]) % 2 == 0) != next(slips, False))
    (warning,) = status_of(alone).warnings
    assert "120 answers differed in 1.2% only" in sentence(warning)
    store.close()


def test_one_who_wavers_or_has_company_is_not(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    wavering = sweep(store, 8, 2, each=4, name="wavering", answers_per_worker_and_cell=4)
    rng = np.random.default_rng(7)
    answer_all(
        wavering, "ann", lambda asked: (int(asked.item.id[1:]) % 2 == 0) != (rng.random() < 0.2)
    )
    assert status_of(wavering).warnings == ()
    company = sweep(store, 8, 2, each=4, name="company", answers_per_worker_and_cell=2)
    for worker in ("ann", "bob"):
        answer_all(company, worker, lambda asked: int(asked.item.id[1:]) % 2 == 0)
    assert status_of(company).decided == 8
    assert status_of(company).warnings == ()
    store.close()
