"""Candidates of a search: two items and a question, what they answered, and whom to ask again.

A *pool* keeps the answers. A *posterior* says how probably each candidate differs: a candidate
differs with an unknown probability (the *share*) by an unknown gap, and the pool itself tells which
shares and gaps are plausible. Large gaps would soon have shown, small ones leave more spread than
noise alone. Averaging over what is plausible gives every candidate, and one not asked yet, the
evidence that a sample of it is expected to bring. ``plan_round`` samples the best again. All of it
is heuristic; nothing rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from askfew.answers import AnswerKind, Number
from askfew.evidence import log_evidence, nine_digits
from askfew.records import Floats, Ints, Problem, Tally

__all__ = [
    "Noise",
    "Pool",
    "Posterior",
    "graded_posterior",
    "plan_round",
    "posterior",
    "samples_wanted",
]

# Where no other measurement is named: the values of the prototype. What they cost is shown by
# `askfew bench --suite full`; tests/algorithms/frugal/test_costs.py fails if a change costs more.
_SILENT = 6
"""Returns in a row without an answer of one side after which a candidate is given up. Where 30 %
of the answers arrive, 3 cost 1.5 times the answers of 6; 10 cost the same
(tests/algorithms/frugal/test_arrival.py)."""
Payoff: TypeAlias = Callable[[Floats], Floats]

_GAPS = 12.0 * 1.5 ** -np.arange(20.0)
"""Gaps that are thought possible, in units of sigma."""
_SHARES = 0.5 * 4.0 ** -np.arange(9.0)
"""Shares of differing candidates that are thought possible."""
_PRIOR = 1 / _GAPS / (1 + (0.25 / _GAPS) ** 2)
"""Small gaps are more common than large ones; very small ones are not worth a first thought."""
_FINE = 16
"""Candidates count as alike if they have as many samples and the same root score, in units of one
over this. The posterior is then computed once for each kind."""
_LARGEST = 50.0
"""Log likelihood ratios are capped here, so that their exponential does not overflow. At 50 nats a
candidate is certain anyway."""
_QUIET = 0.6
"""Noise is taken to be smaller than allowed for if its square is below this share of it."""
_DOUBT = 20.0
"""Weight of the usual noise, in answers, before a question's own answers are heard."""
_LEADS = 0.3
"""The probability of a difference from which on a candidate may lead and be registered."""
_LIKELY = 0.2
"""The probability from which on a candidate is sampled as if to be confirmed at once."""
_CONFIRM = 5.0
"""Nats in sample that such a candidate is given enough samples for."""
_SURE = 0.9
"""The probability from which on the leader is sampled alone: its rivals wait."""
_PROMOTED = 0.15
"""Share of a round that is sampled again in any case."""


