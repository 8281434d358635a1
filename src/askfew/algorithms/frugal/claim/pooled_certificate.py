"""What a run with two groups found, and its promise with everything it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askfew.algorithms.frugal.claim.pooled import Labelling, PooledClaim, part_of_delta
from askfew.answers import AnswerKind, Number
from askfew.errors import EndOfAnswers
from askfew.evidence.mixtures import boundary, mean_interval, tuned_rho
from askfew.records import Certificate, Finding, Ints, Problem, Status, WhyUndecided
from askfew.wording import confidence, counted, listed

__all__ = ["FrugalCertificate", "pooled_finding"]

_ALPHA = 0.05
"""One minus the level of the interval for the gap."""
_TYPICAL = 64
"""Answers of a group at which the interval is about tightest. A plain choice; any value that is
fixed beforehand gives a valid interval."""


@dataclass(frozen=True)
class FrugalCertificate(Certificate):
    """How delta was spent on the exclusions that the labels rest on.

    Labels are given on ``question``; those on the ``further`` questions are joined to them, each
    through an item that has a label on both. ``evidence`` is in nats: an item is labelled when it
    reaches what is needed on one of the questions.
    """

    question: int
    gap: float
    gap_interval: tuple[float, float] | None
    """Where the gap lies if the labels are right; None while an item is undecided, and with a
    tolerance."""
    item_delta: float
    item_needed: float
    item_evidence: tuple[float, ...]
    further: tuple[tuple[int, int, float], ...]
    """Question, the item that joins it, and the nats it needed."""
    undecided: tuple[int, ...]
    misfits: tuple[int, ...]
    tolerance: float = 0.0
    margin: float | None = None
    """How much items of a group may differ while the labels stay right, if it was kept."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values; items and questions are numbers, an infinite end is None."""
        values = super().to_dict()
        if self.gap_interval is not None:
            ends = [end if math.isfinite(end) else None for end in self.gap_interval]
            values["gap_interval"] = ends
        return values

    def names(self, items: Sequence[object], questions: Sequence[object]) -> dict[str, Any]:
        """The items and questions it speaks of, by the names they have there."""
        return {
            "undecided": [str(items[i]) for i in self.undecided],
            "misfits": [str(items[i]) for i in self.misfits],
            "question": str(questions[self.question]),
            "further": [[str(questions[j]), str(items[i])] for j, i, _ in self.further],
        }

    def text(self, items: Sequence[object], questions: Sequence[object]) -> str:
        """All of it in sentences, with these names of items and questions."""
        gap = f"the groups differ by about {self.gap:.3g}"
        if self.gap_interval is not None:
            low, high = self.gap_interval
            gap = (
                f"the groups differ by {self.gap:.3g} ({1 - _ALPHA:.0%} interval {low:.3g} to"
                f" {high:.3g}, if the labels are right)"
            )
        lines = [
            self.promise,
            f"Labels rest on question {questions[self.question]}: {gap}.",
            "A label is given by excluding the other side of the question with at least"
            f" {self.item_needed:.1f} nats, against what other items answered in the same step"
            f" (delta {self.item_delta:.2g} over all items).",
        ]
        lines += [
            f"Labels on question {questions[j]}, with at least {needed:.1f} nats, are joined to"
            f" them through item {items[i]}."
            for j, i, needed in self.further
        ]
        if self.margin is not None and self.margin > self.tolerance:
            lines.append(
                f"The labels would be right, too, if items of one group differed by {self.margin:g}"
                " instead."
            )
        left = [i for i in self.undecided if i not in set(self.misfits)]
        if left:
            lines.append(f"Undecided: {listed([f'item {items[i]}' for i in left])}.")
        lines += [f"Item {items[i]} fits neither group and is set aside." for i in self.misfits]
        return "\n".join([*lines, "This assumes:", *(f"- {each}" for each in self.assumptions)])


def pooled_finding(claim: PooledClaim, end: EndOfAnswers | None) -> Finding:
    """The labels, who has none and why, and the promise; ``end`` where no more answers came."""
    if end is not None and not claim.labellings:
        raise end
    claim.set_aside()
    labels, misfits = claim.labels(), set(claim.misfits())
    status, reason = _ending(claim, labels, misfits)
    if end is not None:
        status, reason = end.status, str(end)
    certificate = _certificate(claim, labels)
    question = claim.labellings[0].question if claim.labellings else None
    return Finding(
        labels,
        question if certificate is None else certificate.question,
        certificate,
        status,
        claim.strongest(),
        undecided={
            int(item): _why(claim, item, misfits) for item in np.flatnonzero(labels < 0).tolist()
        },
        reason=reason,
    )


