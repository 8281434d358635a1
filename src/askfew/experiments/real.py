"""The suite real: how well askfew and the alternatives find the classes in real data.

Every seed draws other answers (and other anchors) for the same items. askfew runs first, with each
of its settings. Then each alternative gets as many answers as the setting it is compared with used
on that seed, and the same anchors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from askfew.algorithms import start
from askfew.driver import run
from askfew.estimates.classes import agreement
from askfew.experiments.real_worlds import RealWorld
from askfew.outcome import Outcome, outcome_of
from askfew.records import Batch, Finding, Floats, Ints, Oracle, Tally
from askfew.simulation import Engine, World, judge

__all__ = ["ALTERNATIVES", "SETTINGS", "RealRow", "Setting", "run_real", "settings_for"]

MAX_ANSWERS = 100_000
"""A run is stopped at this many answers. A plain choice: several times what any run that finds
something has needed (benchmarks/real.md)."""

_FEWEST_COMMON = 5
"""Two seeds are compared only if they decided more items than this in common. A plain choice: an
index of fewer items is noise."""

_Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class Setting:
    """A method and its options. It gets as many answers as the setting named ``like`` used."""

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
"""The settings of askfew. Of a rule delta bounds the share of errors, unless the name says any."""
ALTERNATIVES = (
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
"""What a user could do instead."""


def settings_for(world: RealWorld) -> list[Setting]:
    """The settings that can run with the world's number of groups."""
    every = (*SETTINGS, *ALTERNATIVES)
    return [each for each in every if each.most_groups is None or world.groups <= each.most_groups]


@dataclass(frozen=True, eq=False)
class _Try:
    """One run of one setting, judged by somebody who knows the classes."""

    answers: int
    busiest: int
    """The answers of the cell with the most answers."""
    certified: bool
    """Whether there is a certificate, and askfew's own checks do not call it void."""
    void: bool
    wrong: int
    """Labels that are wrong about what the certificate says."""
    nearer: int
    """Labels of the promise "groups" whose item is nearer to another group's mean."""
    own: _Bools
    """Items that are not anchors."""
    labels: Ints
    guesses: Ints
    sureness: Floats

    @property
    def decided(self) -> _Bools:
        """Items with a label, without the anchors."""
        return (self.labels >= 0) & self.own

    @property
    def decided_share(self) -> float:
        """Their share of all items that are not anchors."""
        return float(self.decided.sum() / max(self.own.sum(), 1))


@dataclass(frozen=True)
class RealRow:
    """One setting on one world, over all seeds; shares are means over seeds."""

    world: str
    setting: str
    method: str
    anchors: int
    like: str | None
    seeds: int
    answers: float
    busiest_cell: float
    decided: float
    """Share of the items that have a label; 1 for methods that promise nothing."""
    accuracy_decided: float | None
    """Share of those items that are in the group of their class; None without any label."""
    rand_decided: float | None
    accuracy_all: float
    """The same share for the guesses of all items."""
    rand_all: float
    accuracy_surest: float | None
    """For settings without a certificate: the accuracy of as many of their surest items as askfew
    labelled."""
    between_seeds: float | None
    """Adjusted Rand index of two seeds, on the items that both decided."""
    certified: int
    """Runs with a certificate that is not void."""
    certified_wrong: int
    """Certified runs with a label that is wrong about what the certificate says."""
    certified_nearer: int
    """Certified runs of the promise "groups" with an item nearer to another group's mean, which is
    not promised."""
    wrong_share: float | None
    """Mean share of such labels; None if no run is certified."""
    promised: str | None
    """What delta bounds: the chance of "any" wrong label, or their expected "share"."""
    void: int
    """Runs whose certificate askfew's own checks call void."""


def run_real(
    world: RealWorld,
    *,
    delta: float,
    seeds: int,
    seed: int,
    engine: Engine,
) -> list[RealRow]:
    """Run every setting on one world."""
    settings = settings_for(world)
    tried = list(engine(partial(_one_seed, world, settings, delta, seed), seeds))
    return [
        _row(
            world,
            each,
            [runs[each.name] for runs in tried],
            None if each.like is None else [runs[each.like] for runs in tried],
        )
        for each in settings
    ]


def _one_seed(
    world: RealWorld, settings: Sequence[Setting], delta: float, seed: int, index: int
) -> dict[str, _Try]:
    found: dict[str, _Try] = {}
    for place, setting in enumerate(settings):
        children = np.random.SeedSequence(seed, spawn_key=(index, place)).spawn(2)
        anchors = _anchors(world.classes, setting.anchors, [seed, index, setting.anchors])
        budget = None if setting.like is None else found[setting.like].answers
        found[setting.name] = _try(world, setting, delta, anchors, budget, *children)
    return found


