"""What a run with any number of groups found, and its promise with everything it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import Exclusion
from askfew.answers import Number
from askfew.errors import EndOfAnswers
from askfew.records import Certificate, Finding, Problem, Status, WhyUndecided, renumbered
from askfew.wording import confidence, counted, listed

__all__ = ["ExclusionCertificate", "exclusion_finding"]


@dataclass(frozen=True)
class ExclusionCertificate(Certificate):
    """How delta was spent: on confirming the first pair, and on every item's exclusions.

    ``evidence`` and ``needed`` are in nats. Representatives come in the order of their groups.
    """

    attempt: int
    groups: int
    told: bool
    """Whether the number of groups was told."""
    representatives: tuple[int, ...]
    pair: tuple[int, int]
    registered: int
    pair_delta: float
    pair_evidence: float
    pair_needed: float
    questions: tuple[int, ...]
    """Those that exclusions rest on, the one that brought most first."""
    item_delta: float
    item_needed: float
    item_evidence: tuple[float, ...]
    undecided: tuple[int, ...]
    misfits: tuple[int, ...]
    tolerance: float = 0.0

    def names(self, items: Sequence[object], questions: Sequence[object]) -> dict[str, Any]:
        """The items and questions it speaks of, by the names they have there."""
        about = ("representatives", "pair", "undecided", "misfits")
        return {
            **{name: [str(items[i]) for i in getattr(self, name)] for name in about},
            "questions": [str(questions[j]) for j in self.questions],
        }

    def text(self, items: Sequence[object], questions: Sequence[object]) -> str:
        """All of it in sentences, with these names of items and questions."""
        a, b = (items[i] for i in self.pair)
        noun = "question" if len(self.questions) == 1 else "questions"
        lines = [
            self.promise,
            f"Items {a} and {b} were registered as candidate {self.registered} and confirmed to"
            f" differ with {self.pair_evidence:.1f} nats of evidence where {self.pair_needed:.1f}"
            f" were needed (delta {self.pair_delta:.2g}).",
            "The groups are represented by the items"
            f" {listed([items[i] for i in self.representatives])}, each of them excluded from the"
            " groups before it.",
            f"Labels rest on the {noun} {listed([questions[j] for j in self.questions])}.",
            "Every label is given by excluding every other group with at least"
            f" {self.item_needed:.1f} nats (delta {self.item_delta:.2g} over all items, attempt"
            f" {self.attempt}).",
        ]
        if self.undecided:
            lines.append(f"Undecided: {listed([items[i] for i in self.undecided])}.")
        lines += [
            f"Item {items[i]} is excluded from every group and is set aside: with it there are at"
            f" least {self.groups + 1} groups."
            for i in self.misfits
        ]
        return "\n".join([*lines, "This assumes:", *(f"- {each}" for each in self.assumptions)])


def exclusion_finding(claim: Exclusion, end: EndOfAnswers | None) -> Finding:
    """The labels, who has none and why, and the promise; ``end`` where no more answers came."""
    groups = claim.groups
    labels, misfits = renumbered(groups.labels), set(groups.misfits.tolist())
    left = np.flatnonzero(labels < 0).tolist()
    why: dict[int, WhyUndecided] = {
        item: "misfit" if item in misfits else claim.given_up.get(item, "few-answers")
        for item in left
    }
    status: Status = "undecided" if left else "done"
    reason = "the other items were asked for long and could not be told apart"
    if end is not None:
        status, reason = end.status, str(end)
    elif not left:
        reason = "every item is certified"
    elif set(left) <= misfits:
        reason = "all items but those that fit no group are certified"
    return Finding(
        labels,
        int(claim.carried.argmax()) if claim.carried.any() else None,
        _certificate(claim),
        status,
        groups.for_labels(claim.threshold),
        undecided=why,
        groups=max(groups.found, 2) if groups.told is None else groups.told,
        reason=reason,
    )


def _certificate(claim: Exclusion) -> ExclusionCertificate | None:
    """The certificate of the labels so far, or None if there are none."""
    groups, pair = claim.groups, claim.confirmed
    labels = renumbered(groups.labels)
    decided = int((labels >= 0).sum())
    if pair is None or not decided:
        return None
    promise = (
        f"{counted(decided, 'label is', 'labels are')} right, all of them with probability at least"
        f" {confidence(claim.delta)}."
    )
    if groups.told is None:
        promise += (
            f" There are at least {groups.found} groups; the labels hold if there are exactly"
            f" {groups.found}."
        )
    by_group = np.argsort(labels[groups.representatives])
    carried = np.argsort(-claim.carried, kind="stable")
    return ExclusionCertificate(
        claim.delta,
        promise,
        _assumptions(claim.problem, groups.found, len(groups.misfits), claim.tolerance),
        attempt=claim.attempt,
        groups=groups.found,
        told=groups.told is not None,
        representatives=tuple(np.array(groups.representatives)[by_group].tolist()),
        pair=pair.items,
        registered=pair.q,
        pair_delta=claim.delta_pair / (pair.q * (pair.q + 1)),
        pair_evidence=pair.evidence,
        pair_needed=pair.needed,
        questions=tuple(carried[claim.carried[carried] > 0].tolist()),
        item_delta=claim.item_delta,
        item_needed=claim.threshold,
        item_evidence=tuple(groups.for_labels(claim.threshold).tolist()),
        undecided=tuple(np.flatnonzero(labels < 0).tolist()),
        misfits=tuple(groups.misfits.tolist()),
        tolerance=claim.tolerance,
    )


def _assumptions(
    problem: Problem, groups: int, set_aside: int, tolerance: float
) -> tuple[str, ...]:
    alike = "have the same mean" if tolerance == 0 else f"differ by at most {tolerance:g}"
    but = f", but for the {counted(set_aside, 'item')} set aside" if set_aside else ""
    noise = f"their noise is subGaussian with sigma = {problem.kind.sigma:g}"
    bounded = "they never leave their scale"
    return (
        f"there are exactly {groups} groups, and any two items of one group {alike} on every"
        f" question{but}",
        "answers are independent, each with its cell's mean whatever was answered before; "
        + (noise if isinstance(problem.kind, Number) else bounded),
        "people may skip a question, but not because of what they would have answered",
    )
