"""Judges who repeat themselves are found; honest ones are left alone."""

import html
import json
import re
from dataclasses import asdict
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest

from askfew.answer_warnings import ALONE, REPEATS, AnswerWarning, sentence
from askfew.campaigns.campaign import Asked
from askfew.campaigns.reading.independence import ALPHA, judge_repeats, repeats_of
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from campaign_tools import answer_all, sweep, with_a_stubborn_worker

CELLS, JUDGES, ERRS = 50, 1000, 0.15

Blocks = dict[tuple[int, int], list[list[float]]]


def answered(
    rng: np.random.Generator, kind: str, cells: int = CELLS, questions: int = 3, once: int = 0
) -> Blocks:
    """Cells answered twice each, and others once: the truth is the group, on every question."""
    wrong = rng.permutation(cells) < round(ERRS * cells)
    errs = rng.choice([0.0, 0.1, 0.3, 0.5], questions)
    blocks: Blocks = {}
    for number in range(cells + once):
        times = 2 if number < cells else 1
        group, question = int(rng.integers(2)), int(rng.integers(questions))
        chance = {"always right": 0.0, "a coin": 0.5, "good at some": float(errs[question])}
        flips = (rng.random(times) < chance.get(kind, ERRS)).tolist()
        if kind == "errs on the same cells" and times == 2:
            flips = [bool(wrong[number])] * 2
        blocks.setdefault((group, question), []).append([float(group != flip) for flip in flips])
    return blocks


def flagged(kind: str, questions: int = 3, once: int = 0) -> float:
    rng = np.random.default_rng(7)
    verdicts = [
        judge_repeats(answered(rng, kind, questions=questions, once=once).values())
        for _ in range(JUDGES)
    ]
    return float(np.mean([verdict.suspect for verdict in verdicts]))


@pytest.mark.parametrize(("questions", "once"), [(1, 0), (3, 0), (5, 0), (20, 100)])
def test_a_judge_that_errs_on_the_same_cells_is_flagged_within_fifty(
    questions: int, once: int
) -> None:
    assert flagged("errs on the same cells", questions, once) > 0.99


@pytest.mark.parametrize("kind", ["errs at random", "always right", "a coin", "good at some"])
@pytest.mark.parametrize(("questions", "once"), [(1, 0), (5, 100), (20, 100)])
def test_honest_judges_are_not_flagged(kind: str, questions: int, once: int) -> None:
    assert flagged(kind, questions, once) < 0.01


def test_looking_after_every_cell_raises_no_false_alarm() -> None:
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(100):
        blocks: Blocks = {}
        suspect = False
        for _ in range(60):
            for where, cells in answered(rng, "errs at random", 1, 2).items():
                blocks.setdefault(where, []).extend(cells)
            suspect |= judge_repeats(blocks.values()).suspect
        alarms += suspect
    assert alarms <= 1


@pytest.mark.parametrize("ones", range(7))
def test_the_p_value_is_the_share_of_all_arrangements(ones: int) -> None:
    every = [bits for bits in product((0.0, 1.0), repeat=6) if sum(bits) == ones]
    assert len(every) == comb(6, ones)
    disagreed = [sum(bits[i] != bits[i + 1] for i in (0, 2, 4)) for bits in every]
    for bits, d in zip(every, disagreed, strict=True):
        verdict = judge_repeats([[bits[0:2], bits[2:4], bits[4:6]]])
        assert verdict.disagreed == d
        assert verdict.expected == pytest.approx(np.mean(disagreed))
        assert verdict.p_value == pytest.approx(np.mean([other <= d for other in disagreed]))


@pytest.mark.parametrize("ones", range(8))
def test_single_answers_beside_pairs_are_counted_in(ones: int) -> None:
    every = [bits for bits in product((0.0, 1.0), repeat=7) if sum(bits) == ones]
    disagreed = [sum(bits[i] != bits[i + 1] for i in (0, 2)) for bits in every]
    for bits, d in zip(every, disagreed, strict=True):
        verdict = judge_repeats([[bits[0:2], bits[4:5], bits[2:4], bits[5:6], bits[6:7]]])
        assert verdict.disagreed == d
        assert verdict.expected == pytest.approx(np.mean(disagreed))
        assert verdict.p_value == pytest.approx(np.mean([other <= d for other in disagreed]))


def test_numbers_that_come_back_to_the_last_digit_are_flagged() -> None:
    rng = np.random.default_rng(2)
    first = rng.normal(size=20)
    assert judge_repeats([[[x, x] for x in first]]).suspect
    assert not judge_repeats([rng.normal(size=(20, 2)).tolist()]).suspect


def test_what_was_answered_once_says_nothing() -> None:
    verdict = judge_repeats([[[1.0], [0.0], [1.0]]])
    assert (verdict.pairs, verdict.p_value, verdict.suspect) == (0, 1.0, False)


def test_the_warning_is_in_status_result_and_report(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    campaign = sweep(store, rows=20, columns=6, each=4, answers_per_worker_and_cell=4)

    def stubborn(asked: Asked) -> bool:
        item, question = int(asked.item.id[1:]), int(asked.question.id[1:])
        return (item % 2 == 0) != ((item * 7 + question * 3) % 8 == 0)

    answer_all(campaign, "stubborn", stubborn)
    warnings = status_of(campaign).warnings
    assert len(warnings) == 1
    assert (warnings[0].kind, warnings[0].fields["worker"]) == (REPEATS, "stubborn")
    assert json.loads(json.dumps(status_of(campaign).to_dict()))["warnings"] == [
        asdict(warnings[0])
    ]
    assert result_of(campaign).warnings == warnings
    assert "answers from worker stubborn are not independent draws" in report_html(campaign)
    outcome = campaign.outcome()
    assert outcome is not None
    with store.database.read() as connection:
        verdict = repeats_of(connection, campaign.id, outcome["labels"])["stubborn"]
    assert verdict.disagreed == 0
    assert verdict.p_value < ALPHA
    store.close()


def test_the_certificate_says_it_first(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    campaign = with_a_stubborn_worker(store)
    found = result_of(campaign)
    assert found.status == "done"
    assert found.certificate_text is not None
    warning, promise, *_ = found.certificate_text.splitlines()
    assert warning.startswith("WARNING: answers from worker stubborn are not independent draws")
    assert promise.startswith("All 30 labels are right")
    (certificate,) = re.findall("<pre>(.*?)</pre>", report_html(campaign), re.DOTALL)
    assert html.unescape(certificate) == found.certificate_text
    store.close()


def test_one_who_decides_alone_and_never_wavers_is_named(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    alone = sweep(store, rows=8, columns=2, each=4, answers_per_worker_and_cell=4)
    answer_all(alone, "ann", lambda asked: int(asked.item.id[1:]) % 2 == 0)
    (warning,) = status_of(alone).warnings
    assert warning == AnswerWarning(ALONE, {"worker": "ann", "pairs": 32})
    assert result_of(alone).warnings == (warning,)
    assert html.escape(sentence(warning)) in report_html(alone)
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
