"""What a user gets back: labels, how the run ended, what it cost, and what is promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askfew.driver import Ended
from askfew.records import Certificate, Finding, Floats, Ints, Status

__all__ = ["Outcome", "outcome_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """The end of one run, whether it finished or was stopped.

    ``labels`` has -1 where an item is undecided and item 0 in group 0; ``question`` is the number
    of the one that separates best; ``certificate`` is None where nothing is promised.
    """

    labels: Ints
    status: Status
    reason: str
    answers: int
    batches: int
    answers_by_phase: dict[str, int]
    question: int | None
    certificate: Certificate | None
    evidence: Floats | None
    items: Sequence[object]
    questions: Sequence[object]

    @property
    def groups(self) -> list[list[object]]:
        """The items (by name, if they have names) of each group."""
        count = int(self.labels.max()) + 1
        return [
            [item for item, own in zip(self.items, self.labels, strict=True) if own == g]
            for g in range(count)
        ]

    @property
    def table(self) -> dict[str, list[Any]]:
        """A column of items, their groups (-1: undecided) and the evidence, for a data frame."""
        evidence = [None] * len(self.labels) if self.evidence is None else self.evidence.tolist()
        return {"item": list(self.items), "group": self.labels.tolist(), "evidence": evidence}

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "status": self.status,
            "reason": self.reason,
            "labels": self.labels.tolist(),
            "answers": self.answers,
            "batches": self.batches,
            "answers_by_phase": self.answers_by_phase,
            "question": self.question,
            "question_name": None if self.question is None else str(self.questions[self.question]),
            "evidence": None if self.evidence is None else self.evidence.tolist(),
            "certificate": self._certificate_dict(),
            "certificate_text": self.certificate_text,
        }

    @property
    def certificate_text(self) -> str | None:
        """The certificate in sentences, with the names of items and questions."""
        if self.certificate is None:
            return None
        return self.certificate.text(self.items, self.questions)

    def _certificate_dict(self) -> dict[str, Any] | None:
        if self.certificate is None:
            return None
        names = self.certificate.names(self.items, self.questions)
        return {**self.certificate.to_dict(), "names": names}

    def __repr__(self) -> str:
        return f"<Outcome: {self.status}, {self._sizes}, {self.answers:,} answers>"

    @property
    def _sizes(self) -> str:
        sizes = " and ".join(str(len(group)) for group in self.groups)
        undecided = int((self.labels < 0).sum())
        found = f"groups of {sizes} items" if sizes else "no groups"
        return found + (f", {undecided} undecided" if undecided else "")

    def __str__(self) -> str:
        lines = [
            f"{self.status}: {self.reason}",
            self._sizes,
            f"{self.answers:,} answers in {self.batches:,} batches"
            + _phases(self.answers_by_phase),
        ]
        if self.question is not None:
            lines.append(f"question that separates best: {self.questions[self.question]}")
        lines.append(
            self.certificate_text or "No certificate: nothing is promised about these labels."
        )
        return "\n".join(lines)


def outcome_of(
    ended: Ended[Finding], items: Sequence[object], questions: Sequence[object]
) -> Outcome:
    """What the run found, or, if it was stopped, what it knew last."""
    finding, known = ended.result, ended.known
    if finding is None:
        labels = np.full(len(items), -1) if known is None else known.labels
        finding = Finding(
            labels,
            None if known is None else known.question,
            status=ended.status,
            evidence=None if known is None else known.evidence,
        )
    return Outcome(
        labels=finding.labels,
        status=finding.status,
        reason=ended.reason,
        answers=ended.meter.answers,
        batches=ended.meter.batches,
        answers_by_phase=dict(ended.meter.by_phase),
        question=finding.question,
        certificate=finding.certificate,
        evidence=finding.evidence,
        items=items,
        questions=questions,
    )


def _phases(answers: dict[str, int]) -> str:
    if len(answers) < 2:
        return ""
    return " (" + ", ".join(f"{phase} {count:,}" for phase, count in answers.items()) + ")"
