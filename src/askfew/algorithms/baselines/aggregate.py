"""The usual ways to sort items by a table of answers: ask evenly, then aggregate the answers.

These are the standard methods of crowdsourcing and statistics. Every question is treated as an
annotator of the hidden group. Yes/no answers count as they are, answers on a scale as a part of a
yes, and a number is a yes if it lies above its question's mean. Nothing is promised; ``evidence``
is how sure each label is, in nats, so that the surest labels can be told from the others.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from askfew.algorithms.baselines.k_means import check_groups
from askfew.algorithms.baselines.uniform import uniform_answers
from askfew.answers import AnswerKind, Number
from askfew.errors import InvalidInput
from askfew.estimates.classes import CellMeans, fit, log_likelihood, normalised
from askfew.evidence import nine_digits
from askfew.records import Finding, Floats, Ints, Problem, Procedure, renumbered

__all__ = ["dawid_skene", "dawid_skene_posterior", "latent_classes", "majority_vote", "naive_bayes"]

_TURNS = 100
_SETTLED = 1e-5
"""EM stops when no probability moves by more than this, or after ``_TURNS``: the usual numbers."""
_NEVER = 1e-10
"""The least probability of an answer, so that its logarithm is finite. A plain choice."""


def majority_vote(problem: Problem, rng: np.random.Generator, *, budget: int) -> Procedure[Finding]:
    """Two groups by votes: a cell's majority is one vote, an item's majority of votes its label.

    Questions are first turned so that they agree, by the signs of the leading singular vector.
    With a single question this is the plain majority vote.
    """
    yes, total = _votes(problem.kind, *(yield from uniform_answers(problem, budget, rng)))
    votes = np.sign(2 * yes - total)
    turned = votes * _direction(votes)
    labels = renumbered((turned.sum(axis=1) > 0).astype(np.int64))
    # Votes that were clear count more in saying which labels are surest.
    clear = np.abs(2 * yes - total) / np.maximum(total, 1)
    return Finding(labels, evidence=np.abs((turned * clear).sum(axis=1)))


def dawid_skene(
    problem: Problem,
    rng: np.random.Generator,
    *,
    budget: int,
    groups: int = 2,
    anchors: Mapping[int, int] | None = None,
) -> Procedure[Finding]:
    """Dawid and Skene (1979): EM over the groups and every annotator's error rates.

    Without ``anchors`` EM begins with the share of each item's votes. With ``anchors`` (groups of
    known items, which stay fixed) it begins with those, and there may be more than two groups.
    """
    known = _known(problem, groups, anchors)
    if groups > 2 and (known < 0).all():
        raise InvalidInput(
            "without anchors dawid-skene begins with votes, which make two groups",
            f"{groups} groups",
            "pass anchors, or use latent-classes",
        )
    yes, total = _votes(problem.kind, *(yield from uniform_answers(problem, budget, rng)))
    if (known >= 0).any():
        begin = normalised(_log_odds(yes, total, *_by_anchors(yes, total, known, groups)))
        return _finding(dawid_skene_posterior(yes, total, begin, known), known)
    turned = np.where(_direction(2 * yes - total) > 0, yes, total - yes)
    share = turned.sum(axis=1) / np.maximum(total.sum(axis=1), 1)
    share = np.where(total.sum(axis=1) > 0, share, 0.5)
    return _finding(dawid_skene_posterior(yes, total, np.stack([1 - share, share], 1)), known)


def latent_classes(
    problem: Problem,
    rng: np.random.Generator,
    *,
    budget: int,
    groups: int = 2,
    anchors: Mapping[int, int] | None = None,
) -> Procedure[Finding]:
    """The latent-class model of ``askfew.estimates``: EM from spectral starts, or from anchors."""
    known = _known(problem, groups, anchors)
    counts, sums = yield from uniform_answers(problem, budget, rng)
    answered = CellMeans.of(problem.kind, counts, sums)
    told = known if (known >= 0).any() else None
    return _finding(fit(answered, groups, rng, known=told).posterior, known)


def naive_bayes(
    problem: Problem,
    rng: np.random.Generator,
    *,
    budget: int,
    anchors: Mapping[int, int],
    groups: int = 2,
) -> Procedure[Finding]:
    """Estimate every group's levels by its anchors' answers, then label items by Bayes' rule.

    All items, anchors too, are asked evenly. Groups are equally likely beforehand.
    """
    known = _known(problem, groups, anchors)
    if len(np.unique(known[known >= 0])) < groups:
        raise InvalidInput(
            f"naive-bayes needs at least one anchor of each of the {groups} groups",
            f"{len(np.unique(known[known >= 0]))} of them",
            "know an item of every group",
        )
    counts, sums = yield from uniform_answers(problem, budget, rng)
    if isinstance(problem.kind, Number):
        answered = CellMeans.of(problem.kind, counts, sums, discount=0.0)
        member = np.eye(groups)[known[known >= 0]].T
        heard = answered.rows(np.flatnonzero(known >= 0))
        # One answer at the question's mean is added, so that a silent group has a level.
        levels = (member @ (heard.weights * heard.means) + answered.overall) / (
            member @ heard.weights + 1
        )
        variances = np.full(levels.shape[1], problem.kind.sigma**2)
        return _finding(normalised(log_likelihood(answered, levels, variances)), known)
    yes, total = _votes(problem.kind, counts, sums)
    levels, _ = _by_anchors(yes, total, known, groups)
    even = np.full(groups, 1 / groups)
    return _finding(normalised(_log_odds(yes, total, levels, even)), known)


def dawid_skene_posterior(
    yes: Floats, total: Floats, begin: Floats, known: Ints | None = None, *, turns: int = _TURNS
) -> Floats:
    """Every item's probabilities of the groups (items x groups), by EM.

    ``yes`` of ``total`` answers of each item (row) and annotator (column); ``begin`` are the
    probabilities to begin with; ``known`` groups stay as they are (-1: not known).
    """
    posterior = _with_known(begin, known)
    for _ in range(turns):
        members = posterior.T
        asked = members @ total
        levels = np.divide(members @ yes, asked, out=np.full_like(asked, 0.5), where=asked > 0)
        shares = np.maximum(posterior.mean(axis=0), _NEVER)
        before = posterior
        posterior = _with_known(normalised(_log_odds(yes, total, levels, shares)), known)
        if np.abs(posterior - before).max() < _SETTLED:
            break
    return posterior


def _with_known(posterior: Floats, known: Ints | None) -> Floats:
    if known is None:
        return posterior
    sure = np.eye(posterior.shape[1])[np.maximum(known, 0)]
    return np.where((known >= 0)[:, np.newaxis], sure, posterior)


def _log_odds(yes: Floats, total: Floats, levels: Floats, shares: Floats) -> Floats:
    """Log probability of each item's answers and group (items x groups)."""
    levels = np.clip(levels, _NEVER, 1 - _NEVER)
    found = yes @ np.log(levels).T + (total - yes) @ np.log1p(-levels).T
    return np.asarray(found + np.log(shares))


