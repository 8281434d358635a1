"""Judges who repeat themselves are found; honest ones are left alone, however unlike the items."""

import numpy as np
import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.checks.independence import Repeats, judge_cells, judge_repeats
from askfew.clustering import cluster
from askfew.estimates.cells import CellSums
from askfew.records import Ints

CELLS, JUDGES, ERRS = 50, 150, 0.15

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


@pytest.mark.parametrize(("questions", "once"), [(1, 0), (5, 0), (20, 100)])
def test_a_judge_that_errs_on_the_same_cells_is_flagged_within_fifty(
    questions: int, once: int
) -> None:
    assert flagged("errs on the same cells", questions, once) > 0.98


@pytest.mark.parametrize("kind", ["errs at random", "always right", "a coin", "good at some"])
@pytest.mark.parametrize(("questions", "once"), [(1, 0), (20, 100)])
def test_honest_judges_are_not_flagged(kind: str, questions: int, once: int) -> None:
    assert flagged(kind, questions, once) < 0.01


def test_looking_after_every_cell_raises_no_false_alarm() -> None:
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(30):
        blocks: Blocks = {}
        suspect = False
        for _ in range(25):
            for where, cells in answered(rng, "errs at random", 1, 2).items():
                blocks.setdefault(where, []).extend(cells)
            suspect |= judge_repeats(blocks.values()).suspect
        alarms += suspect
    assert alarms == 0


def world(rng: np.random.Generator, kind: str) -> tuple[CellSums, Ints]:
    """Four answers each of 40 items to 8 questions; groups of the cells."""
    items, questions, times = 40, 8, 4
    group = np.arange(items) % 2
    level = rng.choice([0.15, 0.85], questions)
    means = np.where(group[:, np.newaxis] == 1, level, 1 - level)
    if kind == "spread":
        means = np.clip(means + rng.normal(0, 0.14 * 0.7, means.shape), 0, 1)
    elif kind == "very unlike":
        means = np.clip(means + rng.normal(0, 0.5 * 0.7, means.shape), 0.02, 0.98)
    elif kind == "exceptions, 5 % errors":
        means = np.where(means > 0.5, 0.95, 0.05)
        means = np.where(rng.random(means.shape) < 0.1, 1 - means, means)
    elif kind.startswith("copies"):
        slips = 0.0035 if kind == "copies with slips" else 0.0
        means = np.where(rng.random(means.shape) < means, 1 - slips, slips)
    sums = rng.binomial(times, means).astype(float).ravel()
    where = np.indices(means.shape).reshape(2, -1)
    cells = CellSums(where[0], where[1], np.full(sums.size, times), sums, sums)
    return cells, group[where[0]]


def verdicts(kind: str, *, alike: bool) -> list[Repeats]:
    rng = np.random.default_rng(3)
    drawn = [world(rng, kind) for _ in range(60)]
    return [judge_cells(YesNo(), cells, groups, alike=alike) for cells, groups in drawn]


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("kind", ["identical", "spread", "very unlike"])
def test_a_good_crowd_is_not_flagged_for_unlike_items(kind: str, *, alike: bool) -> None:
    assert not any(each.suspect for each in verdicts(kind, alike=alike))


def test_where_items_may_be_unlike_exceptions_are_no_copies() -> None:
    found = verdicts("exceptions, 5 % errors", alike=False)
    assert not any(each.suspect for each in found)
    # A ratio of how often repeats and items differ would flag this crowd.
    assert np.mean([each.varied_differ for each in found]) < 0.5 * np.mean(
        [each.usual for each in found]
    )


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("kind", ["copies", "copies with slips"])
def test_a_judge_at_temperature_0_is_flagged(kind: str, *, alike: bool) -> None:
    found = verdicts(kind, alike=alike)
    assert np.mean([each.suspect for each in found]) > 0.98
    assert all(each.quiet for each in found)


def test_a_few_contradictions_where_all_items_agree_silence_nothing() -> None:
    """A judge that slips in 1 % of its answers; most of them are on the labels' question."""
    rng = np.random.default_rng(5)
    slips = [[1.0] * 80 for _ in range(25)]
    for cell in range(20):
        slips[cell][3] = 0.0
    others = [[[float(rng.random() < 0.87)] * 3 for _ in range(20)] for _ in range(3)]
    others[1][4] = [1.0, 1.0, 0.0]
    verdict = judge_repeats([slips, *others])
    assert verdict.suspect
    assert verdict.quiet
    assert judge_repeats([slips]).nats == pytest.approx(0, abs=2)


@pytest.mark.parametrize("kind", [Number(1.0), Scale(1, 5)])
def test_numbers_and_scales_that_come_back_are_flagged(kind: AnswerKind) -> None:
    rng = np.random.default_rng(2)
    for copies in (True, False):
        answers = rng.normal(3, 1, size=(60, 4))
        if isinstance(kind, Scale):
            answers = np.clip(np.round(answers), 1, 5)
        if copies:
            answers = np.repeat(answers[:, :1], 4, axis=1)
        item = np.arange(60)
        cells = CellSums(
            item, item % 3, np.full(60, 4), answers.sum(axis=1), (answers**2).sum(axis=1)
        )
        verdict = judge_cells(kind, cells, np.zeros(60, dtype=np.int64), alike=False)
        assert verdict.suspect == copies
        blocks = [answers[item % 3 == question].tolist() for question in range(3)]
        assert judge_repeats(blocks).suspect == copies


def test_what_was_answered_once_says_nothing() -> None:
    verdict = judge_repeats([[[1.0], [0.0], [1.0]]])
    assert (verdict.repeats, verdict.suspect, verdict.quiet) == (0, False, False)


def test_a_frozen_judge_does_not_pass_without_a_word() -> None:
    """It decides the groups alone by one question, so that no test can see through it."""
    wrong = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = np.arange(30) % 2
        said = truth[:, np.newaxis] ^ (rng.random((30, 6)) < 0.15)
        outcome = cluster(lambda i, q, said=said: bool(said[i, q]), 30, 6, rng=seed)
        if outcome.certificate is None:
            continue
        wrong += not np.array_equal(outcome.labels, outcome.labels[0] ^ truth)
        assert outcome.certificate_text is not None
        first = outcome.certificate_text.splitlines()[0]
        assert first.startswith(("WARNING: asked again", "THE PROMISE BELOW DOES NOT HOLD"))
    assert wrong >= 5
