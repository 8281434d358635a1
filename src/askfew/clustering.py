"""How to use a method: ``cluster`` asks whoever answers, ``certify`` applies a rule to new items, a
``session`` waits to be told.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from askfew.algorithms import CLAIM_VERSIONS, check_delta, start
from askfew.answers import AnswerKind, YesNo
from askfew.driver import AskTell, replay, run
from askfew.errors import EndOfAnswers, InvalidInput, ReplayMismatch
from askfew.log import Log
from askfew.oracles.function import FunctionOracle, function
from askfew.outcome import Outcome, outcome_of
from askfew.records import Batch, Finding, Oracle, Problem, Procedure, Snapshot, Tally
from askfew.rule import Rule

if TYPE_CHECKING:  # guesses need solvers, which take long to import
    from askfew.estimates.guesses import Guesses

__all__ = ["MAX_ANSWERS", "MOST_CALLS", "Progress", "Session", "certify", "cluster", "session"]

MAX_ANSWERS = 10**8
"""The cap where none is given: a run that cannot succeed must still end."""
MOST_CALLS = 10_000
"""The same where a function answers, or a campaign: each answer may cost something."""

Names = int | Iterable[object]
Seed = int | np.random.SeedSequence | np.random.Generator | None
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
    """Sort items into groups, and say what is certain about it.

    ``source`` is an oracle, or a function: ``f(item, question)`` returns one answer (None: no
    answer), ``f(batch)`` a Tally. With a function, say how many ``items`` and ``questions`` there
    are, or list them by name; it is called at most 10 000 times unless ``max_answers`` says
    otherwise. If it fails, the error's ``log`` holds all answers so far: mend the function and call
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
    if log is None and is_function:
        log = Log(oracle.problem)
    own = getattr(oracle, "per_cell", None)
    if own is not None and method == "rule":  # the only one with a cap for every cell
        options.setdefault("per_cell", own)
    procedure = _start(oracle.problem, names, method, delta, budget, rng, options, log)
    if max_answers is None:
        max_answers = MOST_CALLS if is_function else MAX_ANSWERS
    ended = run(procedure, _watched(oracle, progress), max_answers=max_answers, log=log, keep=True)
    return _remembering(outcome_of(ended, *names), oracle, log)


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
    _refuse_what_taught(rule, source)
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


def _refuse_what_taught(rule: Rule, source: object) -> None:
    """After a rule is frozen only fresh answers count."""
    recorded = getattr(source, "fingerprint", None)
    if recorded in rule.learnt_from and rule.digest not in getattr(source, "taught", ()):
        raise InvalidInput(
            "a rule must be certified by answers that it was not learnt from",
            "the recorded answers that taught it",
            "go on with the very table object that taught it, or record new answers",
        )


def _remembering(outcome: Outcome, oracle: Oracle, log: Log | None) -> Outcome:
    """The outcome, its rule knowing where the answers are that taught it."""
    if outcome.rule is None:
        return outcome
    taught = list(outcome.rule.learnt_from)
    recorded = getattr(oracle, "fingerprint", None)
    if recorded is not None:
        taught.append(recorded)
        remembers: set[str] = getattr(oracle, "taught", set())
        remembers.add(outcome.rule.digest)
    if log is not None and log.steps:
        taught.append(log.steps[0].seal)
    return replace(outcome, rule=replace(outcome.rule, learnt_from=tuple(dict.fromkeys(taught))))


def _watched(oracle: Oracle, progress: Progress | None) -> Oracle:
    return oracle if progress is None else _Watched(oracle, progress)


class _Watched:
    """An oracle that tells somebody what is asked."""

    def __init__(self, oracle: Oracle, progress: Progress) -> None:
        self.problem = oracle.problem
        self._oracle, self._progress, self._answers = oracle, progress, 0

    def __call__(self, batch: Batch, /) -> Tally:
        self._progress(batch, self._answers)
        tally = self._oracle(batch)
        self._answers += tally.answers
        return tally


