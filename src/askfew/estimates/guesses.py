"""A best guess for every item, with its probability, from all answers so far.

Certified labels are kept. The others come from latent classes fitted with the certified items fixed
to their groups: an estimate under a model, and no promise.

A fitted model is overconfident, the more the fewer answers it was fitted to. Two things correct it.
An item is judged by levels that its own answers had no part in. And the model's log odds are
multiplied by a *belief* from 0 to 1: every answer is predicted from the item's other answers at
each belief, and beliefs are averaged by how well they predict. If the classes are nothing but
noise, the belief comes to 0 and a guess is no surer than the size of its group.

Without certified or told labels nothing says which split is meant, and a model may be sure of one
that other items would not show. So models are fitted to halves of the items, and guesses are on
average no surer than the halves agree. If items of one group are identical there is only one split,
and nothing needs to be bounded.

Where a rule cuts one question in two, its groups are the sides of the cut. Then no model is needed:
a guess is the side that the item's own answers lie on.

Items that a rule was asked about again and again without a decision are unlike those it labelled:
they lie between the groups, where classes fitted to the labelled ones are sure and often wrong.
Anchors say what the groups are meant to be. So with anchors half of such a guess is what they alone
would say (naive Bayes), the other half what the classes say; with two groups a third of that is the
side of the rule that the item's own answers lie on. Where these differ the guess is less sure. (The
weights were chosen on seeds 1000 to 1015 of real tables; benchmarks/guesses.md has others.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from askfew.answers import AnswerKind, Number
from askfew.estimates.cells import CellSums, Mask
from askfew.estimates.classes import (
    DISCOUNT,
    EDGE,
    CellMeans,
    Classes,
    fit,
    log_likelihood,
    normalised,
)
from askfew.records import Floats, Ints, Problem
from askfew.rule import Rule

__all__ = ["Guesses", "guess_groups"]

_BELIEFS = np.linspace(0.0, 1.0, 21)
"""The beliefs that are averaged, in steps of 0.05. A plain choice; confidence is measured with it
(benchmarks/guesses.md)."""
_NEGLIGIBLE = 1e-6
"""A belief with less weight than this is left out."""
_PSEUDO_ITEMS = 10
"""Items that are added to every group before its share is estimated: few items say little about the
size of a group. A round number; with it confidence is as docs/method.md (Guesses) says."""
_HALVINGS = 3
"""How often the items are halved. A round number: with 3 the share is known to about a tenth."""
_HALF_STARTS = 4
"""Starts of EM for a half. A round number, for speed."""
_FITTED = 10_000
"""The most items that classes are fitted to, for speed: the levels of this many are as good as
known, and 100,000 took five seconds (benchmarks/scale.md). The fitted model sorts the others."""
_TRIED = 3
"""Rounds of a rule after which an item without a label is taken to lie between the groups: as many
as the method asks before it gives an item up."""
_BY_ANCHORS = 0.5
"""What the log odds of naive Bayes on the anchors are multiplied by: few items are known, so they
are too sure. On real tables undecided items then stated .04 more than they were right on average
(seeds 1000 to 1015), with 1 it was .08."""
_PREDICTED = 50_000
"""The most cells that are predicted to find the belief. A round number, for speed."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """For every item a group, and the estimated probability that it is the right one."""

    groups: Ints
    confidence: Floats


def guess_groups(
    problem: Problem,
    cells: CellSums,
    labels: Ints,
    groups: int,
    *,
    sure: float = 0.0,
    identical: bool = False,
    on: int | None = None,
    rule: Rule | None = None,
    told: Ints | None = None,
) -> Guesses:
    """Guess the group of every item.

    ``labels`` are certified or told (-1 elsewhere), each right with probability ``sure`` at least;
    if that is 0 they are kept as guesses, but the classes are fitted without them. ``identical``
    says that items of one group are the same, so that repeats count in full. If the labels rest on
    one question, ``on``, the groups are what items answer to that one. ``rule`` is the rule of the
    labels, if they follow one, with its questions by number. ``told`` are the labels that the user
    gave (-1 elsewhere).

    >>> item, sums = np.arange(3), np.array([9.0, 0.0, 8.0])
    >>> cells = CellSums(item, np.zeros(3, int), np.full(3, 9), sums, sums)
    >>> guess_groups(Problem(3, 1), cells, np.array([0, 1, -1]), 2, sure=0.9).groups
    array([0, 1, 0])
    """
    if rule is not None and _is_one_cut(rule):
        chances = _by_cut(problem, cells, rule)
        anchored = None if told is None else _by_anchors(problem, cells, told, groups)
        if anchored is not None:
            between = _tried(problem, cells, rule) & (labels < 0)
            chances[between] = (chances + anchored)[between] / 2
        return _kept(chances, labels, sure)
    chances = np.full((problem.items, groups), 1 / groups)
    known = labels[cells.item]
    complete = sure > 0 and len(np.unique(known[known >= 0])) == groups
    if complete and identical and on is not None:
        cells = cells.where(cells.question == on)
    if len(cells):
        table = cells.table()
        known = labels[table.items]
        rng = np.random.default_rng(0)  # for the starts of EM: the same answers, the same guesses
        discount = 0.0 if identical and complete else DISCOUNT
        answered = CellMeans.of(problem.kind, table.counts, table.sums, discount)
        some = _fitted_items(known, groups)
        model = _model(answered, some, groups, rng, known if complete else None)
        shares = _shares(model.posterior)
        believed = _believed(answered, model, shares, table.counts, identical and complete)
        if not complete and not identical:
            believed = _no_surer(believed, _reliability(answered.rows(some), groups, rng))
        order = np.arange(groups) if complete else _order(believed, known)
        chances[:] = shares[order]
        chances[table.items] = believed[:, order]
        anchored = None if told is None else _by_anchors(problem, cells, told, groups)
        if complete and rule is not None and anchored is not None:
            between = _tried(problem, cells, rule) & (labels < 0)
            own = chances
            if _is_one_division(rule):
                own = (2 * chances + _by_division(problem, cells, rule)) / 3
            chances[between] = (own + anchored)[between] / 2
    return _kept(chances, labels, sure)


def _kept(chances: Floats, labels: Ints, sure: float) -> Guesses:
    """The likeliest groups, but labels as they are."""
    guessed = chances.argmax(axis=1)
    confidence = np.minimum(chances.max(axis=1), 1.0)  # rounding may put it just above 1
    certified = labels >= 0
    guessed[certified] = labels[certified]
    confidence[certified] = np.clip(chances[certified, labels[certified]], sure, 1.0)
    return Guesses(guessed, confidence)


def _is_one_division(rule: Rule) -> bool:
    return sorted(rule.leaves) == [(0,), (1,)]


def _is_one_cut(rule: Rule) -> bool:
    return len(rule.questions) == 1 and _is_one_division(rule)


def _by_cut(problem: Problem, cells: CellSums, rule: Rule) -> Floats:
    """The probability of each side of the only cut (items x groups), by an item's own answers.

    All means are equally likely beforehand.
    """
    here = cells.where(cells.question == rule.questions[0])
    count, total = np.zeros((2, problem.items))
    count[here.item], total[here.item] = here.count, here.sum
    above = 1 - _below(problem.kind, rule.root.cuts[0], count, total)
    return _two_groups(rule, above if rule.root.weights[0] > 0 else 1 - above)


def _two_groups(rule: Rule, high: Floats) -> Floats:
    """The probabilities of both groups, from that of the high side."""
    order = np.argsort([group for (group,) in rule.leaves])  # leaves go from low to high
    return np.asarray(np.stack([1 - high, high], axis=1)[:, order])


def _below(kind: AnswerKind, cut: float, count: Floats, total: Floats) -> Floats:
    """The probability that each item's mean lies below the cut, given its answers."""
    if isinstance(kind, Number):
        away = (cut * count - total) / (kind.sigma * np.sqrt(np.maximum(count, 1)))
        return np.asarray(scipy.special.ndtr(away), dtype=np.float64)
    yes = (total - kind.low * count) / (kind.high - kind.low)
    share = np.clip((cut - kind.low) / (kind.high - kind.low), 0, 1)
    return np.asarray(scipy.special.betainc(1 + yes, 1 + count - yes, share), dtype=np.float64)


