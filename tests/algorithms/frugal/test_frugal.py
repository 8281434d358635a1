"""What a run asks, in how many rounds, and what it says about it."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from askfew.algorithms.frugal import frugal
from askfew.algorithms.frugal.claim.pooled_certificate import FrugalCertificate
from askfew.driver import replay, run
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.oracles import bernoulli, gaussian
from askfew.records import Batch, Oracle, Problem, Tally

from .worlds import LABELS, Silent, numbers, play, right, yes_no


class Watched:
    """An oracle that remembers how often each cell was asked."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem, self._oracle = oracle.problem, oracle
        self.asked: dict[tuple[int, int], int] = {}

    def __call__(self, batch: Batch, /) -> Tally:
        rows = zip(batch.items.tolist(), batch.questions.tolist(), batch.repeats, strict=True)
        for item, question, repeats in rows:
            self.asked[item, question] = self.asked.get((item, question), 0) + int(repeats)
        return self._oracle(batch)


SMALL: dict[str, Callable[[int], Oracle]] = {
    "three items": lambda seed: numbers(seed, 4.0, 1, 2, np.array([0, 1, 1])),
    "four items": lambda seed: numbers(seed, 3.0, 1, 2, np.array([0, 1, 0, 1])),
    "yes/no": lambda seed: yes_no(seed, 0.97, 1, 2, np.array([0, 1, 0, 1])),
    "dense": lambda seed: numbers(seed, 2.0, 2, 2, np.array([0, 1, 1])),
}


@pytest.mark.parametrize("name", SMALL)
def test_many_small_runs_have_no_long_tail(name: str) -> None:
    answers = [play(SMALL[name](seed), seed, 0.2).meter.answers for seed in range(400)]
    assert max(answers) <= 30 * np.median(answers)


def busiest(seed: int) -> float:
    """Answers of the busiest cell but the searched pair's, over the median labelled item's."""
    labels = np.random.default_rng(seed).permutation(np.arange(500) % 2)
    oracle = Watched(yes_no(seed, 0.9, 5, 100, labels))
    ended = play(oracle, seed)
    assert ended.result is not None
    question = ended.result.question
    labelled = [times for (_, asked), times in oracle.asked.items() if asked == question]
    most = [0] * 500
    for (item, _), times in oracle.asked.items():
        most[item] = max(most[item], times)
    return float(sorted(most)[-3] / np.median(labelled))


def test_nobody_is_asked_anything_very_often() -> None:
    """Items are references of one another, so that beside the pair no cell is much busier.

    By bad luck an item's own answers may leave it in doubt for long.
    """
    ratios = np.array([busiest(seed) for seed in range(60)])
    assert np.mean(ratios <= 5) >= 0.9
    assert ratios.max() <= 12


@pytest.mark.parametrize("useful", [1, 53, 1000])
def test_rounds_are_few(useful: int) -> None:
    labels = np.arange(20) % 2
    for seed in range(5):
        ended = play(numbers(seed, 15 / np.sqrt(useful), useful, 1000, labels), seed)
        assert ended.meter.batches <= 120


def test_rounds_are_few_when_every_question_has_been_hunted() -> None:
    """With no new question to try, a round of the hunt is as large as any other."""
    labels = np.arange(60) % 2
    for seed in range(5):
        ended = play(yes_no(seed, 0.62, 8, 8, labels), seed)
        assert ended.meter.batches <= 120


def test_memory_grows_with_what_is_asked_and_not_with_the_table() -> None:
    """A hundred thousand items and ten thousand questions; how quick it is, a benchmark says."""
    means = np.zeros((2, 10_000))
    means[1, :100] = 3.0
    labels = np.random.default_rng(0).integers(0, 2, 100_000)
    oracle = gaussian(means, labels=labels, rng=0)
    tracemalloc.start()
    ended = play(oracle)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert right(ended, labels)
    assert peak < labels.size * means.shape[1] / 4  # a quarter of a byte a cell of the table


def test_the_same_seed_asks_the_same() -> None:
    logs = []
    for _ in range(2):
        oracle = numbers(3, 1.0, 3, 20)
        logs.append(Log(oracle.problem))
        run(frugal(oracle.problem, 0.05, np.random.default_rng(8)), oracle, log=logs[-1])
    assert [step.seal for step in logs[0]] == [step.seal for step in logs[1]]