class Pool:
    """A growing table of candidates; row c has sides 0 and 1, the two items of the pair."""

    def __init__(self, answers: AnswerKind, tolerance: float = 0.0) -> None:
        self.answers = answers
        self.tolerance = tolerance
        self.size = 0
        self._items = np.zeros((64, 2), dtype=np.int64)
        self._questions = np.zeros(64, dtype=np.int64)
        self._counts = np.zeros((64, 2))
        self._sums = np.zeros((64, 2))
        self._scores = np.zeros(64)
        self._silent = np.zeros(64, dtype=np.int64)

    @property
    def items(self) -> Ints:
        """The pair of each candidate."""
        return self._items[: self.size]

    @property
    def questions(self) -> Ints:
        """The question of each candidate."""
        return self._questions[: self.size]

    @property
    def counts(self) -> Floats:
        """Answers of each side."""
        return self._counts[: self.size]

    @property
    def sums(self) -> Floats:
        """Sum of the answers of each side."""
        return self._sums[: self.size]

    @property
    def scores(self) -> Floats:
        """How different the two sides look, in nats; -inf for what is given up."""
        return self._scores[: self.size]

    @property
    def samples(self) -> Floats:
        """Pairs of answers: the smaller count of the two sides."""
        return np.minimum(self.counts[:, 0], self.counts[:, 1])

    def add(self, items: Ints, questions: Ints, replaced: Ints | None = None) -> Ints:
        """New candidates, not asked yet, some in the place of old ones; returns their rows."""
        old = np.zeros(0, dtype=np.int64) if replaced is None else replaced
        more = len(questions) - len(old)
        while self.size + more > len(self._questions):
            self._grow()
        rows = np.append(old, np.arange(self.size, self.size + more))
        self.size += more
        self._items[rows], self._questions[rows] = items, questions
        for column in (self._counts, self._sums, self._scores, self._silent):
            column[rows] = 0
        return rows

    def least(self, size: int) -> Ints:
        """The rows of the lowest scores."""
        return np.sort(np.argsort(self.scores, kind="stable")[:size])

    def record(self, rows: Ints, counts: Floats, sums: Floats) -> None:
        """Add answers (rows x sides), and look again at how different the sides are."""
        self._counts[rows] += counts
        self._sums[rows] += sums
        self._silent[rows] = np.where(
            (counts[:, 0] > 0) & (counts[:, 1] > 0), 0, self._silent[rows] + 1
        )
        score = in_sample_evidence(
            self.answers, self._counts[rows], self._sums[rows], self.tolerance
        )
        lost = (self._silent[rows] >= _SILENT) | np.isneginf(self._scores[rows])
        self._scores[rows] = np.where(lost, -math.inf, score)

    def believe(self, rows: Ints, counts: Floats, sums: Floats) -> None:
        """Replace what these candidates answered by these counts and sums."""
        self._counts[rows], self._sums[rows] = 0.0, 0.0
        self.record(rows, counts, sums)

    def give_up(self, rows: Ints) -> None:
        """Never look at these candidates again."""
        self._scores[rows] = -math.inf

    def _grow(self) -> None:
        for name in ("_items", "_questions", "_counts", "_sums", "_scores", "_silent"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros_like(old)]))


def in_sample_evidence(
    answers: AnswerKind, counts: Floats, sums: Floats, tolerance: float = 0.0
) -> Floats:
    """The evidence a bet on the observed means would have had: for ranking, never a certificate.

    >>> from askfew.answers import Number
    >>> in_sample_evidence(Number(1.0), np.array([[4.0, 4.0]]), np.array([[0.0, 8.0]]))
    array([4.])
    """
    means = sums / np.maximum(counts, 1)
    (x, r), (a, b) = sums.T, counts.T
    score = log_evidence(answers, means[:, 0], means[:, 1], x, a, r, b, tolerance=tolerance)
    return nine_digits(score)


@dataclass(frozen=True, eq=False)
class Posterior:
    """For each candidate the expected evidence of a sample and the probability that it differs."""

    values: Floats
    chances: Floats
    new: float
    """The value of a candidate that has not been asked yet."""


def posterior(pool: Pool, payoff: Payoff, noise: Noise) -> Posterior:
    """The posterior of all candidates, if all that differ do so by the same unknown gap."""
    ratios, times, rows, kinds = _alike(pool, noise)
    weights = _weights(ratios, times)
    chances = _SHARES[:, np.newaxis] * ratios[:, np.newaxis, :]
    chances = (weights * chances / (1 - _SHARES[:, np.newaxis] + chances)).sum(axis=1)
    return _spread(pool, rows, kinds, chances, _SHARES @ weights, payoff(_GAPS))