def _tried(problem: Problem, cells: CellSums, rule: Rule) -> Mask:
    """Which items were asked the rule's first committee in several rounds."""
    count, _ = _of_rule(problem, cells, rule)
    return np.asarray(count[:, list(rule.root.questions)].min(axis=1) >= _TRIED)


def _by_division(problem: Problem, cells: CellSums, rule: Rule) -> Floats:
    """The probability of each side of the only division (items x groups), by an item's own answers
    and a normal approximation.
    """
    count, total = _of_rule(problem, cells, rule)
    means = CellMeans.of(problem.kind, count, total).means
    cuts, weights = np.array(rule.root.cuts), np.array(rule.root.weights)
    here = list(rule.root.questions)
    if isinstance(problem.kind, Number):
        noise = np.full(count.shape, problem.kind.sigma**2)
    else:
        cuts = (cuts - problem.kind.low) / (problem.kind.high - problem.kind.low)
        # Half an answer at either end is added, so that no item seems to be without noise.
        means = (count * means + 0.5) / (count + 1)
        noise = means * (1 - means)
    scores = (weights * (means[:, here] - cuts)).sum(axis=1)
    spread = np.sqrt((weights**2 * noise[:, here] / (count[:, here] + 1)).sum(axis=1))
    return _two_groups(rule, np.asarray(scipy.special.ndtr(scores / spread)))


