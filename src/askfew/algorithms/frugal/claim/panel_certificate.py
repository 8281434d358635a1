"""The promise of a run under a cap, with everything it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askfew.algorithms.frugal.claim.panel import Ledger, Panel
from askfew.answers import Number
from askfew.records import Certificate, Ints
from askfew.wording import confidence, counted

__all__ = ["PanelCertificate", "assumptions", "listed", "panel_certificate"]


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

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values; items and questions are numbers."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    def names(self, items: Sequence[object], questions: Sequence[object]) -> dict[str, Any]:
        """The items and questions it speaks of, by the names they have there."""
        about_items = ("panel", "undecided", "misfits")
        return {
            **{name: [str(items[i]) for i in getattr(self, name)] for name in about_items},
            "questions": [str(questions[i]) for i in self.questions],
        }

    def text(self, items: Sequence[object], questions: Sequence[object]) -> str:
        """All of it in sentences, with these names of items and questions."""
        asked = ", ".join(str(questions[q]) for q in self.questions[:10])
        more = len(self.questions) - 10
        lines = [
            self.promise,
            f"No cell was asked more than {counted(self.per_cell, 'time')}.",
            f"The panel {listed([items[i] for i in self.panel])} was fixed before its answers"
            " came. Every other way to divide it was excluded with at least"
            f" {self.panel_needed:.1f} nats (delta {self.panel_delta:.2g}).",
            f"The evidence comes from {counted(len(self.questions), 'question')}: {asked}"
            + (f" and {more} more." if more > 0 else "."),
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


def panel_certificate(panel: Panel, delta: float, labels: Ints) -> PanelCertificate:
    """Put together what a run has found."""
    decided = int((labels >= 0).sum())
    used = np.argsort(-panel.used, kind="stable")[: int((panel.used > 0).sum())]
    return PanelCertificate(
        delta,
        f"{counted(decided, 'label is', 'labels are')} right, all of them with probability at least"
        f" {confidence(delta)}.",
        assumptions(panel.ledger, panel.groups, len(panel.misfits)),
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


def assumptions(ledger: Ledger, groups: int, aside: int) -> tuple[str, ...]:
    """What every label under a cap rests on, but for so many items that are set aside."""
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


def listed(items: Sequence[object], most: int = 12) -> str:
    """The first of them, and how many more."""
    text = ", ".join(str(item) for item in items[:most])
    return text if len(items) <= most else f"{text} and {len(items) - most} more"