def graded_posterior(pool: Pool, payoff: Payoff, noise: Noise, also: Pool) -> Posterior:
    """The posterior of all candidates, if any gap may occur, each with a share of its own.

    ``also`` is another pool whose answers help to judge the shares.
    """
    ratios, times, _, _ = _alike(also, noise)
    log = _log_likelihood(ratios, times)
    ratios, times, rows, kinds = _alike(pool, noise)
    log += _log_likelihood(ratios, times)
    weights = np.exp(log - log.max(axis=0))
    shares = _SHARES @ weights / weights.sum(axis=0) * _PRIOR / _PRIOR.sum()
    chances = shares * ratios
    chances = chances / (1 - shares.sum() + chances.sum(axis=1, keepdims=True))
    return _spread(pool, rows, kinds, chances, shares, payoff(_GAPS))


def _spread(
    pool: Pool, rows: Ints, kinds: Ints, chances: Floats, shares: Floats, payoff: Floats
) -> Posterior:
    """The posterior of all candidates, from that of their kinds (kinds x gaps)."""
    values, likely = np.full(pool.size, -math.inf), np.zeros(pool.size)
    values[rows] = nine_digits((chances * payoff).sum(axis=1))[kinds]
    likely[rows] = nine_digits(chances.sum(axis=1))[kinds]
    return Posterior(values, likely, float(nine_digits((shares * payoff).sum())))


def _alike(pool: Pool, noise: Noise) -> tuple[Floats, Ints, Ints, Ints]:
    """Kinds of candidates: likelihood ratios, how many are of each, and which row is of which."""
    rows = np.flatnonzero(pool.scores > -math.inf)
    samples = pool.samples[rows]
    fine = np.rint(
        _FINE * np.sqrt(np.maximum(pool.scores[rows], 0) / noise.shares(pool.questions[rows]))
    )
    _, first, kinds, times = np.unique(
        samples * 2.0**20 + fine, return_index=True, return_inverse=True, return_counts=True
    )
    return _likelihood_ratios(samples[first], fine[first] / _FINE), times, rows, kinds


def _likelihood_ratios(samples: Floats, roots: Floats) -> Floats:
    """Ratios of "differs by this gap, either way" to "does not differ" (candidates x gaps)."""
    shift = np.sqrt(samples) * roots
    log_cosh = np.logaddexp(np.outer(shift, _GAPS), -np.outer(shift, _GAPS)) - math.log(2)
    return np.exp(np.minimum(log_cosh - np.outer(samples, _GAPS**2) / 4, _LARGEST))


def _log_likelihood(ratios: Floats, times: Ints) -> Floats:
    """Log likelihood of each share and gap, given all candidates (shares x gaps)."""
    return np.array([times @ np.log1p(share * (ratios - 1)) for share in _SHARES])


def _weights(ratios: Floats, times: Ints) -> Floats:
    """How plausible each share and gap is (shares x gaps)."""
    log = _log_likelihood(ratios, times) + np.log(_PRIOR)
    weights = np.exp(log - log.max())
    return np.asarray(weights / weights.sum())


class Noise:
    """The spread of the answers to each question, over all items; for heuristics only.

    Evidence allows for sigma, or for the largest spread that bounded answers of such a mean can
    have (that of yes and no). Groups that differ add to the spread that is seen, so a question is
    not taken to be quieter than it is.
    """

    def __init__(self, problem: Problem) -> None:
        self._answers = problem.kind
        self._counts, self._sums, self._squares = np.zeros((3, problem.questions))

    def record(self, questions: Ints, tally: Tally) -> None:
        """Take in a Batch's answers. Without sums of squares nothing is learned."""
        if tally.squares is None:
            return
        np.add.at(self._counts, questions, tally.counts)
        np.add.at(self._sums, questions, tally.sums)
        np.add.at(self._squares, questions, tally.squares)

    def shares(self, questions: Ints) -> Floats:
        """Squared noise of each question as a share of the allowed; 1 unless it is clearly less."""
        allowed = self._allowed()
        if not allowed.any():
            return np.ones(len(questions))
        doubt = _DOUBT * allowed.sum() / self._counts.sum()
        seen = self._squares - self._sums**2 / np.maximum(self._counts, 1)
        usual = (seen.sum() + doubt) / (allowed.sum() + doubt)
        share = nine_digits((seen[questions] + doubt * usual) / (allowed[questions] + doubt))
        return np.where(share < _QUIET, np.maximum(share, 1e-12), 1.0)

    def _allowed(self) -> Floats:
        """The sum of squared deviations that the evidence allows for, by question."""
        if isinstance(self._answers, Number):
            return np.maximum(self._counts - 1, 0) * self._answers.sigma**2
        means = self._sums / np.maximum(self._counts, 1)
        room = (means - self._answers.low) * (self._answers.high - means)
        return np.asarray(self._counts * np.maximum(room, 0))