def _of_rule(problem: Problem, cells: CellSums, rule: Rule) -> tuple[Floats, Floats]:
    """Counts and sums of all items' answers to the rule's questions (items x questions)."""
    count, total = np.zeros((2, problem.items, len(rule.questions)))
    for place, question in enumerate(rule.questions):
        here = cells.where(cells.question == question)
        count[here.item, place], total[here.item, place] = here.count, here.sum
    return count, total


def _by_anchors(problem: Problem, cells: CellSums, told: Ints, groups: int) -> Floats | None:
    """The probability of each group by naive Bayes on the anchors; None if a group has none."""
    if not len(cells) or len(np.unique(told[told >= 0])) < groups:
        return None
    table = cells.table()
    known = told[table.items]
    answered = CellMeans.of(problem.kind, table.counts, table.sums)
    belongs = (known == np.arange(groups)[:, np.newaxis]).astype(np.float64)
    # One answer at the question's overall mean is added to each group, as when classes are fitted.
    weights = belongs @ answered.weights + 1
    levels = (belongs @ (answered.weights * answered.means) + answered.overall) / weights
    variances = None
    if answered.sigma is None:
        levels = np.clip(levels, EDGE, 1 - EDGE)
    else:
        variances = np.full(levels.shape[1], answered.sigma**2)
    chances = np.full((problem.items, groups), 1 / groups)
    chances[table.items] = normalised(_BY_ANCHORS * log_likelihood(answered, levels, variances))
    return chances


