"""The promise of a frugal run, with everything it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askfew.algorithms.frugal.labelling import Labelling, named
from askfew.algorithms.frugal.levels import Levels
from askfew.algorithms.frugal.search import Pair
from askfew.answers import AnswerKind, Number
from askfew.evidence.mixture import boundary, tuned_rho
from askfew.evidence.shares import mean_interval
from askfew.records import Certificate, Problem
from askfew.wording import confidence, counted

__all__ = ["FrugalCertificate", "gap_interval", "give_certificate", "two_items"]

_ALPHA = 0.05
"""One minus the level of the interval for the gap."""
_TYPICAL = 64
"""References of a group at which the interval is about tightest."""


@dataclass(frozen=True)
class FrugalCertificate(Certificate):
    """How delta was spent: on confirming the representatives, and on every item's exclusion.

    ``evidence`` and ``needed`` are in nats: confirmed is what reaches what it needs.
    """

    attempt: int
    representatives: tuple[int, ...]
    confirmed_question: int
    registered: int
    pair_delta: float
    pair_evidence: float
    pair_needed: float
    question: int
    gap: float
    gap_interval: tuple[float, float]
    item_delta: float
    item_needed: float
    item_evidence: tuple[float, ...]
    undecided: tuple[int, ...]
    misfits: tuple[int, ...]

    def to_dict(self) -> dict[str, object]:
        """As JSON-ready values; items and questions are numbers, an end that is nowhere is None."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["gap_interval"] = [end if math.isfinite(end) else None for end in self.gap_interval]
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    def names(self, items: Sequence[object], questions: Sequence[object]) -> dict[str, Any]:
        """The items and questions it speaks of, by the names they have there."""
        about_items = ("representatives", "undecided", "misfits")
        about_questions = ("confirmed_question", "question")
        return {
            **{name: [str(items[i]) for i in getattr(self, name)] for name in about_items},
            **{name: str(questions[getattr(self, name)]) for name in about_questions},
        }

    def text(self, items: Sequence[object], questions: Sequence[object]) -> str:
        """All of it in sentences, with these names of items and questions."""
        low, high = self.gap_interval
        a, b = (items[i] for i in self.representatives)
        confirmed_on, question = questions[self.confirmed_question], questions[self.question]
        lines = [
            self.promise,
            f"Items {a} and {b} represent the groups. They were registered as candidate "
            f"{self.registered} and confirmed on question {confirmed_on} with "
            f"{self.pair_evidence:.1f} nats of evidence where {self.pair_needed:.1f} were needed "
            f"(delta {self.pair_delta:.2g}).",
            f"Labels rest on question {question}: the groups differ by {self.gap:.3g} "
            f"({1 - _ALPHA:.0%} interval {low:.3g} to {high:.3g}).",
            "Every label is given by excluding the other group with at least "
            f"{self.item_needed:.1f} nats (delta {self.item_delta:.2g} over all items, "
            f"attempt {self.attempt}).",
        ]
        if self.undecided:
            lines.append(f"Undecided: {_listed([items[i] for i in self.undecided])}.")
        lines += [f"Item {items[i]} fits neither group and is set aside." for i in self.misfits]
        return "\n".join([*lines, "This assumes:", *(f"- {each}" for each in self.assumptions)])


def give_certificate(
    problem: Problem,
    delta: float,
    delta_pair: float,
    pair: Pair,
    labelling: Labelling,
    levels: Levels,
    attempt: int,
) -> FrugalCertificate:
    """Put together what a run has found."""
    named_labels = named(labelling.labels)
    first = int(named_labels[pair.items[0]])
    gap, interval = gap_interval(problem.answers, levels)
    decided = int((named_labels >= 0).sum())
    return FrugalCertificate(
        delta,
        f"{counted(decided, 'label is', 'labels are')} right, all of them with probability at least"
        f" {confidence(delta)}.",
        _assumptions(problem, len(labelling.misfits)),
        attempt=attempt,
        representatives=tuple(pair.items.tolist()[:: 1 if first == 0 else -1]),
        confirmed_question=pair.question,
        registered=pair.q,
        pair_delta=delta_pair / (pair.q * (pair.q + 1)),
        pair_evidence=pair.evidence,
        pair_needed=pair.needed,
        question=levels.question,
        gap=gap,
        gap_interval=interval,
        item_delta=max(problem.items - 2, 1) * math.exp(-labelling.threshold),
        item_needed=labelling.threshold,
        item_evidence=tuple(labelling.evidence.max(axis=1).tolist()),
        undecided=tuple(np.flatnonzero(named_labels < 0).tolist()),
        misfits=tuple(labelling.misfits),
    )


def gap_interval(answers: AnswerKind, levels: Levels) -> tuple[float, tuple[float, float]]:
    """The references' gap, and an interval for it that is valid whenever one stops.

    Each group's mean gets an interval at half the level; the gap lies between their ends.
    """
    counts = levels.counts
    means = levels.sums / counts if (counts > 0).all() else levels.expected
    first, second = np.argsort(means)
    limits = [
        _mean_interval(answers, float(mean), float(count))
        for mean, count in zip(means, counts, strict=True)
    ]
    (low, high), (other_low, other_high) = limits[first], limits[second]
    return float(np.ptp(means)), (max(other_low - high, 0.0), other_high - low)


def _mean_interval(answers: AnswerKind, mean: float, count: float) -> tuple[float, float]:
    if not isinstance(answers, Number):
        width = answers.high - answers.low
        ends = mean_interval((mean - answers.low) / width * count, count, _ALPHA / 2)
        return answers.low + width * ends[0], answers.low + width * ends[1]
    if count == 0:
        return -math.inf, math.inf
    # Tuned beforehand: an interval tuned to the count at which one stopped would not be valid.
    rho = tuned_rho(_TYPICAL * answers.sigma**2, _ALPHA / 2)
    half = float(boundary(count * answers.sigma**2, rho, _ALPHA / 2)) / count
    return mean - half, mean + half


def two_items(delta: float) -> Certificate:
    """Two items need no answer."""
    promise = "There are two groups and two items: nothing had to be asked."
    return Certificate(delta, promise, ("there are exactly two groups",))


def _assumptions(problem: Problem, set_aside: int) -> tuple[str, ...]:
    but = f", but for the {counted(set_aside, 'item')} set aside" if set_aside else ""
    noise = f"their noise is subGaussian with sigma = {problem.answers.sigma:g}"
    bounded = "they never leave their scale"
    return (
        "there are exactly two groups, and items of one group have the same mean on every"
        f" question{but}",
        "answers are independent, each with its cell's mean whatever was answered before; "
        + (noise if isinstance(problem.answers, Number) else bounded),
        "people may skip a question, but not because of what they would have answered",
    )


def _listed(items: Sequence[object], most: int = 10) -> str:
    text = ", ".join(f"item {item}" for item in items[:most])
    return text if len(items) <= most else f"{text} and {len(items) - most} more"