def plan_round(
    pool: Pool, now: Posterior, budget: int, most: float = math.inf
) -> tuple[Ints, Ints, int | None]:
    """Rows to sample again, how often, and the leader; what is left of the budget is for new ones.

    A candidate is sampled again if that promises more than a new one, best first. One that seems to
    need more than ``most`` samples has to wait, so that no cell is asked very often in vain.
    """
    order = np.argsort(-now.values, kind="stable")
    order = order[(now.values[order] > now.new) & (_to_confirm(pool)[order] <= most)]
    if len(order) and now.chances[order[0]] > _SURE:
        order = order[:1]
    wanted = samples_wanted(pool, now)[order]
    granted = np.clip(budget - (np.cumsum(wanted) - wanted), 0, wanted).astype(np.int64)
    rows, sizes = order[granted > 0], granted[granted > 0]
    spare = math.ceil(_PROMOTED * budget) - int(sizes.sum())
    if spare > 0 and pool.size:
        promoted, extra = _promotions(pool, spare, most)
        new = ~np.isin(promoted, rows)
        rows, sizes = np.append(rows, promoted[new]), np.append(sizes, extra[new])
    leads = len(rows) > 0 and now.chances[rows[0]] > _LEADS
    return rows, sizes, int(rows[0]) if leads else None


def _promotions(pool: Pool, budget: int, most: float) -> tuple[Ints, Ints]:
    """Double the samples, below ``most``, of each rung's best half; all rungs share the budget.

    Candidates with at least 2^r samples stand on rung r. The posterior believes in sigma and in one
    gap. Where that is far off, a good candidate might wait for ever; this share of the round does
    not depend on the posterior.
    """
    samples, scores = pool.samples, pool.scores
    rungs = np.maximum(np.frexp(samples)[1] - 1, 0)
    extra = np.zeros(pool.size, dtype=np.int64)
    left, deepest = float(budget), int(rungs.max())
    for rung in range(deepest, -1, -1):
        here = np.flatnonzero((rungs >= rung) & (scores > -math.inf))
        best = here[np.argsort(-scores[here], kind="stable")][: (len(here) + 1) // 2]
        due = best[(rungs[best] == rung) & (samples[best] < most)]
        share = left - budget * rung / (deepest + 1)  # what deeper rungs did not use comes along
        wanted = 2.0 ** (rung + 1) - samples[due]
        extra[due] = np.clip(share - (np.cumsum(wanted) - wanted), 0, wanted).astype(np.int64)
        left -= extra[due].sum()
    rows = np.flatnonzero(extra)
    return rows, extra[rows]


def samples_wanted(pool: Pool, now: Posterior) -> Floats:
    """How many samples each candidate should get next.

    Doubling keeps all that was learned in proportion; a likely one gets what would confirm it,
    because every round of waiting costs as much as the whole round.
    """
    likely = now.chances > _LIKELY
    return np.where(likely, np.maximum(pool.samples, _to_confirm(pool)), pool.samples)


def _to_confirm(pool: Pool) -> Floats:
    """How many more samples should confirm each candidate, if it goes on as it began."""
    return np.asarray(np.ceil(_CONFIRM * pool.samples / np.maximum(pool.scores - 1, 0.5)))
