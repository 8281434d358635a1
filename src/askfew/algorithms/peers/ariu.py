"""Adaptive clustering within a budget, after Ariu, Ok, Proutiere and Yun (Machine Learning 2024,
arXiv 1910.06002). Not their code.

Theirs: an item of group k answers question l with yes at the rate h p_kl + (1 - h)(1 - p_kl), where
h in (1/2, 1] says how easily this item is told; a part of the budget is spread evenly, groups are
found by k-means, p and h are estimated; then each step takes the item whose group is least sure,
by the divergence between its own group and the nearest other that its answers have gathered so far,
and asks it the question that separates these two best; in the end every item goes to the likeliest
group.

Ours: k-means has ten starts; a quarter of the budget is spread evenly; the estimates are renewed,
by two turns of maximum likelihood, in thirty rounds and not after every answer, and within a round
the least sure items share its answers; h has a grid of six values. Answers on a scale are parts of
a yes; for numbers h scales the distance from a question's mean, and normal divergences are used.
They show users a list of items at a time; here an answer is about one item.

Compared with the paper's abstract and introduction (items of different hardness, k-means for even
sampling, hard items and relevant questions chosen more often). Its formulas were not at hand.
"""

from __future__ import annotations

import numpy as np

from askfew.algorithms.baselines.k_means import check_groups, k_means
from askfew.algorithms.baselines.uniform import filled_means
from askfew.answers import AnswerKind, Number
from askfew.errors import InvalidInput
from askfew.evidence import nine_digits
from askfew.records import Batch, Finding, Floats, Ints, Problem, Procedure, Snapshot, renumbered

__all__ = ["ariu"]

_EVEN = 0.25
"""Share of the budget that is spread evenly to begin with."""
_ROUNDS = 30
_EASE = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
"""2 h - 1, what an item's distance from the middle is multiplied by. All are round numbers."""
_EDGE = 0.01


def ariu(
    problem: Problem, rng: np.random.Generator, *, budget: int, groups: int = 2
) -> Procedure[Finding]:
    """Spend the budget on hard items and on the questions that settle them."""
    check_groups(problem, groups)
    n, d = problem.items, problem.questions
    if budget < 2 * n:
        raise InvalidInput(
            f"budget must be at least {2 * n:,}, two answers per item", f"{budget:,}", "raise it"
        )
    counts, sums = np.zeros((n, d), dtype=np.int64), np.zeros((n, d))
    labels, model = np.full(n, -1), None
    even = max(int(_EVEN * budget), n)
    rounds = [len(part) for part in np.array_split(np.arange(budget - even), _ROUNDS)]
    for number, size in enumerate([even, *filter(None, rounds)]):
        if model is None:
            asked = _even(size, n, d, rng)
        else:
            asked = _least_sure(problem.kind, model, labels, counts, size)
        items, questions = np.nonzero(asked)
        tally = yield Batch(
            items,
            questions,
            asked[items, questions],
            f"adaptive, round {number} of {_ROUNDS}: {len(items)} cells",
            Snapshot("adaptive", renumbered(labels)),
        )
        counts[items, questions] += tally.counts
        sums[items, questions] += tally.sums
        if model is None:
            labels = k_means(filled_means(counts, sums), groups, starts=10, rng=rng)
        for _ in range(2):
            model = _Model(problem.kind, counts, sums, labels, groups)
            labels = nine_digits(model.fits.max(axis=2)).argmax(axis=1)
    return Finding(renumbered(labels), groups=groups)


