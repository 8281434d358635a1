"""The log, which is the state of a run: every Plan, every Batch and its exact Tally, in order.

A run is resumed by replaying its log into a fresh procedure. Each step is sealed with a digest of
itself and of all steps before it, back to what the run was given. So an edited log is caught at the
step that was edited. A seal cannot prove that a plan was made before the answers came.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from askfew.answers import KINDS, AnswerKind
from askfew.errors import AskfewError, InvalidInput, ReplayMismatch
from askfew.plans import Plan
from askfew.records import Batch, Problem, Tally

__all__ = ["Log", "Step", "merged", "origin", "rest_of", "seal"]

_KINDS = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Step:
    """One Batch with its Tally, the seal over the log up to here, and the plans that led to it."""

    batch: Batch
    tally: Tally
    seal: str
    plans: tuple[Plan, ...] = ()


@dataclass
class Log:
    """What was asked and answered so far, for one problem and one recipe.

    ``recipe`` says how the procedure was made (method, claim, delta, options, random state,
    versions); ``pending`` are plans made since the last step; ``partial`` holds answers to a Batch
    that was interrupted half way.
    """

    problem: Problem
    recipe: Mapping[str, object] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    pending: tuple[Plan, ...] = ()
    partial: Tally | None = None
    complete: bool = False
    """Whether the procedure had ended after the last step."""

    def append(self, batch: Batch, tally: Tally) -> None:
        """Add an answered Batch, with the plans that led to it."""
        # The snapshot is left out: it is for people, and a replay makes it again.
        bare = Batch(batch.items, batch.questions, batch.repeats, batch.why)
        plans = self.pending
        sealed = seal(self._last_seal(len(self)), bare, tally, plans)
        self.steps.append(Step(bare, tally, sealed, plans))
        self.pending = ()
        # Its answers are part of the step now, and must not be counted twice.
        self.partial = None

    def verify(self, index: int) -> Step:
        """The step, or ReplayMismatch if it is not what was once appended."""
        step = self.steps[index]
        if step.seal != seal(self._last_seal(index), step.batch, step.tally, step.plans):
            raise ReplayMismatch(
                f"step {index} of the log must be as it was recorded",
                "a step that was changed afterwards",
                "restore the log from where it was kept",
                step=index,
                asked=step.batch,
            )
        return step

    @property
    def answers(self) -> int:
        """How many answers it holds."""
        partial = 0 if self.partial is None else self.partial.answers
        return sum(step.tally.answers for step in self.steps) + partial

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return f"Log({len(self)} steps, {self.answers:,} answers)"

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values; floats survive the round trip bit for bit."""
        kind = self.problem.kind
        return {
            "items": self.problem.items,
            "questions": self.problem.questions,
            "answers": {"kind": kind.name, **vars(kind)},
            "recipe": dict(self.recipe),
            "steps": [
                {
                    **_batch_dict(step.batch),
                    **_tally_dict(step.tally),
                    "plans": [plan.to_dict() for plan in step.plans],
                    "seal": step.seal,
                }
                for step in self.steps
            ],
            "pending": [plan.to_dict() for plan in self.pending],
            "partial": None if self.partial is None else _tally_dict(self.partial),
            "complete": self.complete,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Log:
        """The inverse of ``to_dict``. Seals are kept as they are and checked by replay."""
        try:
            kind = dict(values["answers"])
            answers: AnswerKind = _KINDS[kind.pop("kind")](**kind)
            steps = [
                Step(_read_batch(row), _read_tally(row), row["seal"], _read_plans(row["plans"]))
                for row in values["steps"]
            ]
            pending = _read_plans(values["pending"])
            partial = None if values["partial"] is None else _read_tally(values["partial"])
            problem = Problem(values["items"], values["questions"], answers)
            return cls(problem, values["recipe"], steps, pending, partial, values["complete"])
        except AskfewError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(
                "a log must have what Log.to_dict() writes", repr(error), "save it again"
            ) from error

    def _last_seal(self, index: int) -> str:
        return self.steps[index - 1].seal if index else origin(self.problem, self.recipe)


def origin(problem: Problem, recipe: Mapping[str, object]) -> str:
    """The first link of the chain of seals: a digest of the problem and the recipe."""
    # Spelled out, not repr(problem): renaming a field must not break the seals of stored logs.
    sizes = f"Problem(items={problem.items}, questions={problem.questions}"
    said = json.dumps([f"{sizes}, answers={problem.kind!r})", dict(recipe)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def seal(before: str, batch: Batch, tally: Tally, plans: Sequence[Plan] = ()) -> str:
    """The digest of a step and, through the seal before it, of the whole log up to this step."""
    digest = hashlib.sha256(before.encode())
    for plan in plans:
        digest.update(plan.to_bytes())
    # Left out if unknown: a seal covers what was told, and nothing else.
    squares = () if tally.squares is None else (tally.squares,)
    for column in (batch.items, batch.questions, batch.repeats, tally.counts, tally.sums, *squares):
        # Little-endian on every machine: a log may go on on another one.
        digest.update(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


# A Batch that was interrupted half way: its log holds a partial Tally.


def rest_of(batch: Batch, partial: Tally) -> Batch | None:
    """The rows that still lack answers, asking only for those; None if none does."""
    missing = batch.repeats - partial.counts
    rows = np.flatnonzero(missing)
    if not len(rows):
        return None
    return Batch(batch.items[rows], batch.questions[rows], missing[rows], batch.why, batch.known)


def merged(batch: Batch, partial: Tally, rest: Tally) -> Tally:
    """The Tally of the whole Batch: ``rest`` answers what ``rest_of`` asked."""
    rows = np.flatnonzero(batch.repeats - partial.counts)
    counts, sums = partial.counts.copy(), partial.sums.copy()
    counts[rows] += rest.counts
    sums[rows] += rest.sums
    # Half of the squares would be wrong squares.
    if partial.squares is None or rest.squares is None:
        return Tally(counts, sums)
    squares = partial.squares.copy()
    squares[rows] += rest.squares
    return Tally(counts, sums, squares)


def _batch_dict(batch: Batch) -> dict[str, Any]:
    return {
        "items": batch.items.tolist(),
        "questions": batch.questions.tolist(),
        "repeats": batch.repeats.tolist(),
        "why": batch.why,
    }


def _read_plans(rows: Sequence[Mapping[str, Any]]) -> tuple[Plan, ...]:
    return tuple(Plan.from_dict(row) for row in rows)


def _tally_dict(tally: Tally) -> dict[str, Any]:
    return {
        "counts": tally.counts.tolist(),
        "sums": tally.sums.tolist(),
        "squares": None if tally.squares is None else tally.squares.tolist(),
    }


def _read_batch(row: Mapping[str, Any]) -> Batch:
    items, questions, repeats = (
        np.array(row[name], dtype=np.int64) for name in ("items", "questions", "repeats")
    )
    return Batch(items, questions, repeats, row["why"])


def _read_tally(row: Mapping[str, Any]) -> Tally:
    squares = None if row["squares"] is None else np.array(row["squares"], dtype=np.float64)
    return Tally(
        np.array(row["counts"], dtype=np.int64), np.array(row["sums"], dtype=np.float64), squares
    )