def _why(claim: PooledClaim, item: int, misfits: set[int]) -> WhyUndecided:
    if item in misfits:
        return "misfit"
    return "between" if item in claim.doubtful else "few-answers"


def _ending(claim: PooledClaim, labels: Ints, misfits: set[int]) -> tuple[Status, str]:
    """The status and the reason of a run that ended by itself."""
    left = set(np.flatnonzero(labels < 0).tolist())
    if not left:
        return "done", "every item is certified"
    if left <= misfits:
        return "undecided", "all items but those that fit no group are certified"
    if left <= misfits | claim.doubtful:
        return "undecided", "the other items were asked for long and told from neither group"
    if misfits and len(left) == len(labels):
        return "undecided", "once misfits are set aside, only one group is left"
    if claim.per_cell is not None and not claim.labellings:
        needed = math.log(claim.problem.items / (claim.delta * part_of_delta(0, capped=True)))
        return "undecided", (
            f"with at most {claim.per_cell} answers per cell, no question was found that carries"
            f" labels: that many answers about an item must bring {needed:.1f} nats. Questions that"
            " tell the groups apart more clearly, a larger per_cell, or the method rule with an"
            " error share would help"
        )
    if claim.per_cell is not None:
        return "undecided", (
            f"with at most {claim.per_cell} answers per cell, the questions do not carry more"
            " labels; more questions that tell the groups apart would help, or a larger per_cell"
        )
    return "stalled", "some items give no answer"


def _certificate(claim: PooledClaim, labels: Ints) -> FrugalCertificate | None:
    """The certificate of the labels so far, or None if there are none."""
    decided = int((labels >= 0).sum())
    if not decided:
        return None
    (main, _, _), *others = claim.joined()
    gap, interval = _gap_interval(claim, labels, main)
    return FrugalCertificate(
        claim.delta,
        f"{counted(decided, 'label is', 'labels are')} right, all of them with probability at least"
        f" {confidence(claim.delta)}.",
        _assumptions(claim.problem, len(claim.misfits()), claim.tolerance),
        question=main.question,
        gap=gap,
        gap_interval=interval,
        item_delta=claim.problem.items * math.exp(-main.threshold),
        item_needed=main.threshold,
        item_evidence=tuple(claim.strongest().tolist()),
        further=tuple(
            (each.question, item, each.threshold) for each, item, _ in others if item is not None
        ),
        undecided=tuple(np.flatnonzero(labels < 0).tolist()),
        misfits=tuple(claim.misfits()),
        tolerance=claim.tolerance,
        margin=claim.margin(),
    )


def _gap_interval(
    claim: PooledClaim, labels: Ints, main: Labelling
) -> tuple[float, tuple[float, float] | None]:
    """The groups' gap on the main question, and an interval that holds whenever one stops.

    If the labels are right, the fresh answers of a group's items all have its mean, and each
    group's mean gets an interval at half of alpha; the gap lies between their ends. That needs the
    answers of every member: an item is undecided because of what it answered, so leaving it out
    would bias the means. With a tolerance a group has no one mean: items near the other group are
    asked more, and an interval for the mean of all answers would be none for the groups.
    """
    counts, sums = (
        np.array([float(column[labels == group].sum()) for group in (0, 1)])
        for column in (main.counts, main.sums)
    )
    means = sums / np.maximum(counts, 1)
    if claim.tolerance or (labels < 0).any():
        return float(np.ptp(means)), None
    first, second = np.argsort(means)
    limits = [
        _mean_interval(claim.problem.kind, float(mean), float(count))
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


def _assumptions(problem: Problem, set_aside: int, tolerance: float) -> tuple[str, ...]:
    noise = f"their noise is subGaussian with sigma = {problem.kind.sigma:g}"
    bounded = "they never leave their scale"
    alike = (
        f"means that differ by at most {tolerance:g}" if tolerance else "the same mean"
    ) + " on every question"
    aside = (
        f"; the {counted(set_aside, 'item')} set aside lie between the groups where they answered"
        " beside others"
        if set_aside
        else ""
    )
    return (
        f"there are exactly two groups, and items of one group have {alike}{aside}",
        "answers are independent, each with its cell's mean whatever was answered before; "
        + (noise if isinstance(problem.kind, Number) else bounded),
        "people may skip a question, but not because of what they would have answered",
    )
