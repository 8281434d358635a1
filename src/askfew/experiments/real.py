"""The suite real: what askfew and what a user would do instead find of classes in real data.

Every seed draws other answers (and other anchors) of the same items. First askfew runs, with each
of its settings; then each of the others is given as many answers as the setting it stands beside
used on that seed, and, where it has anchors, the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment

from askfew.algorithms import start
from askfew.driver import run
from askfew.estimates.classes import agreement
from askfew.experiments.real_worlds import RealWorld
from askfew.outcome import Outcome, outcome_of
from askfew.records import Batch, Finding, Floats, Ints, Oracle, Tally
from askfew.simulation import Engine, World, judge

__all__ = ["INSTEAD", "SETTINGS", "RealRow", "Setting", "run_real", "settings_for"]

MOST = 100_000
"""Answers at which a run is stopped: several times what whoever finds something needs."""

_Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class Setting:
    """A method as it is used; with ``like`` it gets as many answers as that setting used."""

    name: str
    method: str
    options: Mapping[str, object] = field(default_factory=dict)
    anchors: int = 0
    like: str | None = None
    most_groups: int | None = None


SHARE = {"error": "share"}
SETTINGS = (
    Setting("groups", "frugal"),
    Setting("rule, any error", "rule"),
    Setting("rule", "rule", SHARE),
    Setting("3 anchors: rule", "rule", SHARE, anchors=3),
    Setting("10 anchors: rule", "rule", SHARE, anchors=10),
)
"""askfew's own; of the rule the share of errors is bounded where nothing else is said."""
INSTEAD = (
    Setting("majority vote", "majority-vote", like="rule", most_groups=2),
    Setting("Dawid-Skene", "dawid-skene", like="rule", most_groups=2),
    Setting("k-means", "kmeans10", like="rule"),
    Setting("spectral", "spectral", like="rule"),
    Setting("latent classes", "latent-classes", like="rule"),
    *(
        Setting(f"{anchors} anchors: {name}", method, {}, anchors, f"{anchors} anchors: rule")
        for anchors in (3, 10)
        for name, method in (
            ("naive Bayes", "naive-bayes"),
            ("Dawid-Skene", "dawid-skene"),
            ("latent class", "latent-classes"),
        )
    ),
)
"""What a user would do instead."""


def settings_for(world: RealWorld) -> list[Setting]:
    """The settings that can run with the world's number of groups."""
    every = (*SETTINGS, *INSTEAD)
    return [each for each in every if each.most_groups is None or world.groups <= each.most_groups]


@dataclass(frozen=True, eq=False)
class _Try:
    """One run of one setting, as a referee sees it."""

    answers: int
    busiest: int
    """Answers of the cell that was asked most."""
    certified: bool
    """Whether there is a certificate that askfew itself does not call void."""
    void: bool
    wrong: int
    """Labels that are wrong about what the certificate says."""
    nearer: int
    """Labels of the promise "groups" whose item is nearer to another group's mean."""
    labelled: int
    own: _Bools
    """Items whose group was not told."""
    labels: Ints
    guesses: Ints
    sureness: Floats


@dataclass(frozen=True)
class RealRow:
    """One setting on one world, over all seeds; shares are means over seeds."""

    world: str
    setting: str
    like: str | None
    seeds: int
    answers: float
    busiest_cell: float
    decided: float
    """Share of the items that have a label (all, for whoever promises nothing)."""
    accuracy_decided: float | None
    """Share of those that are in the group of their class; None where nobody has a label."""
    rand_decided: float | None
    accuracy_all: float
    """The same for the guesses of all items."""
    rand_all: float
    accuracy_surest: float | None
    """For settings without a certificate: the accuracy of as many of their surest items as askfew
    labelled."""
    between_seeds: float | None
    """Adjusted Rand index of two seeds on what both decided."""
    certified: int
    """Runs with a certificate that stands."""
    certified_wrong: int
    """Certified runs with a label that is wrong about what the certificate says."""
    certified_nearer: int
    """Certified runs of the promise "groups" with an item nearer to another group's mean, which is
    not promised."""
    wrong_share: float | None
    """Mean share of such labels; None where nothing is certified."""
    promised: str | None
    """What delta bounds: the chance of "any" wrong label, or their expected "share"."""
    void: int
    """Runs whose certificate askfew itself calls void."""