def test_a_log_replays() -> None:
    oracle = numbers(3, 1.0, 3, 20)
    log = Log(oracle.problem)
    ended = run(frugal(oracle.problem, 0.05, np.random.default_rng(8)), oracle, log=log)
    session = replay(frugal(oracle.problem, 0.05, np.random.default_rng(8)), log)
    assert session.ended is not None
    assert session.ended.result is not None
    assert ended.result is not None
    assert np.array_equal(session.ended.result.labels, ended.result.labels)


def test_short_rows_are_no_trouble() -> None:
    rng = np.random.default_rng(0)

    class Skipping:
        def __init__(self, oracle: Oracle) -> None:
            self.problem, self._oracle = oracle.problem, oracle

        def __call__(self, batch: Batch, /) -> Tally:
            counts = rng.binomial(batch.repeats, 0.8)
            some = np.flatnonzero(counts)
            sums = np.zeros(len(counts))
            if len(some):
                asked = Batch(batch.items[some], batch.questions[some], counts[some])
                sums[some] = self._oracle(asked).sums
            return Tally(counts, sums)

    assert right(play(Skipping(numbers(1, 1.5, 2, 10))), LABELS)


def test_the_certificate_explains_itself() -> None:
    ended = play(numbers(0))
    assert ended.result is not None
    certificate = ended.result.certificate
    assert isinstance(certificate, FrugalCertificate)
    assert certificate.gap_interval is not None
    low, high = certificate.gap_interval
    assert low <= 2.0 <= high
    assert (np.array(certificate.item_evidence) >= certificate.item_needed).all()
    assert json.loads(json.dumps(certificate.to_dict(), allow_nan=False))["question"] == 0
    assert "This assumes" in str(certificate)
    assert "10 labels are right, all of them with probability at least 0.95." in str(certificate)


def test_a_certificate_without_some_labels_has_no_interval() -> None:
    """Answers of undecided items are missing for a reason."""
    ended = play(Silent(numbers(0), lambda items, _: items == 3))
    assert ended.result is not None
    certificate = ended.result.certificate
    assert isinstance(certificate, FrugalCertificate)
    assert certificate.gap_interval is None
    assert "interval" not in str(certificate)
    assert json.loads(json.dumps(certificate.to_dict(), allow_nan=False))["gap_interval"] is None


def test_a_certificate_with_a_tolerance_has_no_interval() -> None:
    """A group has no one mean then: items near the other group are asked more often."""
    low = np.where(np.arange(20) % 2 == 0, 0.05, 0.3)
    oracle = bernoulli(np.append(low, np.full(20, 0.95))[:, np.newaxis], rng=1)
    ended = play(oracle, tolerance=0.25)
    assert ended.result is not None
    certificate = ended.result.certificate
    assert isinstance(certificate, FrugalCertificate)
    assert (ended.result.labels == np.repeat([0, 1], 20)).all()
    assert certificate.gap_interval is None
    assert "the groups differ by about" in str(certificate)


def test_a_yes_no_certificate_s_interval_is_narrow_enough_to_say_something() -> None:
    ends = []
    for seed in range(10):
        ended = play(yes_no(seed, 0.95, labels=np.arange(100) % 2), seed)
        assert ended.result is not None
        assert isinstance(ended.result.certificate, FrugalCertificate)
        assert ended.result.certificate.gap_interval is not None
        ends.append(ended.result.certificate.gap_interval)
    assert sum(low <= 0.9 <= high for low, high in ends) >= 9
    assert min(low for low, _ in ends) > 0.3


def test_every_batch_says_what_is_known() -> None:
    ended = play(numbers(0, 1.0, 3, 20))
    assert set(ended.meter.by_phase) <= {"search", "hunt", "label"}


@pytest.mark.parametrize("option", [{"growth": 0.0}, {"step": 2.0}, {"hunt": "1"}])
def test_options_are_checked(option: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        next(frugal(Problem(5, 2), 0.05, np.random.default_rng(0), **option))