def _by_anchors(yes: Floats, total: Floats, known: Ints, groups: int) -> tuple[Floats, Floats]:
    """Levels and shares of the groups from the known items alone; Laplace's one yes and one no."""
    member = np.eye(groups)[known[known >= 0]].T
    levels = (member @ yes[known >= 0] + 1) / (member @ total[known >= 0] + 2)
    return np.asarray(levels), np.full(groups, 1 / groups)


def _votes(kind: AnswerKind, counts: Ints, sums: Floats) -> tuple[Floats, Floats]:
    """How many of each cell's answers say yes, and how many answers there are."""
    total = counts.astype(np.float64)
    if not isinstance(kind, Number):
        return np.asarray((sums - kind.low * total) / (kind.high - kind.low)), total
    middle = sums.sum(axis=0) / np.maximum(total.sum(axis=0), 1)
    answered = (total > 0).astype(np.float64)
    return np.asarray(answered * (nine_digits(sums) > nine_digits(middle * total))), answered


def _direction(votes: Floats) -> Floats:
    """+1 or -1 for each question: how to turn it so that questions agree."""
    leading = nine_digits(np.linalg.svd(votes - votes.mean(axis=0), full_matrices=False)[2][0])
    strongest = leading[np.argmax(np.abs(leading))]
    return np.where(leading * strongest >= 0, 1.0, -1.0)


def _known(problem: Problem, groups: int, anchors: Mapping[int, int] | None) -> Ints:
    """The group of each known item, -1 elsewhere."""
    check_groups(problem, groups)
    known = np.full(problem.items, -1)
    for item, group in (anchors or {}).items():
        if not (0 <= item < problem.items and 0 <= group < groups):
            raise InvalidInput(
                f"anchors must be items from 0 to {problem.items - 1} with groups from 0 to"
                f" {groups - 1}",
                f"item {item!r} in group {group!r}",
                "leave it out",
            )
        known[item] = group
    return known


def _finding(posterior: Floats, known: Ints) -> Finding:
    """The likeliest groups; groups that were told are kept, and the numbers of groups with them."""
    labels = nine_digits(posterior).argmax(axis=1)
    two = np.sort(posterior, axis=1)[:, -2:]
    surely = np.log(two[:, 1] + _NEVER) - np.log(two[:, 0] + _NEVER)
    if (known >= 0).any():
        told: Ints | None = known
        labels = np.where(known >= 0, known, labels)
    else:
        told, labels = None, renumbered(labels)
    return Finding(labels, evidence=surely, groups=posterior.shape[1], told=told)
