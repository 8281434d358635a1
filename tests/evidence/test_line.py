"""Validity by enumeration: under the null, the mean of a complete round's evidence is at most 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.evidence.line import largest_bet, round_evidence
from askfew.records import Floats

AT_MOST = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Round:
    """Questions with weights and cuts, a line, a bet, and the laws of the answers."""

    kind: AnswerKind
    weights: Floats
    cuts: Floats
    line: float
    bet: float
    laws: Floats
    """Chances of each value (questions x values)."""
    values: Floats

    @property
    def mean_score(self) -> float:
        return float((self.weights * (self.laws @ self.values - self.cuts)).mean())

    def outcomes(self) -> tuple[Floats, Floats]:
        """Every outcome's scores (outcomes x questions), and its chance."""
        m, v = self.laws.shape
        which = np.array(list(product(range(v), repeat=m)))
        chances = self.laws[np.arange(m), which].prod(axis=1)
        return self.weights * (self.values[which] - self.cuts), chances


Evidence = Callable[[Round, Floats], Floats]


def honest(at: Round, scores: Floats) -> Floats:
    bets = np.full(len(scores), at.bet)
    return round_evidence(at.kind, scores, at.line, bets, at.weights)


def expectation(at: Round, evidence: Evidence = honest) -> float:
    scores, chances = at.outcomes()
    return float(chances @ np.exp(evidence(at, scores)))


def random_round(rng: np.random.Generator, values: Floats, kind: AnswerKind) -> Round:
    """A round whose laws lie on the line, or a little or far on the null's side of it."""
    m = int(rng.integers(1, 5))
    width = values[-1] - values[0]
    weights = rng.choice([-1.0, 1.0], m) * rng.choice([1.0, rng.uniform(0.1, 3)], m)
    cuts = values[0] + width * rng.uniform(0.02, 0.98, m)
    ends = np.sort([weights * (values[0] - cuts), weights * (values[-1] - cuts)], axis=0)
    # One side of a line that some laws can lie on; a quarter of the time the line is the cut.
    line = 0.0 if rng.random() < 0.25 else float(rng.uniform(0.1, 0.9) * ends[1].mean())
    line = line if rng.random() < 0.5 else float(rng.uniform(0.1, 0.9) * ends[0].mean())
    laws = _laws_at_most(rng, weights, cuts, line, values)
    most = largest_bet(kind, weights, cuts, line)
    bet = float(rng.choice([most, rng.uniform(0, most), 0.0], p=[0.5, 0.4, 0.1]))
    return Round(kind, weights, cuts, line, bet, laws, values)


def _laws_at_most(
    rng: np.random.Generator, weights: Floats, cuts: Floats, line: float, values: Floats
) -> Floats:
    """Laws with a mean score of at most the line: towards the worst answers until it is so."""
    m, v = len(weights), len(values)
    laws = rng.dirichlet(np.full(v, rng.choice([0.2, 1.0])), m)
    worst = np.zeros((m, v))
    worst[np.arange(m), np.where(weights > 0, 0, v - 1)] = 1

    def score(some: Floats) -> float:
        return float((weights * (some @ values - cuts)).mean())

    here, there = score(laws), score(worst)
    if here <= line:
        return laws
    part = (here - line) / (here - there)
    part = float(part + (1 - part) * rng.choice([0.0, 0.0, 1e-3, rng.uniform(0, 1)]))
    return np.asarray((1 - part) * laws + part * worst)


KINDS: dict[str, tuple[AnswerKind, Floats]] = {
    "yes/no": (YesNo(), np.array([0.0, 1.0])),
    "scale of three": (Scale(1, 5), np.array([1.0, 3.0, 5.0])),
}


@pytest.mark.parametrize("name", KINDS)
def test_complete_rounds_have_mean_at_most_one_under_the_null(name: str) -> None:
    kind, values = KINDS[name]
    rng = np.random.default_rng(1)
    on_the_line = 0
    for _ in range(1500):
        at = random_round(rng, values, kind)
        assert at.mean_score <= at.line + 1e-12
        on_the_line += at.mean_score > at.line - 1e-12
        assert expectation(at) <= AT_MOST, at
    assert on_the_line > 300


@pytest.mark.parametrize("name", KINDS)
def test_beyond_the_line_evidence_grows_and_at_the_line_it_is_tight(name: str) -> None:
    kind, values = KINDS[name]
    weights, cuts = np.ones(3), np.full(3, values.mean())
    most = largest_bet(kind, weights, cuts, 0.0)

    def mean(high: float) -> float:
        laws = np.zeros((3, len(values)))
        laws[:, 0], laws[:, -1] = 1 - high, high
        return expectation(Round(kind, weights, cuts, 0.0, most, laws, values))

    assert mean(0.5) == pytest.approx(1)
    assert mean(0.6) > 1.5


def test_mixtures_of_sure_cells_lose_evidence() -> None:
    """Half of the cells always yes, half never: on the cut on average, and never evidence."""
    laws = np.array([[0.0, 1.0], [1.0, 0.0]] * 2)
    at = Round(YesNo(), np.ones(4), np.full(4, 0.5), 0.0, 1.7, laws, np.array([0.0, 1.0]))
    assert at.mean_score == 0
    assert expectation(at) < 0.2


