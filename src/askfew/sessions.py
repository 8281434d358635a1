"""A session: a run that waits to be told the answers; and how every run starts.

The log of a run keeps its recipe, which is what a later process needs to go on: method, delta,
options, random state and the version of the claim. A log that was recorded with another recipe is
refused.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from askfew.algorithms import CLAIM_VERSIONS, check_delta, start
from askfew.answers import AnswerKind, YesNo
from askfew.driver import AskTell, replay
from askfew.errors import EndOfAnswers, InvalidInput, ReplayMismatch
from askfew.log import Log
from askfew.outcome import Outcome, outcome_of
from askfew.records import Batch, Finding, Problem, Procedure, Snapshot
from askfew.rule import Rule

if TYPE_CHECKING:  # guesses need solvers, which take long to import
    from askfew.estimates.guesses import Guesses

__all__ = ["MAX_ANSWERS", "Names", "Seed", "Session", "problem_of", "session", "start_recorded"]

MAX_ANSWERS = 10**8
"""The cap if none is given. A plain choice: it only has to end a run that cannot succeed."""

Names = int | Iterable[object]
Seed = int | np.random.SeedSequence | np.random.Generator | None


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
        """Answer the Batch: how many answers came for each row, and their sums."""
        self._steps.tell(counts, sums, squares)

    def stop(self, end: EndOfAnswers) -> None:
        """End the session with what is known; nothing changes if it has ended already."""
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
        """The outcome, or None while there is something to ask."""
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
    problem, names = problem_of(items, questions, answers)
    log = Log(problem) if log is None else log
    procedure = start_recorded(problem, names, method, delta, budget, rng, options, log)
    steps = replay(procedure, log, max_answers=max_answers, keep=True)
    groups = options.get("groups")
    return Session(steps, log, names, groups if isinstance(groups, int) else 2)


def problem_of(
    items: Names, questions: Names, answers: AnswerKind | None
) -> tuple[Problem, tuple[Sequence[object], Sequence[object]]]:
    """The problem, and the names of its items and questions."""
    for what, each in (("items", items), ("questions", questions)):
        # A text is iterable, too: "abc" would become three items.
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


def start_recorded(
    problem: Problem,
    names: tuple[Sequence[object], Sequence[object]],
    method: str,
    delta: float,
    budget: int | None,
    rng: Seed,
    options: dict[str, object],
    log: Log | None,
) -> Procedure[Finding]:
    """The procedure, ready to be driven.

    Its recipe is written into a new log, and must agree with that of a log that has steps.
    """
    check_delta(delta)
    options = _by_number(options, *names)
    resumed = log is not None and (log.steps or log.partial)
    # A log knows its random state, so a run that goes on needs no seed.
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
                # A function is called during the run and cannot be compared; it has no place here.
                if not callable(value)
            },
            "random state": _plain(generator.bit_generator.state),
            "versions": {"askfew": version("askfew"), "numpy": np.__version__},
        }
        # A log without steps was never run, so it takes the recipe of this run.
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
    # By text, as rules name questions: 3 and "3" are the same question.
    known = [str(each) for each in names]
    if str(name) not in known:
        raise InvalidInput(f"{option} must be among the {what}", repr(name), "fix the name")
    if known.count(str(name)) > 1:
        raise InvalidInput(
            f"{option} must name one of the {what} each",
            f"{name!r}, the name of {known.count(str(name))}",
            f"give the {what} different names",
        )
    return known.index(str(name))


def _described(value: object) -> str:
    """An option as text: enough to tell it from another value."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {_digest(value)}"
    return repr(value)


def _digest(array: np.ndarray[Any, Any]) -> str:
    # Little-endian on every machine, as in the seals of a log.
    ordered = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(ordered.tobytes()).hexdigest()[:16]


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
        # Another version may still ask the same. If it does not, the replay notices.
        if name == "versions":
            warnings.warn(f"the log was written with {then}, this is {now}", stacklevel=4)
        else:
            raise ReplayMismatch(
                f"the log was recorded with {_said(name, then)}",
                _said(name, now),
                "pass what the recorded run was given (rng may be left out: the log knows it)",
            )


def _said(name: str, value: Any) -> str:
    """A part of a recipe in words; a random state is shortened."""
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