def _fitted_items(known: Ints, groups: int) -> Ints:
    """The items that the classes are fitted to: all, or some at random and some of every group."""
    if len(known) <= _FITTED:
        return np.arange(len(known))
    order = np.random.default_rng(0).permutation(len(known))
    of_each = [order[known[order] == group][: _FITTED // (2 * groups)] for group in range(groups)]
    return np.unique(np.concatenate([order[: _FITTED // 2], *of_each]))


def _model(
    answered: CellMeans, some: Ints, groups: int, rng: np.random.Generator, known: Ints | None
) -> Classes:
    """The classes of some items, with the probabilities of all."""
    here = None if known is None else known[some]
    model = fit(answered.rows(some), groups, rng, known=here)
    if len(some) == len(answered.weights):
        return model
    posterior = model.probabilities(answered)
    if known is not None:
        posterior[known >= 0] = np.eye(groups)[known[known >= 0]]
    return replace(model, posterior=posterior)


def _reliability(answered: CellMeans, groups: int, rng: np.random.Generator) -> float:
    """How reliably a model of half of the items sorts all of them: 1 perfectly, 0 as by chance.

    If each of two models is right beyond chance in a share r, they agree beyond chance in a share
    r^2. So the root of their agreement is returned.
    """
    n = len(answered.weights)
    if n < 2 * groups:
        return 0.0
    beyond = []
    for _ in range(_HALVINGS):
        halves = np.array_split(rng.permutation(n), 2)
        models = [fit(answered.rows(half), groups, rng, starts=_HALF_STARTS) for half in halves]
        one, other = (model.log_odds(answered).argmax(axis=1) for model in models)
        beyond.append(_agreement_beyond_chance(one, other))
    return math.sqrt(max(sum(beyond) / len(beyond), 0.0))


def _agreement_beyond_chance(one: Ints, other: Ints) -> float:
    """Cohen's kappa of two labellings, after the classes are matched as well as can be."""
    classes = max(one.max(), other.max()) + 1
    together = np.zeros((classes, classes))
    np.add.at(together, (one, other), 1 / len(one))
    place, name = scipy.optimize.linear_sum_assignment(together, maximize=True)
    chance = float((together.sum(axis=1)[place] * together.sum(axis=0)[name]).sum())
    return float((together[place, name].sum() - chance) / max(1 - chance, 1e-9))


def _no_surer(believed: Floats, reliable: float) -> Floats:
    """The probabilities (items x classes), shrunk towards even ones to this average sureness.

    Sureness is 0 where all classes are equally likely and 1 where one is certain.
    """
    even = 1 / believed.shape[1]
    sure = float((believed.max(axis=1).mean() - even) / (1 - even))
    return np.asarray(even + min(1.0, reliable / max(sure, 1e-9)) * (believed - even))


def _shares(posterior: Floats) -> Floats:
    """The shares of the groups; an item counts less if its class is doubtful."""
    doubt = -scipy.special.xlogy(posterior, posterior).sum(axis=1) / np.log(posterior.shape[1])
    members = ((1 - doubt) @ posterior) + _PSEUDO_ITEMS
    return np.asarray(members / members.sum())


def _believed(
    answered: CellMeans, model: Classes, shares: Floats, counts: Ints, identical: bool
) -> Floats:
    """Probabilities of every class (items x classes), averaged over beliefs."""
    item, question = np.nonzero(answered.weights > 0)
    weight, mean = answered.weights[item, question], answered.means[item, question]
    own = _log_likelihood(mean, _without_own(answered, model, item, question), model, question)
    odds = np.stack([np.bincount(item, weight * each, minlength=len(counts)) for each in own])
    sizes = np.log(shares)[:, np.newaxis]
    some = np.arange(len(item))
    if len(some) > _PREDICTED:
        some = np.sort(np.random.default_rng(0).choice(some, _PREDICTED, replace=False))
    # If repeats are independent given the group, one answer is left out; else its whole cell is.
    left_out = np.minimum(weight, 1.0) if identical else weight
    worth = counts[item[some], question[some]] if identical else np.minimum(weight[some], 1.0)
    rest = odds[:, item[some]] - (left_out * own)[:, some]
    score = np.array(
        [
            worth @ np.log((_chances(belief * rest + sizes) * np.exp(own[:, some])).sum(axis=0))
            for belief in _BELIEFS
        ]
    )
    # The levels were fitted to the answers that they predict. That gains half a nat for each
    # parameter on average (as in Akaike's criterion), so belief 0 gets as much.
    score[0] += (len(shares) - 1) * len(np.unique(question)) / 2
    trust = np.exp(score - score.max())
    trust = np.where(trust > _NEGLIGIBLE, trust, 0.0) / trust[trust > _NEGLIGIBLE].sum()
    believed = np.zeros(odds.shape)
    for part, belief in zip(trust[trust > 0], _BELIEFS[trust > 0], strict=True):
        believed += part * _chances(belief * odds + sizes)
    return believed.T


def _chances(odds: Floats) -> Floats:
    """Probabilities of the classes (rows) from their log odds."""
    raised = np.exp(odds - odds.max(axis=0))
    return np.asarray(raised / raised.sum(axis=0))


def _without_own(answered: CellMeans, model: Classes, item: Ints, question: Ints) -> Floats:
    """The classes' levels at each cell, fitted without the cell's own item (classes x cells)."""
    weight, mean = answered.weights[item, question], answered.means[item, question]
    own = model.posterior.T[:, item] * weight
    turned = model.posterior.T
    answers = (turned @ answered.weights)[:, question] - own
    sums = (turned @ (answered.weights * answered.means))[:, question] - own * mean
    overall = answered.overall[question]
    levels = (np.maximum(sums, 0.0) if answered.sigma is None else sums) + overall
    levels = levels / (np.maximum(answers, 0.0) + 1)
    return np.asarray(np.clip(levels, EDGE, 1 - EDGE) if answered.sigma is None else levels)


def _log_likelihood(mean: Floats, levels: Floats, model: Classes, question: Ints) -> Floats:
    """The log likelihood of one answer at each cell's mean under each class (classes x cells)."""
    if model.variances is None:
        return np.asarray(mean * np.log(levels) + (1 - mean) * np.log1p(-levels))
    return np.asarray(-((mean - levels) ** 2) / (2 * model.variances[question]))


def _order(chances: Floats, known: Ints) -> Ints:
    """The class of each group: by the known labels, else in the order of their first items."""
    groups = chances.shape[1]
    nearest = chances.argmax(axis=1)
    if (known >= 0).any():
        together = np.zeros((groups, groups))
        np.add.at(together, (known[known >= 0], nearest[known >= 0]), 1)
        # The assignment that agrees with most labels: an argmax could name two classes alike.
        return np.asarray(scipy.optimize.linear_sum_assignment(-together)[1])
    first = [
        int(np.argmax(nearest == group)) if (nearest == group).any() else len(nearest) + group
        for group in range(groups)
    ]
    return np.argsort(first)
