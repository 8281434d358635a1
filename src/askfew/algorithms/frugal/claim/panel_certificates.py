"""What a run under a small cap found, by one panel or by many, and its promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askfew.algorithms.frugal.claim.cover import Cover
from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.algorithms.frugal.claim.panel import Panel, PanelClaim
from askfew.answers import Number
from askfew.errors import EndOfAnswers, InvalidPlan
from askfew.plans import Plan
from askfew.records import Certificate, Finding, Ints, Status, WhyUndecided, renumbered
from askfew.wording import confidence, counted, listed

__all__ = ["CoverCertificate", "PanelCertificate", "cover_finding", "panel_finding"]

_RULE = "the method rule with an error share"


@dataclass(frozen=True)
class PanelCertificate(Certificate):
    """How delta was spent: on the panel's partitions, and on every other item's exclusion.

    ``evidence`` and ``needed`` are in nats: certified is what reaches what it needs.
    """

    attempt: int
    per_cell: int
    panel: tuple[int, ...]
    panel_delta: float
    panel_needed: float
    item_delta: float
    item_needed: float
    item_evidence: tuple[float, ...]
    questions: tuple[int, ...]
    """Those that the evidence comes from, the most asked first."""
    undecided: tuple[int, ...]
    misfits: tuple[int, ...]

    def names(self, items: Sequence[object], questions: Sequence[object]) -> dict[str, Any]:
        """The items and questions it speaks of, by the names they have there."""
        about_items = ("panel", "undecided", "misfits")
        return {
            **{name: [str(items[i]) for i in getattr(self, name)] for name in about_items},
            "questions": [str(questions[i]) for i in self.questions],
        }

    def text(self, items: Sequence[object], questions: Sequence[object]) -> str:
        """All of it in sentences, with these names of items and questions."""
        lines = [
            self.promise,
            f"No cell was asked more than {counted(self.per_cell, 'time')}.",
            f"The panel {listed([items[i] for i in self.panel], most=12)} was fixed before its"
            f" answers came. {self._divided} (delta {self.panel_delta:.2g}).",
            f"The evidence comes from {counted(len(self.questions), 'question')}:"
            f" {listed([questions[q] for q in self.questions])}.",
        ]
        if len(self.panel) < len(self.item_evidence):
            lines.insert(
                3,
                "Every other label is given by excluding the other groups with at least"
                f" {self.item_needed:.1f} nats (delta {self.item_delta:.2g} over all items, attempt"
                f" {self.attempt}).",
            )
        if self.undecided:
            lines.append(f"Undecided: {listed([items[i] for i in self.undecided])}.")
        lines += [f"Item {items[i]} fits no group and is set aside." for i in self.misfits]
        return "\n".join([*lines, "This assumes:", *(f"- {each}" for each in self.assumptions)])

    @property
    def _divided(self) -> str:
        """How the panel was divided: in one way, or where all ways that are left agree."""
        if set(self.panel).isdisjoint(self.undecided):
            many = f"at least {self.panel_needed:.1f} nats"
            return f"Every other way to divide it was excluded with {many}"
        return (
            "Its labels are what all ways to divide it agree on that have less than"
            f" {self.panel_needed:.1f} nats against them"
        )


@dataclass(frozen=True)
class CoverCertificate(Certificate):
    """How delta was spent: on the partition of all items, and on those of panels and their joins.

    ``root_needed`` and ``node_needed`` are in nats: what every other partition was excluded with.
    """

    per_cell: int
    panels: tuple[tuple[int, ...], ...]
    root_delta: float
    root_needed: float
    node_delta: float
    node_needed: float
    questions: tuple[int, ...]
    """Those that were asked, the most asked first."""
    undecided: tuple[int, ...]

    def names(self, items: Sequence[object], questions: Sequence[object]) -> dict[str, Any]:
        """The items and questions it speaks of, by the names they have there."""
        return {
            "panels": [[str(items[i]) for i in panel] for panel in self.panels],
            "undecided": [str(items[i]) for i in self.undecided],
            "questions": [str(questions[q]) for q in self.questions],
        }

    def text(self, items: Sequence[object], questions: Sequence[object]) -> str:
        """All of it in sentences, with these names of items and questions."""
        lines = [
            self.promise,
            f"No cell was asked more than {counted(self.per_cell, 'time')}.",
            f"All items were dealt into {counted(len(self.panels), 'panel')} before the first"
            " answer. Certified is what all ways to divide them into two groups agree on that have"
            f" less than {self.root_needed:.1f} nats against them for all items together (delta"
            f" {self.root_delta:.2g})"
            + (
                f" and less than {self.node_needed:.1f} for each panel and each join of panels"
                f" (delta {self.node_delta:.2g} over all of them)."
                if len(self.panels) > 1
                else "."
            ),
            f"Asked were {counted(len(self.questions), 'question')}, most often"
            f" {listed([questions[q] for q in self.questions])}.",
        ]
        if self.undecided:
            lines.append(f"Undecided: {listed([items[i] for i in self.undecided])}.")
        return "\n".join([*lines, "This assumes:", *(f"- {each}" for each in self.assumptions)])


def panel_finding(claim: PanelClaim, end: EndOfAnswers | None) -> Finding:
    """What one panel certified; ``end`` where no more answers came."""
    ledger, panel = claim.ledger, claim.panel
    n, per_cell = ledger.problem.items, ledger.per_cell
    labels = np.full(n, -1) if panel is None else renumbered(panel.labels)
    status, reason = _ending(labels, per_cell)
    if claim.hopeless is not None:
        reason = _too_little(claim.hopeless, claim.needed, per_cell)
    if end is not None:
        status, reason = end.status, str(end)
    if panel is None or not (labels >= 0).any():
        left: dict[int, WhyUndecided] = dict.fromkeys(range(n), "few-answers")
        return Finding(
            np.full(n, -1), status=status, undecided=left, groups=claim.groups, reason=reason
        )
    has_room = np.asarray((ledger.room[:, panel.used > 0] > 0).all(axis=1))
    return Finding(
        labels,
        int(ledger.deck[int(np.argmax(panel.used))]),
        _panel_certificate(panel, claim.delta, labels),
        status,
        panel.for_labels(),
        undecided=_undecided(labels, panel.misfits, has_room),
        groups=claim.groups,
        reason=reason,
    )


def cover_finding(cover: Cover, end: EndOfAnswers | None) -> Finding:
    """What panels that cover all items certified; ``end`` where no more answers came."""
    labels, ledger = renumbered(cover.labels), cover.ledger
    status, reason = _ending(labels, ledger.per_cell)
    none = not (labels >= 0).any()
    if cover.ended is not None and none and _carried(cover.ended)[0] < cover.needed:
        reason = _too_little(cover.ended, cover.needed, ledger.per_cell)
    if len(cover.misfits) == len(labels):
        reason = (
            "no way to divide the items into two groups is left: an item fits neither group, or"
            f" items of a group differ. {_RULE.capitalize()} does not assume groups"
        )
    if end is not None:
        status, reason = end.status, str(end)
    has_room = np.asarray((ledger.room[:, cover.used > 0] > 0).any(axis=1))
    why = _undecided(labels, cover.misfits, has_room)
    if none:
        return Finding(labels, status=status, undecided=why, groups=2, reason=reason)
    return Finding(
        labels,
        int(ledger.deck[int(np.argmax(cover.used))]),
        _cover_certificate(cover, labels),
        status,
        undecided=why,
        groups=2,
        reason=reason,
    )


def _ending(labels: Ints, per_cell: int) -> tuple[Status, str]:
    """The status and the reason of a run that ended by itself."""
    if (labels >= 0).all():
        return "done", "every item is certified"
    if (labels >= 0).any():
        return "undecided", (
            "all items that the cap lets decide are certified; more questions that tell the groups"
            f" apart or a larger per_cell (now {per_cell}) would decide more"
        )
    return "undecided", (
        f"no panel could be certified with {counted(per_cell, 'answer')} per cell; more questions"
        f" that tell the groups apart, a larger per_cell, or {_RULE} would help"
    )


def _too_little(plan: Plan, needed: float, per_cell: int) -> str:
    carried, useful = _carried(plan)
    return (
        f"the questions do not carry enough: about {carried:.1f} nats of evidence can be had about"
        f" an item where {needed:.1f} are needed, and {counted(useful, 'question')} seem to tell"
        " the groups apart. More questions that do, a larger per_cell"
        f" (now {per_cell}), or {_RULE} would help"
    )


def _carried(plan: Plan) -> tuple[float, int]:
    """Nats that questions carry about an item, and how many questions tell, as a plan says."""
    try:
        return float(plan.facts["carried"]), int(plan.facts["useful"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidPlan(
            "a plan that ends must say what is carried and useful", repr(error), "fix the guess"
        ) from error


def _undecided(labels: Ints, misfits: Ints, has_room: NDArray[np.bool_]) -> dict[int, WhyUndecided]:
    fits_badly = set(misfits.tolist())
    return {
        int(i): "misfit" if i in fits_badly else "between" if has_room[i] else "few-answers"
        for i in np.flatnonzero(labels < 0)
    }


def _panel_certificate(panel: Panel, delta: float, labels: Ints) -> PanelCertificate:
    """The certificate of the labels that one panel gave."""
    decided = int((labels >= 0).sum())
    used = np.argsort(-panel.used, kind="stable")[: int((panel.used > 0).sum())]
    return PanelCertificate(
        delta,
        f"{counted(decided, 'label is', 'labels are')} right, all of them with probability at least"
        f" {confidence(delta)}.",
        _assumptions(panel.ledger, panel.groups, len(panel.misfits)),
        attempt=panel.attempt,
        per_cell=panel.ledger.per_cell,
        panel=tuple(panel.members.tolist()),
        panel_delta=panel.panel_delta,
        panel_needed=panel.panel_needed,
        item_delta=panel.item_delta,
        item_needed=panel.item_needed,
        item_evidence=tuple(panel.for_labels().tolist()),
        questions=tuple(panel.ledger.deck[used].tolist()),
        undecided=tuple(np.flatnonzero(labels < 0).tolist()),
        misfits=tuple(panel.misfits.tolist()),
    )


def _cover_certificate(cover: Cover, labels: Ints) -> CoverCertificate:
    """The certificate of the labels that panels over all items gave."""
    decided = int((labels >= 0).sum())
    used = np.argsort(-cover.used, kind="stable")[: int((cover.used > 0).sum())]
    return CoverCertificate(
        cover.delta,
        f"{counted(decided, 'label is', 'labels are')} right, all of them with probability at least"
        f" {confidence(cover.delta)}.",
        _assumptions(cover.ledger, 2, len(cover.misfits)),
        per_cell=cover.ledger.per_cell,
        panels=tuple(tuple(panel.members.tolist()) for panel in cover.panels),
        root_delta=cover.root_delta,
        root_needed=cover.root_needed,
        node_delta=cover.node_delta,
        node_needed=cover.node_needed,
        questions=tuple(cover.ledger.deck[used].tolist()),
        undecided=tuple(np.flatnonzero(labels < 0).tolist()),
    )


def _assumptions(ledger: Ledger, groups: int, aside: int) -> tuple[str, ...]:
    """What every label under a cap assumes; ``aside`` items fit no group."""
    but = f", but for the {counted(aside, 'item')} set aside" if aside else ""
    kind = ledger.problem.kind
    noise = (
        f"their noise is subGaussian with sigma = {kind.sigma:g}"
        if isinstance(kind, Number)
        else "they never leave their scale"
    )
    stated = [
        f"there are exactly {groups} groups, and items of one group have the same mean on"
        f" every question{but}",
        f"answers are independent, each with its cell's mean whatever was answered before; {noise}",
        "people may skip a question, but not because of what they would have answered",
    ]
    if ledger.per_cell == 1:
        stated.append(
            "answers to different questions are independent given the group: with one answer per"
            " cell, items that differ among themselves look like noise"
        )
    return tuple(stated)
