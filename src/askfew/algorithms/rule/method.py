"""The method "rule": learn a rule, freeze it, certify every item against it.

LEARN and the choice of whom to ask are guesses; what they decide reaches the claim as plans. After
FREEZE only fresh answers count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from askfew.algorithms.rule.claim.certificate import exact_certificate, rule_certificate
from askfew.algorithms.rule.claim.exact import Evaluation
from askfew.algorithms.rule.claim.rounds import Certification
from askfew.algorithms.rule.guess.choose import Chooser, default_limit
from askfew.algorithms.rule.guess.learn import Learner, Screen
from askfew.algorithms.rule.tuning import Tuning
from askfew.errors import EndOfAnswers, InvalidInput, InvalidPlan
from askfew.evidence.decisions import Error
from askfew.plans import Plan
from askfew.records import (
    Batch,
    Finding,
    Floats,
    Ints,
    Problem,
    Procedure,
    Snapshot,
    Status,
    planned,
)
from askfew.rule import Rule

__all__ = ["Groups", "Repeats", "rule"]

Groups = int | Sequence[int] | Literal["auto"]
Repeats = Literal["fresh", "same"]
Stop = tuple[Status, str]


def rule(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: Groups = 2,
    error: Error = "any",
    anchors: Mapping[int, int | str] | None = None,
    per_cell: int | Floats | None = None,
    limit: int | None = None,
    margin: float = 0.5,
    repeats: Repeats = "fresh",
    defining: Sequence[int] = (),
    given: Rule | None = None,
) -> Procedure[Finding]:
    """Labels that are right about a readable rule, however items of a group differ.

    ``groups`` is a number, a list of allowed numbers, or "auto". ``anchors`` are items whose group
    is known. ``per_cell`` is the most answers of any (item, question), ``limit`` the most about one
    item while it is certified. ``error`` "any" bounds the chance of any wrong label, "share" the
    expected share of wrong ones. ``margin`` 0.5 puts the cut half-way between the groups; less
    decides more items and claims less. ``repeats`` "same" says that asking again gives the same
    answer. ``defining`` are the questions that define the split; ``given`` is a rule to be applied
    as it is, without a pilot (its questions are numbers of the problem's).
    """
    settings = _Settings.read(
        problem, delta, groups, error, anchors, per_cell, limit, margin, repeats, defining, given
    )
    return _run(settings, int(rng.integers(2**63)))


def _run(settings: _Settings, root: int) -> Procedure[Finding]:
    """LEARN, FREEZE, CERTIFY."""
    if not len(settings.certifying):
        return _nothing(settings, "done", "every item is an anchor: nothing had to be asked")
    screen = Screen(settings.problem)
    frozen = settings.given
    if frozen is None:
        try:
            found = yield from _learn(settings, screen, root)
        except EndOfAnswers as end:
            return _nothing(settings, end.status, str(end))
        if not isinstance(found, Rule):
            return _nothing(settings, "no-consensus", found)
        frozen = found
    if settings.repeats == "same":
        return (yield from _evaluate(settings, screen, frozen))
    return (yield from _certify(settings, screen, frozen))


def _learn(settings: _Settings, screen: Screen, root: int) -> Procedure[Rule | str]:
    """Screen until a rule is proposed; a sentence if there is none."""
    learner = Learner(
        settings.problem,
        settings.groups,
        settings.names,
        settings.anchors,
        settings.defining,
        settings.per_cell,
        settings.repeats == "same",
        Tuning(),
        root,
    )
    while True:
        plan = yield from planned(lambda: learner.propose(screen))
        if plan.kind == "freeze":
            return _frozen(plan, settings)
        if plan.kind != "screen":
            return _no_consensus(plan, screen)
        batch = _screening(plan, settings, screen)
        tally = yield batch
        screen.record(batch, tally)


def _screening(plan: Plan, settings: _Settings, screen: Screen) -> Batch:
    """The Batch of a plan for the pilot, checked against the caps of the cells."""
    items, questions = plan.ints("items"), plan.ints("questions")
    if items.shape != questions.shape or not len(items):
        raise InvalidPlan(
            "a screen must ask something of somebody",
            f"{len(items)} items and {len(questions)} questions",
            "mend the guess that made it",
        )
    cells = np.stack([items, questions])
    (items, questions), repeats = np.unique(cells, axis=1, return_counts=True)
    before = screen.counts_of(np.unique(questions))
    column = np.searchsorted(np.unique(questions), questions)
    if (before[items, column] + repeats > settings.cap(items, questions)).any():
        raise InvalidPlan(
            "a cell must not be asked more often than per_cell allows",
            "a screen that does",
            "mend the guess that made it",
        )
    asked = len(np.unique(items)), len(np.unique(questions))
    why = f"learn: screen {asked[0]:,} items on {asked[1]:,} questions"
    known = Snapshot("learn", settings.told.copy())
    return Batch(items, questions, repeats, why, known)


def _frozen(plan: Plan, settings: _Settings) -> Rule:
    """The proposed rule, as strictly read as one from a file."""
    try:
        proposed = Rule.from_dict(plan.facts.get("rule"))
        proposed.places(range(settings.problem.questions))
    except InvalidInput as error:
        raise InvalidPlan(*error.args) from error
    return proposed


def _no_consensus(plan: Plan, screen: Screen) -> str:
    agreed = plan.facts.get("agreement")
    measured = "" if agreed is None else f" (halves of the items agree to {agreed:.2f})"
    return (
        f"no split is carried by several questions{measured}; finding out took"
        f" {screen.answers:,} answers. Anchors, questions that define the split, or a rule of your"
        " own would say what to look for"
    )


def _certify(settings: _Settings, screen: Screen, frozen: Rule) -> Procedure[Finding]:
    """Complete rounds until every item is labelled or given up."""
    tuning = Tuning()
    questions = frozen.places(range(settings.problem.questions))
    state = Certification(
        settings.problem,
        frozen,
        questions,
        settings.certifying,
        settings.error,
        settings.delta,
        _applied(settings.margin, frozen),
        screen.counts_of(questions),
        settings.caps(questions),
    )
    limit = default_limit(state, tuning) if settings.limit is None else settings.limit
    chooser = Chooser(state, limit, tuning)
    try:
        while True:
            plan = yield from planned(chooser.propose)
            chooser.accept(plan)
            batch = state.ask(plan)
            if batch is None:
                break
            tally = yield batch
            state.settle(tally)
            chooser.learn()
    except EndOfAnswers as end:
        return _certified(settings, chooser, frozen, end.status, str(end))
    undecided = (state.labels[settings.certifying] < 0).any()
    if undecided:
        why = "all items that can be decided are certified"
        return _certified(settings, chooser, frozen, "undecided", why)
    return _certified(settings, chooser, frozen, "done", "every item is certified")


def _certified(
    settings: _Settings, chooser: Chooser, frozen: Rule, status: Status, reason: str
) -> Finding:
    state = chooser.state
    told = int((settings.told >= 0).sum())
    best = state.for_leaves(np.arange(settings.problem.items)).max(axis=1)
    return Finding(
        np.where(settings.told >= 0, settings.told, state.labels),
        int(state.questions[state.nodes[0].questions[0]]),
        rule_certificate(state, told),
        status,
        best,
        frozen,
        chooser.reasons(),
        len(frozen.groups),
        settings.told,
        reason,
    )


def _evaluate(settings: _Settings, screen: Screen, frozen: Rule) -> Procedure[Finding]:
    """One answer per cell is its mean: fill in what the rule looks at, and read it off."""
    questions = frozen.places(range(settings.problem.questions))
    values = np.full((settings.problem.items, len(questions)), np.nan)
    if screen.rows:
        items, asked, counts, sums = screen.table()
        column = {int(question): place for place, question in enumerate(asked)}
        for place, question in enumerate(questions.tolist()):
            if question in column:
                at = column[question]
                have = counts[:, at] > 0
                values[items[have], place] = sums[have, at] / counts[have, at]
    state = Evaluation(
        settings.problem, frozen, questions, settings.certifying, values, settings.caps(questions)
    )
    status: Status = "done"
    reason = "the rule was evaluated for every item"
    try:
        while (batch := state.ask()) is not None:
            tally = yield batch
            state.take(tally)
    except EndOfAnswers as end:
        status, reason = end.status, str(end)
    labels = state.labels
    missing = settings.certifying[labels[settings.certifying] < 0]
    if len(missing) and status == "done":
        status, reason = "undecided", "the rule was evaluated for every item that answered"
    complete = set(state.complete.tolist())
    told = int((settings.told >= 0).sum())
    return Finding(
        np.where(settings.told >= 0, settings.told, labels),
        int(questions[frozen.nodes[0].questions[0]]),
        exact_certificate(
            frozen.renamed(tuple(questions.tolist())),
            settings.delta,
            settings.error,
            int((labels >= 0).sum()),
            len(missing),
            told,
        ),
        status,
        None,
        frozen,
        {int(i): "between" if int(i) in complete else "few-answers" for i in missing},
        len(frozen.groups),
        settings.told,
        reason,
    )


def _nothing(settings: _Settings, status: Status, reason: str) -> Finding:
    """An ending without a rule, or without need of one."""
    left = np.flatnonzero(settings.told < 0).tolist()
    return Finding(
        settings.told.copy(),
        status=status,
        undecided=dict.fromkeys(left, "few-answers") if status != "no-consensus" else {},
        groups=max(settings.groups),
        told=settings.told,
        reason=reason,
    )


@dataclass(frozen=True, eq=False)
class _Settings:
    """What the method was given, every part of it checked."""

    problem: Problem
    delta: float
    groups: Sequence[int]
    names: Sequence[str]
    error: Error
    anchors: Ints
    per_cell: Floats
    limit: int | None
    margin: float
    repeats: Repeats
    defining: Ints
    given: Rule | None

    @property
    def told(self) -> Ints:
        """Groups that are known beforehand, -1 elsewhere."""
        return self.anchors

    @property
    def certifying(self) -> Ints:
        """Every item but the anchors."""
        return np.flatnonzero(self.anchors < 0)

    def cap(self, items: Ints, questions: Ints) -> Floats:
        """The most answers of some cells."""
        whole = np.broadcast_to(self.per_cell, (self.problem.items, self.problem.questions))
        return np.asarray(whole[items, questions])

    def caps(self, questions: Ints) -> Floats:
        """The most answers of all items' cells in some columns."""
        whole = np.broadcast_to(self.per_cell, (self.problem.items, self.problem.questions))
        return np.asarray(whole[:, questions])

    @classmethod
    def read(
        cls,
        problem: Problem,
        delta: float,
        groups: Groups,
        error: Error,
        anchors: Mapping[int, int | str] | None,
        per_cell: int | Floats | None,
        limit: int | None,
        margin: float,
        repeats: Repeats,
        defining: Sequence[int],
        given: Rule | None,
    ) -> _Settings:
        """Check all of it; each thing that is wrong gets its own sentence."""
        if error not in get_args(Error):
            raise InvalidInput("error must be 'any' or 'share'", repr(error), "choose one")
        if repeats not in get_args(Repeats):
            raise InvalidInput("repeats must be 'fresh' or 'same'", repr(repeats), "choose one")
        if not (isinstance(margin, int | float) and 0 < margin <= 0.5):
            raise InvalidInput(
                "margin must lie above 0 and at most at 0.5", repr(margin), "0.5 is half-way"
            )
        if limit is not None and not _whole(limit, 1):
            raise InvalidInput(
                "limit, the most answers about one item, must be a whole number from 1",
                repr(limit),
                "leave it out for enough",
            )
        if given is not None and not isinstance(given, Rule):
            raise InvalidInput(
                "given must be a Rule", type(given).__name__, "load one with Rule.load"
            )
        if given is not None:
            given.places(range(problem.questions))
            _check_margin(margin, given)
        allowed = _allowed(groups, problem) if given is None else [len(given.groups)]
        told, names = _anchors(anchors, problem, allowed, given)
        defined = _defining(defining, problem)
        if problem.questions == 1 and min(allowed) == 2:
            defined = np.array([0])  # where there is one question, it defines the split
        if (len(names) > 2 or min(allowed) > 2) and 0 < len(defined) < 3:
            raise InvalidInput(
                "more than two groups need at least three defining questions",
                len(defined),
                "mark more questions",
            )
        return cls(
            problem,
            delta,
            allowed if not (told >= 0).any() else [len(names)],
            names,
            error,
            told,
            _per_cell(per_cell, problem, repeats),
            limit,
            float(margin),
            repeats,
            defined,
            given,
        )


def _applied(margin: float, rule: Rule) -> float:
    """A margin below 1/2 is a place between a rule's levels: without them, the cut is as it is."""
    return 0.5 if any(node.levels is None for node in rule.nodes) else margin


def _check_margin(margin: float, rule: Rule) -> None:
    """Whoever brings a rule and a margin must mean both."""
    if _applied(margin, rule) != margin:
        raise InvalidInput(
            "a rule without levels needs margin 0.5",
            f"{margin:g}",
            "leave margin out, or give every node of the rule its levels",
        )


def _allowed(groups: Groups, problem: Problem) -> list[int]:
    if isinstance(groups, str):
        if groups != "auto":
            raise InvalidInput(
                "groups must be a number, a list of numbers, or 'auto'", repr(groups), "pass 2, say"
            )
        return list(range(2, min(Tuning.most_groups, problem.items) + 1))
    wanted: list[int] = [groups] if isinstance(groups, int) else _listed(groups)
    if not wanted or not all(_whole(each, 2) for each in wanted):
        raise InvalidInput(
            "groups must be whole numbers from 2", repr(groups), "pass 2, a list, or 'auto'"
        )
    if max(wanted) > problem.items:
        raise InvalidInput(
            f"there cannot be more groups than the {problem.items} items",
            max(wanted),
            "ask for fewer groups",
        )
    return sorted(set(wanted))


def _listed(groups: object) -> list[int]:
    """The numbers of a list; what is none is refused by whoever asked."""
    return list(groups) if isinstance(groups, Sequence) else []


def _anchors(
    anchors: Mapping[int, int | str] | None,
    problem: Problem,
    allowed: Sequence[int],
    given: Rule | None,
) -> tuple[Ints, list[str]]:
    """The group of each anchor, and the groups' names."""
    told = np.full(problem.items, -1)
    if not anchors:
        names = list(given.groups) if given else [str(g) for g in range(allowed[0])]
        return told, names if given or len(allowed) == 1 else []
    if not isinstance(anchors, Mapping):
        raise InvalidInput(
            "anchors must say which item belongs to which group",
            type(anchors).__name__,
            "write {item: group, ...}",
        )
    outside = [item for item in anchors if not (_whole(item, 0) and item < problem.items)]
    if outside:
        raise InvalidInput(
            f"anchors must be items from 0 to {problem.items - 1}", outside[0], "mend the anchors"
        )
    for group in anchors.values():
        if not (isinstance(group, str) or (_whole(group, 0) and int(group) < problem.items)):
            raise InvalidInput(
                f"an anchor's group must be a name, or a number from 0 to {problem.items - 1}",
                repr(group),
                "groups count from 0",
            )
    named = {str(group) for group in anchors.values()}
    if given is not None:
        names = list(given.groups)
    elif not any(isinstance(group, str) for group in anchors.values()):
        names = [str(g) for g in range(max(int(g) for g in named) + 1)]
    else:
        names = list(dict.fromkeys(str(group) for group in anchors.values()))
    unknown = sorted(named - set(names))
    if unknown:
        raise InvalidInput(
            f"anchors must name groups of the rule: {', '.join(names)}", unknown[0], "rename it"
        )
    for item, group in anchors.items():
        told[item] = names.index(str(group))
    empty = [name for g, name in enumerate(names) if not (told == g).any()]
    if given is None and (len(names) < 2 or empty):
        raise InvalidInput(
            "anchors must show at least two groups, each by one item or more",
            f"anchors of {', '.join(sorted(named))} only",
            "add items of the other group, or leave the anchors out",
        )
    if given is None and len(names) not in allowed:
        raise InvalidInput(
            f"anchors must show as many groups as are asked for ({allowed[0]})",
            f"{len(names)} groups",
            "pass groups to match",
        )
    return told, names


def _per_cell(per_cell: int | Floats | None, problem: Problem, repeats: Repeats) -> Floats:
    if per_cell is None:
        most = np.array([[1.0 if repeats == "same" else np.inf]])
    elif isinstance(per_cell, np.ndarray):
        most = per_cell.astype(np.float64) if per_cell.dtype.kind in "iuf" else np.zeros(0)
        if most.shape != (problem.items, problem.questions) or not (most >= 0).all():
            raise InvalidInput(
                f"per_cell must be a number, or one of at least 0 for each of {problem.items} x"
                f" {problem.questions} cells",
                f"shape {most.shape}",
                "leave it out where there is no cap",
            )
    elif _whole(per_cell, 1):
        most = np.array([[float(per_cell)]])
    else:
        raise InvalidInput(
            "per_cell, the most answers of any (item, question), must be a whole number from 1",
            repr(per_cell),
            "leave it out where there is no cap",
        )
    return np.minimum(most, 1.0) if repeats == "same" else most


def _defining(defining: Sequence[int], problem: Problem) -> Ints:
    if not isinstance(defining, Iterable):
        raise InvalidInput("defining must be a list of questions", repr(defining), "write [0], say")
    wrong = [each for each in defining if not (_whole(each, 0) and each < problem.questions)]
    if wrong:
        raise InvalidInput(
            f"defining questions must be numbers from 0 to {problem.questions - 1}",
            wrong[0],
            "mend them",
        )
    return np.unique(np.array(list(defining), dtype=np.int64))


def _whole(value: object, least: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return int(value) >= least
