"""The method "rule": learn a rule, freeze it, certify every item against it.

LEARN and the choice of whom to ask are guesses. What they decide reaches the claim as plans. After
FREEZE only fresh answers count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from askfew.algorithms.rule.claim.certificate import exact_certificate, rule_certificate
from askfew.algorithms.rule.claim.exact import Evaluation
from askfew.algorithms.rule.claim.rounds import Certification
from askfew.algorithms.rule.guess.choose import Chooser
from askfew.algorithms.rule.guess.learn import Learner
from askfew.algorithms.rule.screen import Screen
from askfew.algorithms.rule.settings import Groups, Repeats, Settings, applied_margin
from askfew.algorithms.rule.tuning import Tuning
from askfew.errors import EndOfAnswers, InvalidInput, InvalidPlan
from askfew.evidence.decisions import Error
from askfew.plans import Plan
from askfew.records import (
    Batch,
    Finding,
    Floats,
    Problem,
    Procedure,
    Snapshot,
    Status,
    planned,
)
from askfew.rule import Rule
from askfew.wording import counted

__all__ = ["rule"]


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
    at_work: Callable[[], int] | None = None,
) -> Procedure[Finding]:
    """Learn a readable rule and label items by it; nothing is assumed about items of a group.

    ``groups`` is a number, a list of allowed numbers, or "auto". ``anchors`` are items whose group
    is known. ``per_cell`` caps the answers of any (item, question), ``limit`` those about one item
    while it is certified. ``error`` "any" bounds the probability of any wrong label, "share" the
    expected share of wrong ones. ``margin`` 0.5 puts the cut half-way between the groups; a smaller
    one decides more items and claims less. ``repeats`` "same" says that asking again gives the same
    answer. ``defining`` are the questions that define the split. ``given`` is a rule to apply as it
    is, without a pilot; its questions are numbers. ``at_work`` says how many people answer just
    now: small Batches are enlarged for them.
    """
    settings = Settings.read(
        problem, delta, groups, error, anchors, per_cell, limit, margin, repeats, defining, given
    )
    return _run(settings, int(rng.integers(2**63)), at_work)


def _run(settings: Settings, root: int, at_work: Callable[[], int] | None) -> Procedure[Finding]:
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
            if found.kind == "out of reach":
                return _nothing(settings, "undecided", _out_of_reach(found, settings, screen))
            return _nothing(settings, "no-consensus", _no_consensus(found, screen))
        frozen = found
    if settings.repeats == "same":
        return (yield from _evaluate(settings, screen, frozen))
    return (yield from _certify(settings, screen, frozen, at_work))


def _learn(settings: Settings, screen: Screen, root: int) -> Procedure[Rule | Plan]:
    """The pilot: the rule that it proposes, or the plan that says why there is none."""
    learner = Learner(
        settings.problem,
        settings.groups,
        settings.names,
        settings.anchors,
        settings.defining,
        settings.per_cell,
        settings.repeats == "same",
        settings.error,
        settings.delta,
        settings.margin,
        Tuning(),
        root,
    )
    while True:
        plan = yield from planned(lambda: learner.propose(screen))
        # A plan from the log and a new one are checked alike: nothing below trusts the guess.
        if plan.kind == "freeze":
            return _frozen(plan, settings)
        if plan.kind != "screen":
            return plan
        batch = _screening(plan, settings, screen)
        tally = yield batch
        screen.record(batch, tally)


def _screening(plan: Plan, settings: Settings, screen: Screen) -> Batch:
    """The Batch of a pilot's plan, checked against the caps of the cells."""
    items, questions = plan.ints("items"), plan.ints("questions")
    if items.shape != questions.shape or not len(items):
        raise InvalidPlan(
            "a screen must ask something of somebody",
            f"{len(items)} items and {len(questions)} questions",
            "fix the guess that made it",
        )
    cells = np.stack([items, questions])
    (items, questions), repeats = np.unique(cells, axis=1, return_counts=True)
    before = screen.counts_of(np.unique(questions))
    column = np.searchsorted(np.unique(questions), questions)
    if (before[items, column] + repeats > settings.cap(items, questions)).any():
        raise InvalidPlan(
            "a cell must not be asked more often than per_cell allows",
            "a screen that does",
            "fix the guess that made it",
        )
    asked = len(np.unique(items)), len(np.unique(questions))
    why = f"learn: screen {asked[0]:,} items on {asked[1]:,} questions"
    known = Snapshot("learn", settings.told.copy())
    return Batch(items, questions, repeats, why, known)


def _frozen(plan: Plan, settings: Settings) -> Rule:
    """The proposed rule, read as strictly as one from a file."""
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


def _out_of_reach(plan: Plan, settings: Settings, screen: Screen) -> str:
    """Why nothing more is asked, and what would help."""
    most, enough = int(np.median(settings.per_cell)), int(plan.facts.get("answers", 0))
    ways = ["more questions that tell the groups apart"]
    if enough > most:
        ways.insert(0, f"more people, so that a question gets {enough} answers or more")
    if settings.error == "any" and plan.facts.get("share"):
        ways.append('error = "share"')
    ways.append('for machines that repeat themselves repeats = "same"')
    asked = (
        f"after {counted(screen.answers, 'answer')} no more are" if screen.answers else "none is"
    )
    reached = int(plan.facts.get("reached", 0))
    few = f"at most {reached:,}" if reached else "hardly any"
    return (
        f"{few} of {counted(len(settings.certifying), 'item')} could be certified with"
        f" {counted(most, 'answer')} to a question about an item, so {asked} asked for. What would"
        f" help: {', '.join(ways[:-1])}, or {ways[-1]}"
    )


def _certify(
    settings: Settings, screen: Screen, frozen: Rule, at_work: Callable[[], int] | None
) -> Procedure[Finding]:
    """CERTIFY: ask complete rounds until every item is labelled or given up."""
    questions = frozen.places(range(settings.problem.questions))
    state = Certification(
        settings.problem,
        frozen,
        questions,
        settings.certifying,
        settings.error,
        settings.delta,
        applied_margin(settings.margin, frozen),
        # The pilot's answers use up the caps of cells, though they are no evidence.
        screen.counts_of(questions),
        settings.caps(questions),
    )
    chooser = Chooser(state, settings.limit, Tuning(), at_work)
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
        if not (state.labels[settings.certifying] >= 0).any():
            why = "no item can be certified"
        short = sum(each == "few-answers" for each in chooser.reasons().values())
        if short and np.isfinite(settings.per_cell).any():
            why += f": {counted(short, 'item')} would need more answers than a question may get"
        return _certified(settings, chooser, frozen, "undecided", why)
    return _certified(settings, chooser, frozen, "done", "every item is certified")


def _certified(
    settings: Settings, chooser: Chooser, frozen: Rule, status: Status, reason: str
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


def _evaluate(settings: Settings, screen: Screen, frozen: Rule) -> Procedure[Finding]:
    """Evaluate the rule exactly, because one answer of a cell is the cell's mean."""
    questions = frozen.places(range(settings.problem.questions))
    values = np.full((settings.problem.items, len(questions)), np.nan)
    # A judge who repeats itself has no fresh answers, so the pilot's are as good as new ones.
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


def _nothing(settings: Settings, status: Status, reason: str) -> Finding:
    """The finding of a run that has no rule, or needs none."""
    left = np.flatnonzero(settings.told < 0).tolist()
    return Finding(
        settings.told.copy(),
        status=status,
        undecided=dict.fromkeys(left, "few-answers") if status != "no-consensus" else {},
        groups=max(settings.groups),
        told=settings.told,
        reason=reason,
    )
