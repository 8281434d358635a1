"""What the answers so far say about candidates: the posterior chance that each differs.

A candidate differs with an unknown probability (the *share*) by an unknown gap. The pool itself
tells which shares and gaps are plausible: large gaps would soon have shown, small ones leave more
spread than noise alone. Averaging over what is plausible gives every candidate, and one not asked
yet, the evidence a sample of it is expected to bring. This is a heuristic; nothing rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from askfew.algorithms.frugal.guess.pool import Pool
from askfew.answers import Number
from askfew.evidence import nine_digits
from askfew.records import Floats, Ints, Problem, Tally

__all__ = ["Noise", "Payoff", "Posterior", "graded_posterior", "posterior"]

Payoff: TypeAlias = Callable[[Floats], Floats]

_GAPS = 12.0 * 1.5 ** -np.arange(20.0)
"""Gaps that are thought possible, in units of sigma."""
_SHARES = 0.5 * 4.0 ** -np.arange(9.0)
"""Shares of differing candidates that are thought possible."""
_PRIOR = 1 / _GAPS / (1 + (0.25 / _GAPS) ** 2)
"""Small gaps are more common than large ones; very small ones are not worth a first thought."""
_FINE = 16
"""Candidates are alike if they have as many samples and the same score to this fineness."""
_MOST = 50.0
"""A log likelihood ratio beyond this says nothing more."""
_QUIET = 0.6
"""Noise is believed to be smaller than allowed for if its square is below this share."""
_DOUBT = 20.0
"""Answers that are thought to have shown what is usual, before any is heard."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """For each candidate the expected evidence of a sample and the probability that it differs."""

    values: Floats
    chances: Floats
    new: float
    """The value of a candidate that has not been asked yet."""


def posterior(pool: Pool, payoff: Payoff, noise: Noise) -> Posterior:
    """Of all candidates, if all that differ differ by the same unknown gap."""
    ratios, times, rows, kinds = _alike(pool, noise)
    weights = _weights(ratios, times)
    chances = _SHARES[:, np.newaxis] * ratios[:, np.newaxis, :]
    chances = (weights * chances / (1 - _SHARES[:, np.newaxis] + chances)).sum(axis=1)
    return _spread(pool, rows, kinds, chances, _SHARES @ weights, payoff(_GAPS))


def graded_posterior(pool: Pool, payoff: Payoff, noise: Noise, also: Pool) -> Posterior:
    """Of all candidates, if any gap may occur, each with a share of its own.

    ``also`` is a pool that has seen gaps, too.
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
    """From kinds of candidates (kinds x gaps) to the candidates."""
    values, likely = np.full(pool.size, -math.inf), np.zeros(pool.size)
    values[rows] = nine_digits((chances * payoff).sum(axis=1))[kinds]
    likely[rows] = nine_digits(chances.sum(axis=1))[kinds]
    return Posterior(values, likely, float(nine_digits((shares * payoff).sum())))


def _alike(pool: Pool, noise: Noise) -> tuple[Floats, Ints, Ints, Ints]:
    """Likelihood ratios of each kind of candidate, how many there are, and who is of which kind."""
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
    """Of "differs by this gap, either way" to "does not differ" (candidates x gaps)."""
    shift = np.sqrt(samples) * roots
    log_cosh = np.logaddexp(np.outer(shift, _GAPS), -np.outer(shift, _GAPS)) - math.log(2)
    return np.exp(np.minimum(log_cosh - np.outer(samples, _GAPS**2) / 4, _MOST))


def _log_likelihood(ratios: Floats, times: Ints) -> Floats:
    """Of each share and gap, given all candidates (shares x gaps)."""
    return np.array([times @ np.log1p(share * (ratios - 1)) for share in _SHARES])


def _weights(ratios: Floats, times: Ints) -> Floats:
    """How plausible each share and gap is (shares x gaps)."""
    log = _log_likelihood(ratios, times) + np.log(_PRIOR)
    weights = np.exp(log - log.max())
    return np.asarray(weights / weights.sum())


class Noise:
    """The spread of the answers to each question, over all items; for heuristics only.

    Evidence allows for sigma, or for the largest spread that bounded answers of such a mean can
    have (that of yes and no). Groups that differ add to the spread that is seen, so that a question
    is not thought to be quieter than it is.
    """

    def __init__(self, problem: Problem) -> None:
        self._answers = problem.kind
        self._counts, self._sums, self._squares = np.zeros((3, problem.questions))

    def record(self, questions: Ints, tally: Tally) -> None:
        """Hear a Batch's answers. Without sums of squares nothing is learned."""
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
