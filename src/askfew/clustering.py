"""The main functions: ``cluster`` asks a source of answers, ``certify`` applies a rule to items.

The third, ``session``, waits to be told the answers (``sessions``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from askfew.answers import AnswerKind
from askfew.driver import run
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.oracles.function import FunctionOracle, function
from askfew.outcome import Outcome, outcome_of
from askfew.records import Batch, Floats, Oracle, Problem, Tally
from askfew.rule import Rule
from askfew.sessions import MAX_ANSWERS, Names, Seed, problem_of, start_recorded

if TYPE_CHECKING:  # guesses need solvers, which take long to import
    pass

__all__ = ["MOST_CALLS", "Progress", "certify", "cluster"]

MOST_CALLS = 10_000
"""The same if a function or a campaign answers. A plain choice, smaller because each answer may
cost something; a run that reaches it can go on from its log."""

Progress = Callable[[Batch, int], object]
"""Called before every Batch, with the answers so far."""


def cluster(
    source: Oracle | Callable[..., Any],
    items: Names | None = None,
    questions: Names | None = None,
    *,
    answers: AnswerKind | None = None,
    delta: float = 0.05,
    method: str = "frugal",
    max_answers: int | None = None,
    budget: int | None = None,
    rng: Seed = None,
    log: Log | None = None,
    progress: Progress | None = None,
    **options: object,
) -> Outcome:
    """Sort items into groups, and certify what is certain about them.

    ``source`` is an oracle, or a function: ``f(item, question)`` returns one answer (None: no
    answer), ``f(batch)`` a Tally. With a function, say how many ``items`` and ``questions`` there
    are, or list them by name; it is called at most 10,000 times unless ``max_answers`` says
    otherwise. If it fails, the error's ``log`` holds all answers so far: fix the function and call
    ``cluster`` again with ``log=error.log``. ``options`` are the method's own; names of items and
    questions may be used in them (``anchors``, ``defining``). ``progress(batch, answers)`` is
    called before every Batch.

    >>> from askfew import oracles
    >>> world = oracles.bernoulli([[0.1, 0.5], [0.9, 0.5]], labels=[0, 1, 0, 1, 1], rng=1)
    >>> cluster(world, delta=0.05, rng=7).labels
    array([0, 1, 0, 1, 1])
    """
    oracle, names = _oracle(source, items, questions, answers)
    is_function = isinstance(oracle, FunctionOracle)
    # A function's answers may have cost money: they are logged even if nobody asked for a log.
    if log is None and is_function:
        log = Log(oracle.problem)
    own = _recorded_answers(oracle, log)
    if own is not None and method == "rule":  # frugal goes on without cells that have no answers
        options.setdefault("per_cell", own)
    procedure = start_recorded(oracle.problem, names, method, delta, budget, rng, options, log)
    if max_answers is None:
        max_answers = MOST_CALLS if is_function else MAX_ANSWERS
    ended = run(procedure, _watched(oracle, progress), max_answers=max_answers, log=log, keep=True)
    return _with_sources(outcome_of(ended, *names), oracle, log)


def certify(
    source: Oracle | Callable[..., Any],
    rule: Rule,
    items: Names | None = None,
    questions: Names | None = None,
    *,
    answers: AnswerKind | None = None,
    delta: float = 0.05,
    max_answers: int | None = None,
    rng: Seed = None,
    log: Log | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Outcome:
    """Apply a rule to items, without a pilot: labels are certified to be right about the rule.

    A function is asked the rule's own questions, unless ``questions`` lists them otherwise. The
    rest is as in ``cluster``; the options are those of the method "rule".

    >>> from askfew import oracles
    >>> judge = oracles.bernoulli([[0.95], [0.1], [0.9]], rng=1)
    >>> result = certify(judge, Rule.cut("correct?", 0.5), questions=["correct?"], rng=1)
    >>> result.labels
    array([1, 0, 1])
    """
    if not isinstance(rule, Rule):
        raise InvalidInput(
            "rule must be a Rule", type(rule).__name__, "load one with askfew.Rule.load(path)"
        )
    if questions is None and not hasattr(source, "problem"):
        questions = list(rule.questions)
    _check_fresh_answers(rule, source)
    return cluster(
        source,
        items,
        questions,
        answers=answers,
        delta=delta,
        method="rule",
        max_answers=max_answers,
        rng=rng,
        log=log,
        progress=progress,
        given=rule,
        **options,
    )


def _check_fresh_answers(rule: Rule, source: object) -> None:
    """Refuse recorded answers that taught the rule: after it is frozen only fresh answers count."""
    recorded = getattr(source, "fingerprint", None)
    if recorded in rule.learnt_from and rule.digest not in getattr(source, "taught", ()):
        raise InvalidInput(
            "a rule must be certified by answers that it was not learnt from",
            "the recorded answers that taught it",
            "go on with the very table object that taught it, or record new answers",
        )


def _recorded_answers(oracle: Oracle, log: Log | None) -> Floats | None:
    """How many answers each cell of a record had when the run began; None if it is no record.

    Those that the log holds are used up first: no recorded answer may count twice.
    """
    answered = [] if log is None or log.problem != oracle.problem else log.steps
    if answered and hasattr(oracle, "catch_up"):
        oracle.catch_up((step.batch, step.tally) for step in answered)
    own: Floats | None = getattr(oracle, "per_cell", None)
    if own is None:
        return None
    counts = np.zeros_like(own)
    for step in answered:
        np.add.at(counts, (step.batch.items, step.batch.questions), step.tally.counts)
    return own + counts


def _with_sources(outcome: Outcome, oracle: Oracle, log: Log | None) -> Outcome:
    """The outcome, with a rule that remembers which answers taught it."""
    if outcome.rule is None:
        return outcome
    taught = list(outcome.rule.learnt_from)
    recorded = getattr(oracle, "fingerprint", None)
    if recorded is not None:
        taught.append(recorded)
        remembers: set[str] = getattr(oracle, "taught", set())
        remembers.add(outcome.rule.digest)
    # The first seal identifies the log, which may hold answers that taught the rule.
    if log is not None and log.steps:
        taught.append(log.steps[0].seal)
    return replace(outcome, rule=replace(outcome.rule, learnt_from=tuple(dict.fromkeys(taught))))


def _watched(oracle: Oracle, progress: Progress | None) -> Oracle:
    return oracle if progress is None else _Watched(oracle, progress)


class _Watched:
    """An oracle that reports every Batch to ``progress`` before it is answered."""

    def __init__(self, oracle: Oracle, progress: Progress) -> None:
        self.problem = oracle.problem
        self._oracle, self._progress, self._answers = oracle, progress, 0

    def __call__(self, batch: Batch, /) -> Tally:
        self._progress(batch, self._answers)
        tally = self._oracle(batch)
        self._answers += tally.answers
        return tally


def _oracle(
    source: Oracle | Callable[..., Any],
    items: Names | None,
    questions: Names | None,
    answers: AnswerKind | None,
) -> tuple[Oracle, tuple[Any, Any]]:
    if hasattr(source, "problem"):
        own: Problem = source.problem
        named = getattr(source, "names", None) or (own.items, own.questions)
        problem, names = problem_of(
            named[0] if items is None else items,
            named[1] if questions is None else questions,
            own.kind if answers is None else answers,
        )
        if problem != own:
            raise InvalidInput(f"this oracle answers for {own}", problem, "leave the sizes out")
    if not callable(source):
        raise InvalidInput(
            "source must be an oracle (callable with a Batch) or a function",
            repr(source)[:100],
            "pass who answers, or oracles.from_frame(...) of recorded answers",
        )
    if hasattr(source, "problem"):
        return source, names
    if items is None or questions is None:
        raise InvalidInput(
            "a function needs to know items and questions",
            "none",
            "pass how many there are, or lists",
        )
    problem, names = problem_of(items, questions, answers)
    return function(source, problem, items=names[0], questions=names[1]), names
