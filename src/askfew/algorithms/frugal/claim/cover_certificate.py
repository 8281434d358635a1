"""The promise of a run whose panels cover all items, with everything it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askfew.algorithms.frugal.claim.cover import Cover
from askfew.algorithms.frugal.claim.panel_certificate import assumptions, listed
from askfew.records import Certificate, Ints
from askfew.wording import confidence, counted

__all__ = ["CoverCertificate", "cover_certificate"]


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

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values; items and questions are numbers."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values = {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
        return {**values, "panels": [list(panel) for panel in self.panels]}

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
            " answer. What every way to divide them into two groups agrees on is certified, if it"
            f" has less than {self.root_needed:.1f} nats against it for all items together (delta"
            f" {self.root_delta:.2g})"
            + (
                f" and less than {self.node_needed:.1f} for each panel and each join of panels"
                f" (delta {self.node_delta:.2g} over all of them)."
                if len(self.panels) > 1
                else "."
            ),
            f"Asked were {counted(len(self.questions), 'question')}, most often"
            f" {listed([questions[q] for q in self.questions], 10)}.",
        ]
        if self.undecided:
            lines.append(f"Undecided: {listed([items[i] for i in self.undecided])}.")
        return "\n".join([*lines, "This assumes:", *(f"- {each}" for each in self.assumptions)])


def cover_certificate(cover: Cover, delta: float, labels: Ints) -> CoverCertificate:
    """Put together what a run has found."""
    decided = int((labels >= 0).sum())
    used = np.argsort(-cover.used, kind="stable")[: int((cover.used > 0).sum())]
    return CoverCertificate(
        delta,
        f"{counted(decided, 'label is', 'labels are')} right, all of them with probability at least"
        f" {confidence(delta)}.",
        assumptions(cover.ledger, 2, len(cover.misfits)),
        per_cell=cover.ledger.per_cell,
        panels=tuple(tuple(panel.members.tolist()) for panel in cover.panels),
        root_delta=cover.root_delta,
        root_needed=cover.root_needed,
        node_delta=cover.node_delta,
        node_needed=cover.node_needed,
        questions=tuple(cover.ledger.deck[used].tolist()),
        undecided=tuple(np.flatnonzero(labels < 0).tolist()),
    )
