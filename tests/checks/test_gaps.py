"""Intervals of gaps: few answers do not make them certain, and they hold as often as said."""

import numpy as np
import pytest
from scipy.special import comb

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.checks.gaps import gap_interval, gap_intervals
from askfew.records import Floats

RUNS = 3000


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_a_handful_of_answers_that_agree_are_not_certain(count: int) -> None:
    low, high = gap_interval(YesNo(), (0.0, count), (1.0, count))
    assert 0 <= low < 1 - 1 / (2 * count)
    assert high == pytest.approx(1.0)
    low, high = gap_interval(Scale(1, 5), (3.0, count), (3.0, count))
    assert low == 0
    assert high > 4 / (2 * count)


def test_more_answers_make_it_narrower() -> None:
    lows = [gap_interval(YesNo(), (0.0, n), (1.0, n))[0] for n in (2, 5, 20, 100, 1000)]
    assert lows == sorted(set(lows))
    assert lows[-1] > 0.99


def test_a_scale_is_a_share_of_its_width_and_the_order_is_no_matter() -> None:
    shares = gap_interval(YesNo(), (0.25, 12), (0.75, 7))
    points = gap_interval(Scale(1, 5), (2.0, 12), (4.0, 7))
    assert points == pytest.approx([4 * each for each in shares])
    assert gap_interval(YesNo(), (0.75, 7), (0.25, 12)) == shares


def test_where_the_groups_may_lie_the_other_way_round_zero_is_inside() -> None:
    for kind in (YesNo(), Scale(0, 10), Number(2.0)):
        low, high = gap_interval(kind, (0.5, 4), (0.5, 4000))
        assert low == 0
        assert high > 0.2


@pytest.mark.parametrize("counts", [(2, 2), (3, 3), (5, 20), (15, 15)])
def test_for_yes_and_no_it_holds_as_often_as_it_says(counts: tuple[int, int]) -> None:
    """By adding up all that can come out, over a grid of truths."""
    n, m = counts
    found = [
        (x, y, *gap_interval(YesNo(), (x / n, n), (y / m, m)))
        for x in range(n + 1)
        for y in range(m + 1)
    ]
    x, y, low, high = np.array(found).T
    truths = np.linspace(0.02, 0.98, 25)
    held = []
    for p in truths:
        for q in truths:
            inside = (low <= abs(p - q) + 1e-9) & (abs(p - q) <= high + 1e-9)
            chances = comb(n, x) * p**x * (1 - p) ** (n - x)
            chances *= comb(m, y) * q**y * (1 - q) ** (m - y)
            held.append(float(chances[inside].sum()))
    assert min(held) > 0.92
    assert np.mean(held) > 0.97


@pytest.mark.parametrize("counts", [(2, 2), (5, 20), (40, 40)])
@pytest.mark.parametrize(
    ("kind", "means"),
    [
        (Scale(1, 5), (1.4, 4.2)),
        (Scale(0, 100), (50.0, 55.0)),
        (Number(3.0), (-1.0, 2.5)),
    ],
)
def test_for_scales_and_numbers_it_holds_as_often_as_it_says(
    kind: AnswerKind, means: tuple[float, float], counts: tuple[int, int]
) -> None:
    rng = np.random.default_rng(7)
    drawn = [_means(rng, kind, mean, n) for mean, n in zip(means, counts, strict=True)]
    held = 0
    for one, other in zip(*drawn, strict=True):
        low, high = gap_interval(kind, (float(one), counts[0]), (float(other), counts[1]))
        held += low <= means[1] - means[0] <= high
    assert held / RUNS > 0.93  # 95 %, and five standard deviations of so many runs


def _means(rng: np.random.Generator, kind: AnswerKind, mean: float, count: int) -> Floats:
    """The mean of so many answers, over and over."""
    if isinstance(kind, Number):
        return np.asarray(rng.normal(mean, kind.sigma, (RUNS, count)).mean(axis=1))
    points = 4 if isinstance(kind, Scale) else 1
    share = (mean - kind.low) / (kind.high - kind.low)
    drawn = rng.binomial(points, share, (RUNS, count)).mean(axis=1) / points
    return np.asarray(kind.low + (kind.high - kind.low) * drawn)


@pytest.mark.parametrize("kind", [YesNo(), Scale(1, 5), Number(2.0)])
def test_many_at_once_are_as_one_by_one(kind: AnswerKind) -> None:
    low = 0.0 if isinstance(kind, Number) else kind.low
    ones, others = [low, low + 0.7, low + 1], [low + 0.9, low + 0.2, low + 1]
    lows, highs = gap_intervals(kind, ones, [2, 5, 9], others, [3, 30, 4])
    for row, (one, n, other, m) in enumerate(zip(ones, [2, 5, 9], others, [3, 30, 4], strict=True)):
        assert (lows[row], highs[row]) == gap_interval(kind, (one, n), (other, m))
    narrow = gap_intervals(kind, ones, [2, 5, 9], others, [3, 30, 4], tail=0.1)
    assert (narrow[0] >= lows).all()
    assert (narrow[1] <= highs).all()
