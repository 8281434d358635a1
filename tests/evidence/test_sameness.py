"""Evidence that a question splits a group: valid however one asks, and clear where it is split."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.evidence.sameness import difference_evidence


def evidence(
    kind: AnswerKind, counts: list[int], sums: list[float], tolerance: float = 0.0
) -> float:
    block = np.zeros(len(counts), dtype=np.int64)
    return float(difference_evidence(kind, block, np.array(counts), np.array(sums), tolerance)[0])


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("counts", [(1, 1), (3, 1), (4, 3), (2, 2, 2)])
def test_its_expectation_is_at_most_one(p: float, counts: tuple[int, ...]) -> None:
    """By adding up all that can come out."""
    total = 0.0
    for sums in product(*(range(c + 1) for c in counts)):
        chance = np.prod(
            [_choose(c, s) * p**s * (1 - p) ** (c - s) for c, s in zip(counts, sums, strict=True)]
        )
        total += float(chance) * np.exp(evidence(YesNo(), list(counts), list(map(float, sums))))
    assert total <= 1


def _choose(n: int, k: int) -> float:
    return float(np.prod([(n - i) / (i + 1) for i in range(k)]))


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5])
def test_its_expectation_is_at_most_one_whatever_is_asked_next(p: float) -> None:
    """The worst that asking and stopping can do, by working backwards over 9 answers."""
    assert _worst(p, (0, 0), (0, 0), 9) <= 1


@cache
def _worst(p: float, counts: tuple[int, int], sums: tuple[int, int], left: int) -> float:
    """The largest expectation from here: stop now, or ask one of two items."""
    asked = [(c, float(s)) for c, s in zip(counts, sums, strict=True) if c]
    best = 1.0
    if asked:
        best = float(np.exp(evidence(YesNo(), [c for c, _ in asked], [s for _, s in asked])))
    for one, other in ((1, 0), (0, 1)) if left else ():
        more = counts[0] + one, counts[1] + other
        yes = sums[0] + one, sums[1] + other
        ahead = p * _worst(p, more, yes, left - 1) + (1 - p) * _worst(p, more, sums, left - 1)
        best = max(best, ahead)
    return best


def test_a_likelihood_ratio_in_hindsight_would_not_be_valid() -> None:
    """The cheat: bets from the answers they are paid by. The same sum exceeds 1 by far."""
    p, counts = 0.3, (4, 3)
    total = 0.0
    for sums in product(*(range(c + 1) for c in counts)):
        chance = np.prod(
            [_choose(c, s) * p**s * (1 - p) ** (c - s) for c, s in zip(counts, sums, strict=True)]
        )
        own = [_log(s, c, s / c) for c, s in zip(counts, sums, strict=True)]
        total += float(chance) * np.exp(sum(own) - _log(sum(sums), 7, sum(sums) / 7))
    assert total > 1.5


def _log(yes: float, count: float, p: float) -> float:
    return float(yes * np.log(p) if yes else 0) + float(
        (count - yes) * np.log1p(-p) if count > yes else 0
    )


@pytest.mark.parametrize("kind", [Scale(1, 5), Number(2.0)])
def test_scales_and_numbers_seldom_raise_a_false_alarm(kind: AnswerKind) -> None:
    """Each item is asked until it looks odd: the most misleading way to ask."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(150):
        counts, sums = np.zeros(6), np.zeros(6)
        for _ in range(60):
            odd = np.abs(sums / np.maximum(counts, 1) - sums.sum() / max(counts.sum(), 1))
            item = int(np.argmin(counts)) if rng.random() < 0.5 else int(np.argmax(odd))
            counts[item] += 1
            answer = rng.normal(3, 2) if isinstance(kind, Number) else rng.choice([1, 5])
            sums[item] += answer
        alarms += evidence(kind, counts.astype(int).tolist(), sums.tolist()) >= np.log(20)
    assert alarms <= 15  # 1 in 20 at most; that many come with probability .01


def test_two_kinds_of_items_are_seen() -> None:
    assert evidence(YesNo(), [10] * 8, [0.0, 10.0] * 4) > 15
    assert evidence(Scale(1, 5), [10] * 8, [10.0, 50.0] * 4) > 15
    assert evidence(Number(1.0), [10] * 8, [0.0, 20.0] * 4) > 15
    assert evidence(Number(1.0), [10] * 8, [1e7, 1e7 + 20.0] * 4) > 15


@pytest.mark.parametrize("tolerance", [0.05, 0.3])
@pytest.mark.parametrize("counts", [(3, 1), (4, 3), (2, 2, 2)])
def test_within_a_tolerance_its_expectation_is_at_most_one(
    tolerance: float, counts: tuple[int, ...]
) -> None:
    """Items anywhere in an interval of that length, by adding up all that can come out."""
    for low, places in product([0.0, 0.1, 0.4, 0.7], product([0.0, 1.0], repeat=len(counts))):
        total = 0.0
        for sums in product(*(range(c + 1) for c in counts)):
            means = [low + tolerance * place for place in places]
            chance = np.prod(
                [
                    _choose(c, s) * p**s * (1 - p) ** (c - s)
                    for c, s, p in zip(counts, sums, means, strict=True)
                ]
            )
            found = evidence(YesNo(), list(counts), [float(s) for s in sums], tolerance)
            total += float(chance) * np.exp(found)
        assert total <= 1


@pytest.mark.parametrize("kind", [YesNo(), Scale(0, 4), Number(0.5)])
def test_a_tolerance_forgives_what_lies_within_it_and_nothing_else(kind: AnswerKind) -> None:
    width = 4.0 if isinstance(kind, Scale) else 1.0
    counts, sums = [2000] * 3, [width * 2000 * mean for mean in (0.4, 0.5, 0.55)]
    assert evidence(kind, counts, sums) > 5
    assert evidence(kind, counts, sums, width * 0.15) < 0
    assert evidence(kind, counts, sums, width * 0.02) > 2
    tiny = evidence(kind, counts, sums, width * 1e-9)
    assert tiny == pytest.approx(evidence(kind, counts, sums), abs=1e-3)