def _even(size: int, n: int, d: int, rng: np.random.Generator) -> Ints:
    """Whole sweeps of all cells; the rest is spread evenly over items, at random questions."""
    asked = np.full((n, d), size // (n * d))
    extra = np.argsort(rng.random((n, d)), axis=1)
    rest = size - asked.sum()
    each = np.full(n, rest // n)
    each[rng.permutation(n)[: rest % n]] += 1
    asked[np.arange(n)[:, np.newaxis], extra] += np.arange(d) < each[:, np.newaxis]
    return asked


class _Model:
    """Levels of the groups and the ease of every item, given labels."""

    def __init__(
        self, kind: AnswerKind, counts: Ints, sums: Floats, labels: Ints, groups: int
    ) -> None:
        bounded = not isinstance(kind, Number)
        total = counts.astype(np.float64)
        values = (sums - kind.low * total) / (kind.high - kind.low) if bounded else sums
        overall = values.sum(axis=0) / np.maximum(total.sum(axis=0), 1)
        middle = np.full(counts.shape[1], 0.5) if bounded else overall
        member = np.eye(groups)[labels].T
        levels = (member @ values + overall) / (member @ total + 1)
        # Every item at every ease in every group: items x groups x eases.
        tried = middle + _EASE[:, np.newaxis, np.newaxis] * (levels - middle)
        if bounded:
            tried = np.clip(tried, _EDGE, 1 - _EDGE)
            found = np.log(tried) @ values.T + np.log1p(-tried) @ (total - values).T
        else:
            found = tried @ values.T - (tried**2) @ total.T / 2
            found = found / kind.sigma**2
        self.fits: Floats = found.transpose(2, 1, 0)
        own = self.fits[np.arange(len(labels)), labels]
        self.ease = _EASE[nine_digits(own).argmax(axis=1)]
        self.levels, self.middle = levels, middle

    def divergences(self, kind: AnswerKind, labels: Ints) -> Floats:
        """Divergences of items' own levels from every group's (groups x items x questions)."""
        own = self.middle + self.ease[:, np.newaxis] * (self.levels[labels] - self.middle)
        other = self.middle + self.ease[:, np.newaxis] * (self.levels - self.middle)[:, np.newaxis]
        if isinstance(kind, Number):
            return np.asarray((own - other) ** 2 / (2 * kind.sigma**2))
        own, other = np.clip(own, _EDGE, 1 - _EDGE), np.clip(other, _EDGE, 1 - _EDGE)
        return np.asarray(own * np.log(own / other) + (1 - own) * np.log((1 - own) / (1 - other)))


def _least_sure(kind: AnswerKind, model: _Model, labels: Ints, counts: Ints, size: int) -> Ints:
    """How often to ask each cell: answers go where the gathered divergence is smallest."""
    n, d = counts.shape
    told = model.divergences(kind, labels)
    gathered = (told * counts).sum(axis=2)
    gathered[labels, np.arange(n)] = np.inf
    rival = nine_digits(gathered).argmin(axis=0)
    per_answer = told[rival, np.arange(n)]
    question = nine_digits(per_answer).argmax(axis=1)
    gain = np.maximum(per_answer[np.arange(n), question], 1e-9)
    asked = np.zeros((n, d), dtype=np.int64)
    asked[np.arange(n), question] = _levelled(gathered[rival, np.arange(n)], gain, size)
    return asked


def _levelled(have: Floats, gain: Floats, size: int) -> Ints:
    """Answers for each item, ``size`` in all, that raise the least sure ones to one level."""
    order = np.argsort(nine_digits(have), kind="stable")
    have, gain = have[order], gain[order]
    # Raising the first m items to the level of the next costs sum (level - have) / gain.
    costs = np.cumsum(1 / gain)[:-1] * have[1:] - np.cumsum(have / gain)[:-1]
    m = int(np.searchsorted(nine_digits(costs), size, side="right")) + 1
    level = (size + (have[:m] / gain[:m]).sum()) / (1 / gain[:m]).sum()
    exact = np.zeros(len(have))
    exact[:m] = np.maximum((level - have[:m]) / gain[:m], 0)
    whole = np.floor(nine_digits(exact)).astype(np.int64)
    whole[np.argsort(-nine_digits(exact - whole), kind="stable")[: size - whole.sum()]] += 1
    result = np.zeros_like(whole)
    result[order] = whole
    return result