def run_real(
    world: RealWorld,
    *,
    delta: float,
    seeds: int,
    seed: int,
    engine: Engine,
) -> list[RealRow]:
    """Every setting on one world."""
    settings = settings_for(world)
    tried = list(engine(partial(_one_seed, world, settings, delta, seed), seeds))
    names = [each.name for each in settings]
    return [
        _row(world, each, [runs[place] for runs in tried], _beside(each, names, tried))
        for place, each in enumerate(settings)
    ]


def _beside(setting: Setting, names: list[str], tried: list[list[_Try]]) -> list[_Try] | None:
    return None if setting.like is None else [runs[names.index(setting.like)] for runs in tried]


def _one_seed(
    world: RealWorld, settings: Sequence[Setting], delta: float, seed: int, index: int
) -> list[_Try]:
    found: dict[str, _Try] = {}
    for place, setting in enumerate(settings):
        children = np.random.SeedSequence(seed, spawn_key=(index, place)).spawn(2)
        anchors = _anchors(world.classes, setting.anchors, [seed, index, setting.anchors])
        budget = None if setting.like is None else found[setting.like].answers
        found[setting.name] = _try(world, setting, delta, anchors, budget, *children)
    return list(found.values())


def _anchors(classes: Ints, each: int, seed: list[int]) -> dict[int, int]:
    """So many items of each class, at most half of it."""
    rng = np.random.default_rng(seed)
    return {
        int(item): int(group)
        for group in np.unique(classes)
        for item in _some(np.flatnonzero(classes == group), each, rng)
    }