def test_numbers_have_mean_at_most_one_by_the_normal_formula() -> None:
    """The evidence is linear in normal answers: its exponential has a mean in closed form."""
    rng = np.random.default_rng(2)
    for _ in range(500):
        m, sigma = int(rng.integers(1, 8)), float(rng.uniform(0.1, 5))
        weights, cuts = rng.normal(size=m), rng.normal(size=m)
        bet, line = float(rng.exponential(2)), float(rng.normal())
        means = rng.normal(size=m)
        score = (weights * (means - cuts)).mean()
        means -= np.sign(weights) * max(score - line, 0) / np.abs(weights).mean()
        expected = weights * (means - cuts)
        assert expected.mean() <= line + 1e-9
        at_mean = round_evidence(Number(sigma), [expected], line, [bet], weights)[0]
        # E exp(a + b'Z) = exp(a + |b|^2 / 2) with b = bet * sigma * weights.
        log_mean = at_mean + (bet * sigma) ** 2 * float(np.square(weights).sum()) / 2
        assert log_mean <= 1e-9


def test_numbers_have_mean_at_most_one_by_quadrature() -> None:
    nodes, chances = np.polynomial.hermite_e.hermegauss(60)
    chances = chances / chances.sum()
    for sigma, bet, shift in product([0.5, 2.0], [0.1, 0.7, 1.5], [0.0, -0.3]):
        scores = np.array([0.5, -2.0]) * (shift * np.array([1, -1]) + sigma * nodes[:, None])
        one, two = np.meshgrid(scores[:, 0], scores[:, 1], indexing="ij")
        both = np.stack([one.ravel(), two.ravel()], axis=1)
        e = np.exp(round_evidence(Number(sigma), both, 0.0, np.full(len(both), bet), [0.5, -2.0]))
        assert chances @ e.reshape(one.shape) @ chances <= AT_MOST


def test_huge_bets_on_numbers_lose_everything_and_are_never_undefined() -> None:
    with np.errstate(over="ignore"):
        evidence = round_evidence(Number(1.0), [[5.0], [-5.0]], 0.0, [1e308, 1e308], [1.0])
    assert (evidence == -np.inf).all()


def test_the_largest_bet_leaves_something_whatever_comes() -> None:
    rng = np.random.default_rng(3)
    for kind, values in KINDS.values():
        for _ in range(300):
            at = random_round(rng, values, kind)
            most = largest_bet(kind, at.weights, at.cuts, at.line)
            scores, _ = at.outcomes()
            with np.errstate(all="raise"):
                e = round_evidence(kind, scores, at.line, np.full(len(scores), most), at.weights)
            assert np.isfinite(e).all()
    assert largest_bet(YesNo(), [1.0], [0.0], 0.0) == np.inf  # nobody lies below: nothing to lose
    assert largest_bet(Number(1.0), [1.0], [0.0], 0.0) == np.inf


# Ways of cheating, each of which must come out above 1 on some null.

HALF = np.full((4, 2), 0.5)
ON_THE_CUT = Round(YesNo(), np.ones(4), np.full(4, 0.5), 0.0, 1.7, HALF, np.array([0.0, 1.0]))
SURE_AND_NEVER = Round(
    YesNo(),
    np.ones(2),
    np.full(2, 0.5),
    0.0,
    1.7,
    np.array([[0.0, 1.0], [1.0, 0.0]]),
    np.array([0.0, 1.0]),
)


def abandoned(at: Round, scores: Floats) -> Floats:
    """The first half of the round is looked at; if it goes badly the round is left out."""
    first = scores[:, : scores.shape[1] // 2].sum(axis=1)
    return np.where(first > 0, honest(at, scores), 0.0)


def as_it_is(at: Round, scores: Floats) -> Floats:
    """The second half was never answered, and the first is counted alone."""
    some = np.log1p(at.bet * (scores[:, : scores.shape[1] // 2] - at.line))
    return np.asarray(some.sum(axis=1))


def unequal(at: Round, scores: Floats) -> Floats:
    """The first question answered twice as often as the second, all with one bet."""
    factors = np.log1p(at.bet * (scores - at.line))
    return np.asarray(2 * factors[:, 0] + factors[:, 1:].sum(axis=1))


def bet_after_looking(at: Round, scores: Floats) -> Floats:
    bets = np.where(scores.mean(axis=1) > at.line, at.bet, 0.0)
    return round_evidence(at.kind, scores, at.line, bets, at.weights)


def powers_of_a_mean(at: Round, scores: Floats) -> Floats:
    """One factor for the mean answer, as often as there are questions."""
    return np.asarray(scores.shape[1] * np.log1p(at.bet * (scores.mean(axis=1) - at.line)))


def test_rounds_abandoned_after_a_look_are_caught() -> None:
    assert expectation(ON_THE_CUT) <= AT_MOST
    assert expectation(ON_THE_CUT, abandoned) > 1.5


def test_an_incomplete_round_counted_as_it_is_is_caught() -> None:
    assert expectation(SURE_AND_NEVER) <= AT_MOST
    assert expectation(SURE_AND_NEVER, as_it_is) == pytest.approx(1.85)


def test_unequal_numbers_of_answers_with_one_bet_are_caught() -> None:
    """At mean scores that average to the line the excess is largest: here over 2."""
    worst = max(
        expectation(
            Round(
                YesNo(),
                np.ones(2),
                np.array([cut, cut]),
                0.0,
                largest_bet(YesNo(), [1.0, 1.0], [cut, cut], 0.0),
                np.array([[1 - min(2 * cut, 1), min(2 * cut, 1)], [1.0, 0.0]]),
                np.array([0.0, 1.0]),
            ),
            unequal,
        )
        for cut in (0.1, 0.2, 0.3, 0.5)
    )
    assert worst > 2
    assert expectation(SURE_AND_NEVER) <= AT_MOST


@pytest.mark.parametrize("cheat", [bet_after_looking, powers_of_a_mean], ids=lambda c: c.__name__)
def test_other_cheats_are_caught(cheat: Evidence) -> None:
    worst = max(expectation(at, cheat) for at in (ON_THE_CUT, SURE_AND_NEVER))
    assert worst > 1.2