class Session:
    """Ask and tell: for answers that come from elsewhere, at their own pace.

    ``log`` holds all that was told; a later process goes on from it with ``session(..., log=log)``.
    """

    def __init__(
        self, steps: AskTell[Finding], log: Log, names: tuple[Any, Any], groups: int = 2
    ) -> None:
        self.log = log
        self._steps, self._names, self._groups = steps, names, groups

    def ask(self) -> Batch | None:
        """The Batch to answer next; None when the session has ended."""
        return self._steps.ask()

    def tell(self, counts: ArrayLike, sums: ArrayLike, squares: ArrayLike | None = None) -> None:
        """How many answers came for each row of the Batch, and their sums."""
        self._steps.tell(counts, sums, squares)

    def stop(self, end: EndOfAnswers) -> None:
        """End it here, with what is known; nothing changes if it has ended."""
        if self._steps.ended is None:
            self._steps.stop(end)

    def __repr__(self) -> str:
        state = "asking" if self._steps.ended is None else self._steps.ended.status
        return f"<Session: {state}, {self.answers:,} answers so far>"

    @property
    def known(self) -> Snapshot | None:
        """What is known so far."""
        return self._steps.known

    @property
    def answers(self) -> int:
        """How many answers were told so far."""
        return self._steps.meter.answers

    @property
    def guesses(self) -> Guesses:
        """A group for every item, with its estimated probability, from what was told so far."""
        from askfew.estimates.guesses import Guesses, guess_groups

        outcome, cells, known = self.outcome, self._steps.cells, self.known
        if outcome is not None:
            return Guesses(outcome.guesses, outcome.confidence)
        assert cells is not None, "a session keeps what it was told"
        labels = np.full(cells.problem.items, -1) if known is None else known.labels
        delta: Any = self.log.recipe["delta"]
        return guess_groups(
            cells.problem,
            cells.sums(),
            labels,
            max(self._groups, int(labels.max()) + 1),
            sure=1 - delta,
            identical=self.log.recipe["method"] != "rule",
            on=None if known is None else known.question,
        )

    @property
    def outcome(self) -> Outcome | None:
        """The end, or None while there is something to ask."""
        ended = self._steps.ended
        return None if ended is None else outcome_of(ended, *self._names)


def session(
    items: Names,
    questions: Names,
    *,
    answers: AnswerKind | None = None,
    delta: float = 0.05,
    method: str = "frugal",
    max_answers: int = MAX_ANSWERS,
    budget: int | None = None,
    rng: Seed = None,
    log: Log | None = None,
    **options: object,
) -> Session:
    """An ask/tell session.

    >>> talk = session(items=3, questions=2, rng=7)
    >>> batch = talk.ask()
    >>> talk.tell(counts=batch.repeats, sums=batch.repeats * (batch.items == 2))
    """
    problem, names = _problem(items, questions, answers)
    log = Log(problem) if log is None else log
    procedure = _start(problem, names, method, delta, budget, rng, options, log)
    steps = replay(procedure, log, max_answers=max_answers, keep=True)
    groups = options.get("groups")
    return Session(steps, log, names, groups if isinstance(groups, int) else 2)


def _start(
    problem: Problem,
    names: tuple[Sequence[object], Sequence[object]],
    method: str,
    delta: float,
    budget: int | None,
    rng: Seed,
    options: dict[str, object],
    log: Log | None,
) -> Procedure[Finding]:
    """The procedure; its recipe is written into a new log, and must agree with an old one's."""
    check_delta(delta)
    options = _by_number(options, *names)
    resumed = log is not None and (log.steps or log.partial)
    generator = _restored(log) if log and resumed and rng is None else _generator(rng)
    if log is not None:
        recipe = {
            "method": method,
            "delta": delta,
            "budget": budget,
            "claim": CLAIM_VERSIONS.get(method),
            "options": {
                name: _described(value)
                for name, value in sorted(options.items())
                # What somebody is asked during the run is no part of what it began with.
                if not callable(value)
            },
            "random state": _plain(generator.bit_generator.state),
            "versions": {"askfew": version("askfew"), "numpy": np.__version__},
        }
        if not resumed:
            log.recipe = recipe
        _check_recipe(recipe, log)
        if log.problem != problem:
            raise ReplayMismatch("the log is for", log.problem, f"but this run is for {problem}")
    return start(method, problem, generator, delta=delta, budget=budget, **options)