def _anchors(classes: Ints, each: int, seed: list[int]) -> dict[int, int]:
    """Draw this many items of each class, but at most half of the class."""
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
        budget = max(budget, problem.items)  # an item that is never asked about gets no group
    procedure = start(
        setting.method,
        problem,
        np.random.default_rng(for_method),
        delta=delta,
        budget=budget,
        **options,
    )
    ended = run(procedure, oracle, max_answers=MAX_ANSWERS, keep=True)
    outcome = outcome_of(ended, range(problem.items), range(problem.questions))
    own = np.ones(problem.items, dtype=bool)
    own[list(anchors)] = False
    void = outcome.certificate is not None and outcome.checks is not None and outcome.checks.void
    certified = outcome.certificate is not None and not void
    wrong, nearer = _wrong(ended.result, outcome, drawn) if certified else (0, 0)
    promises = setting.like is None  # the others label every item, and say how sure they are
    return _Try(
        answers=outcome.answers,
        busiest=int(oracle.asked.max()),
        certified=certified,
        void=void,
        wrong=wrong,
        nearer=nearer,
        own=own,
        labels=outcome.labels,
        guesses=outcome.guesses if promises else outcome.labels,
        sureness=outcome.confidence if promises or outcome.evidence is None else outcome.evidence,
    )


class _Counting:
    """An oracle that counts how often each cell was asked."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem = oracle.problem
        self.asked = np.zeros((oracle.problem.items, oracle.problem.questions), dtype=np.int64)
        self._oracle = oracle

    def __call__(self, batch: Batch, /) -> Tally:
        tally = self._oracle(batch)
        np.add.at(self.asked, (batch.items, batch.questions), tally.counts)
        return tally


def _wrong(finding: Finding | None, outcome: Outcome, world: World) -> tuple[int, int]:
    """Count labels that are wrong about what the certificate says, and labels nearer to another
    group.

    Labels of a rule are judged by the rule. The promise "groups" assumes that items of a group are
    the same, which is true in no real world. So there are two counts:

    - What the evidence tests: on some question that the label was certified by, the item lies on
      its own group's side of every other group's mean. Only this count is compared with delta.
    - What a reader expects: the item is nearer to its own group's mean than to any other. No
      evidence is computed for this, and it fails more often.
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
    def agreed(labels: Ints, among: _Bools) -> tuple[float | None, float | None]:
        return _matched(labels, world.classes, among, named=setting.anchors > 0)

    found = [agreed(each.labels, each.decided) for each in tries]
    every = [agreed(each.guesses, each.own) for each in tries]
    surest = None
    if beside is not None:
        pairs = zip(tries, beside, strict=True)
        surest = _mean([agreed(mine.labels, _surest(mine, theirs))[0] for mine, theirs in pairs])
    return RealRow(
        world=world.name,
        setting=setting.name,
        method=setting.method,
        anchors=setting.anchors,
        like=setting.like,
        seeds=len(tries),
        answers=float(np.mean([each.answers for each in tries])),
        busiest_cell=float(np.mean([each.busiest for each in tries])),
        decided=float(np.mean([each.decided_share for each in tries])),
        accuracy_decided=_mean([accuracy for accuracy, _ in found]),
        rand_decided=_mean([rand for _, rand in found]),
        accuracy_all=_mean([accuracy for accuracy, _ in every]) or 0.0,
        rand_all=_mean([rand for _, rand in every]) or 0.0,
        accuracy_surest=surest,
        between_seeds=_between(tries),
        certified=sum(each.certified for each in tries),
        certified_wrong=sum(each.wrong > 0 for each in tries),
        certified_nearer=sum(each.nearer > 0 for each in tries),
        wrong_share=_mean(
            [each.wrong / max(each.decided.sum(), 1) for each in tries if each.certified]
        ),
        promised=None if beside is not None else str(setting.options.get("error", "any")),
        void=sum(each.void for each in tries),
    )


def _surest(mine: _Try, theirs: _Try) -> _Bools:
    """As many of the surest items as the other setting decided, without anchors."""
    order = np.argsort(-np.where(mine.own, mine.sureness, -np.inf), kind="stable")
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: round(theirs.decided_share * mine.own.sum())]] = True
    return chosen


def _matched(
    labels: Ints, classes: Ints, among: _Bools, named: bool
) -> tuple[float | None, float | None]:
    """Accuracy and adjusted Rand index of some labels.

    Groups that are not ``named`` get the names that agree best with the classes.
    """
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


def _between(tries: list[_Try]) -> float | None:
    found = []
    for one, other in combinations(tries, 2):
        both = one.decided & other.decided
        if both.sum() > _FEWEST_COMMON:
            found.append(agreement(one.labels[both], other.labels[both]))
    return _mean(found)


def _mean(values: Sequence[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return float(np.mean(given)) if given else None
