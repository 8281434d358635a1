"""People answer some of what they are asked: what was paid for is kept."""

import numpy as np

from askfew.algorithms import start
from askfew.driver import run
from askfew.records import Ints
from askfew.simulation import Instance
from askfew.testing import ForgetfulOracle


def mean_answers(arrival: float) -> float:
    """Of twelve runs in which each answer arrives with this chance."""
    spent = []
    for seed in range(12):
        oracle = Instance(60, 20, 4, 0.7, "yes-no").draw(np.random.SeedSequence(seed)).oracle
        rng = np.random.default_rng(seed + 99)

        def keep(_: int, repeats: Ints, rng: np.random.Generator = rng) -> Ints:
            return rng.binomial(repeats, arrival)

        method = start("frugal", oracle.problem, np.random.default_rng(seed), delta=0.05)
        ended = run(method, ForgetfulOracle(oracle, keep), max_answers=200_000)
        spent.append(ended.meter.answers)
    return float(np.mean(spent))


def test_answers_that_come_alone_are_not_thrown_away() -> None:
    all_come = mean_answers(1.0)
    assert mean_answers(0.6) < 1.06 * all_come  # 1.10 when one-sided candidates were dropped
    assert mean_answers(0.3) < 2.9 * all_come  # 3.5