def _by_number(
    options: Mapping[str, object], items: Sequence[object], questions: Sequence[object]
) -> dict[str, object]:
    """The options with items and questions by their numbers instead of their names."""
    plain = dict(options)
    anchors, defining, given = (plain.get(name) for name in ("anchors", "defining", "given"))
    if isinstance(anchors, Mapping) and not isinstance(items, range):
        placed: dict[int, object] = {}
        for item, group in anchors.items():
            place = _place(item, items, "anchors", "items")
            if placed.setdefault(place, group) != group:
                raise InvalidInput(
                    "an anchor must have one group",
                    f"{item!r} in {placed[place]!r} and {group!r}",
                    "leave one out",
                )
        plain["anchors"] = placed
    if isinstance(defining, Iterable) and not isinstance(questions, range):
        plain["defining"] = [_place(each, questions, "defining", "questions") for each in defining]
    if isinstance(given, Rule):
        plain["given"] = given.renamed(given.places(questions).tolist())
    return plain


def _place(name: object, names: Sequence[object], option: str, what: str) -> int:
    known = [str(each) for each in names]
    if str(name) not in known:
        raise InvalidInput(f"{option} must be among the {what}", repr(name), "mend the name")
    if known.count(str(name)) > 1:
        raise InvalidInput(
            f"{option} must name one of the {what} each",
            f"{name!r}, the name of {known.count(str(name))}",
            f"give the {what} different names",
        )
    return known.index(str(name))


def _described(value: object) -> str:
    """An option as a recipe holds it: enough to tell it from another."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()[:16]}"
    return repr(value)


def _generator(rng: Seed) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "rng must be a whole number from 0, a numpy Generator, or None", repr(rng), "pass rng=7"
        ) from error


def _check_recipe(recipe: dict[str, object], log: Log) -> None:
    for name, now in recipe.items():
        then = log.recipe.get(name)
        if then == now:
            continue
        if name == "versions":
            warnings.warn(f"the log was written with {then}, this is {now}", stacklevel=4)
        else:
            raise ReplayMismatch(
                f"the log was recorded with {_said(name, then)}",
                _said(name, now),
                "pass what the recorded run was given (rng may be left out: the log knows it)",
            )


def _said(name: str, value: Any) -> str:
    """A part of a recipe in words; of a random state, only enough to tell two apart."""
    if name != "random state" or not isinstance(value, dict):
        return f"{name} {value}"
    return f"the seed of {value.get('bit_generator')} {str(value.get('state'))[:24]}..."


def _restored(log: Log) -> np.random.Generator:
    """A generator in the state the log's run began with."""
    state: Any = log.recipe["random state"]
    bit_generator = getattr(np.random, state["bit_generator"])()
    bit_generator.state = state
    return np.random.Generator(bit_generator)


def _plain(state: Any) -> Any:
    """A random state as JSON-ready values: some bit generators keep arrays in theirs."""
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    return state.tolist() if isinstance(state, np.ndarray) else state


def _oracle(
    source: Oracle | Callable[..., Any],
    items: Names | None,
    questions: Names | None,
    answers: AnswerKind | None,
) -> tuple[Oracle, tuple[Any, Any]]:
    if hasattr(source, "problem"):
        own: Problem = source.problem
        named = getattr(source, "names", None) or (own.items, own.questions)
        problem, names = _problem(
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
    problem, names = _problem(items, questions, answers)
    return function(source, problem, items=names[0], questions=names[1]), names


def _problem(
    items: Names, questions: Names, answers: AnswerKind | None
) -> tuple[Problem, tuple[Sequence[object], Sequence[object]]]:
    for what, each in (("items", items), ("questions", questions)):
        if isinstance(each, str):
            raise InvalidInput(
                f"{what} must be a whole number or a list",
                repr(each),
                "pass a list of names",
            )
    named = [list(each) if isinstance(each, Iterable) else each for each in (items, questions)]
    rows, columns = (len(each) if isinstance(each, list) else each for each in named)
    problem = Problem(rows, columns, YesNo() if answers is None else answers)
    names = [each if isinstance(each, list) else range(each) for each in named]
    return problem, (names[0], names[1])