def _some(items: Ints, most: int, rng: np.random.Generator) -> Ints:
    return rng.permutation(items)[: min(most, max(1, len(items) // 2))]


def _try(
    world: RealWorld,
    setting: Setting,
    delta: float,
    anchors: dict[int, int],
    budget: int | None,
    for_answers: np.random.SeedSequence,
    for_method: np.random.SeedSequence,
) -> _Try:
    drawn = world.draw(for_answers)
    oracle = _Counting(drawn.oracle)
    problem = oracle.problem
    options: dict[str, object] = {**setting.options}
    if setting.most_groups is None:
        options["groups"] = world.groups
    if setting.anchors:
        options["anchors"] = anchors
    if world.per_cell is not None and setting.like is None:
        options["per_cell"] = world.per_cell
    if budget is not None:
        budget = max(budget, problem.items)  # an item that is never asked has no group
    procedure = start(
        setting.method,
        problem,
        np.random.default_rng(for_method),
        delta=delta,
        budget=budget,
        **options,
    )
    ended = run(procedure, oracle, max_answers=MOST, keep=True)
    outcome = outcome_of(ended, range(problem.items), range(problem.questions))
    own = np.ones(problem.items, dtype=bool)
    own[list(anchors)] = False
    nobody = setting.like is not None
    void = outcome.certificate is not None and outcome.checks is not None and outcome.checks.void
    certified = outcome.certificate is not None and not void
    return _Try(
        outcome.answers,
        int(oracle.asked.max()),
        certified,
        void,
        *(_wrong(ended.result, outcome, drawn) if certified else (0, 0)),
        int(((outcome.labels >= 0) & own).sum()),
        own,
        outcome.labels,
        outcome.labels if nobody else outcome.guesses,
        outcome.evidence if nobody and outcome.evidence is not None else outcome.confidence,
    )


class _Counting:
    """An oracle that remembers how often each cell was asked."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem = oracle.problem
        self.asked = np.zeros((oracle.problem.items, oracle.problem.questions), dtype=np.int64)
        self._oracle = oracle

    def __call__(self, batch: Batch, /) -> Tally:
        tally = self._oracle(batch)
        np.add.at(self.asked, (batch.items, batch.questions), tally.counts)
        return tally


def _wrong(finding: Finding | None, outcome: Outcome, world: World) -> tuple[int, int]:
    """Labels that are wrong about what the certificate says, and those nearer to another group.

    Labels of a rule are judged by the rule. For the promise "groups" there are two ways, because no
    two real items are the same: what it says speaks of no real world, and both are stand-ins.

    - What a label rests on are exclusions: the item lies on its own group's side of every other
      group's mean, on some question it was certified by. This is what the evidence tests, so only
      this is held against delta.
    - What a reader expects: the item is nearer to its own group's mean than to any other. No answer
      was ever weighed for this, and it fails more often; it is shown beside the first.
    """
    if finding is not None and finding.rule is not None:
        return judge(finding, world).wrong, 0
    questions = np.array(getattr(outcome.certificate, "questions", ()) or [outcome.question])
    assert world.means is not None
    labelled = np.flatnonzero(outcome.labels >= 0)
    means = world.means(questions.astype(np.int64))[labelled]
    own = np.unique(outcome.labels[labelled], return_inverse=True)[1]
    centres = np.stack([means[own == group].mean(axis=0) for group in range(own.max() + 1)])
    towards = centres[own][:, np.newaxis] - centres  # items x other groups x questions
    excluded = ((means[:, np.newaxis] - centres) * towards > 0).any(axis=2)
    excluded[np.arange(len(own)), own] = True
    distance = ((means[:, np.newaxis] - centres) ** 2).sum(axis=2)
    nearer = distance.argmin(axis=1) != own
    return int((~excluded.all(axis=1)).sum()), int(nearer.sum())


def _row(
    world: RealWorld, setting: Setting, tries: list[_Try], beside: list[_Try] | None
) -> RealRow:
    named = setting.anchors > 0
    decided = [(each.labels >= 0) & each.own for each in tries]
    found = [
        _matched(t.labels, world.classes, d, named) for t, d in zip(tries, decided, strict=True)
    ]
    every = [_matched(t.guesses, world.classes, t.own, named) for t in tries]
    surest = None
    if beside is not None:
        pairs = zip(tries, beside, strict=True)
        surest = _mean(
            [
                _matched(mine.labels, world.classes, _surest(mine, theirs), named)[0]
                for mine, theirs in pairs
            ]
        )
    return RealRow(
        world.name,
        setting.name,
        setting.like,
        len(tries),
        float(np.mean([each.answers for each in tries])),
        float(np.mean([each.busiest for each in tries])),
        float(np.mean([d.sum() / t.own.sum() for t, d in zip(tries, decided, strict=True)])),
        _mean([accuracy for accuracy, _ in found]),
        _mean([rand for _, rand in found]),
        _mean([accuracy for accuracy, _ in every]) or 0.0,
        _mean([rand for _, rand in every]) or 0.0,
        surest,
        _between(tries, decided),
        sum(each.certified for each in tries),
        sum(each.wrong > 0 for each in tries),
        sum(each.nearer > 0 for each in tries),
        _mean([each.wrong / max(each.labelled, 1) for each in tries if each.certified]),
        None if beside is not None else str(setting.options.get("error", "any")),
        sum(each.void for each in tries),
    )


def _surest(mine: _Try, theirs: _Try) -> _Bools:
    """As many of the surest items as the other decided, anchors left out."""
    share = ((theirs.labels >= 0) & theirs.own).sum() / max(theirs.own.sum(), 1)
    order = np.argsort(-np.where(mine.own, mine.sureness, -np.inf), kind="stable")
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: round(share * mine.own.sum())]] = True
    return chosen


def _matched(
    labels: Ints, classes: Ints, among: _Bools, named: bool
) -> tuple[float | None, float | None]:
    """Accuracy and adjusted Rand index of some labels; groups get their best names unless told."""
    labels, classes = labels[among], classes[among]
    if not len(labels):
        return None, None
    if named:
        right = int((labels == classes).sum())
    else:
        together = np.zeros((labels.max() + 1, classes.max() + 1), dtype=np.int64)
        np.add.at(together, (labels, classes), 1)
        right = int(together[linear_sum_assignment(together, maximize=True)].sum())
    return right / len(labels), agreement(labels, classes)


def _between(tries: list[_Try], decided: list[_Bools]) -> float | None:
    found = []
    for i, one in enumerate(tries):
        for j in range(i):
            both = decided[i] & decided[j]
            if both.sum() > 5:
                found.append(agreement(one.labels[both], tries[j].labels[both]))
    return _mean(found)


def _mean(values: Sequence[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return float(np.mean(given)) if given else None
