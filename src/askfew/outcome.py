"""The outcome of a run: labels, guesses, how it ended, what it cost, and what is promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from askfew.algorithms.rule.claim.certificate import RuleCertificate
from askfew.driver import RunEnd
from askfew.estimates.cells import Cells
from askfew.records import Audited, Certificate, Finding, Floats, Ints, Status, WhyUndecided
from askfew.rule import Rule
from askfew.wording import counted, listed

if TYPE_CHECKING:  # guesses and checks need solvers, which take long to import
    from askfew.checks import Checks, Promise
    from askfew.estimates.guesses import Guesses

__all__ = ["WHY_UNDECIDED", "Outcome", "outcome_of"]

WHY_UNDECIDED: dict[WhyUndecided, str] = {
    "between": "between the groups",
    "few-answers": "too few answers",
    "misfit": "fits no group",
    "not-told-apart": "the rule cannot tell its groups apart",
}
"""Why an item is undecided, in words."""


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """The end of one run, whether it finished or was stopped.

    ``labels`` are certified if there is a certificate, and -1 for undecided items. ``certificate``
    is about the labels and nothing else; it is None if nothing is promised. ``undecided`` says why
    items have no label. ``guesses`` has a group for every item, ``confidence`` its estimated
    probability. ``question`` is the number of the question that separates best.
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
    rule: Rule | None = None
    """The rule of the labels, if they follow one, with its questions by name."""
    undecided: Mapping[int, WhyUndecided] = field(default_factory=dict)
    group_count: int = 2
    told: Ints | None = None
    """Groups that the user gave (anchors), -1 elsewhere."""
    cells: Cells | None = None
    audited: Audited | None = None
    """What an audit asked after the last label."""

    @cached_property
    def _guessed(self) -> Guesses:
        from askfew.estimates.guesses import Guesses, guess_groups

        # Without answers by cell nothing can be fitted: an item without a label may be anything.
        if self.cells is None:
            chance = np.where(self.labels >= 0, 1.0, 1 / self.group_count)
            return Guesses(np.maximum(self.labels, 0), chance)
        return guess_groups(
            self.cells.problem,
            self.cells.sums(),
            self.labels,
            self.group_count,
            sure=1 - self.certificate.delta if self.certificate and self._is_certain else 0.0,
            identical=self.rule is None,
            on=self.question,
            rule=None if self.rule is None else self.rule.renamed(self._carrying),
            told=self.told,
        )

    @property
    def _is_certain(self) -> bool:
        """Whether labels are certified to be right, and not only a rule applied to the answers."""
        exact = isinstance(self.certificate, RuleCertificate) and self.certificate.needed is None
        return self.certificate is not None and not exact

    @property
    def guesses(self) -> Ints:
        """A group for every item: its certified label, or the likeliest one."""
        return self._guessed.groups

    @property
    def confidence(self) -> Floats:
        """The estimated probability of each guess, by a model; it is no promise."""
        return self._guessed.confidence

    @cached_property
    def checks(self) -> Checks | None:
        """What the answers say about the split and the assumptions; None where none were kept."""
        if self.cells is None:
            return None
        from askfew.checks import check

        promise: Promise | None = None
        if self.certificate is not None:
            promise = "groups" if self.rule is None else "rule"
        return check(
            self.cells.problem,
            self.cells.sums(),
            self.labels,
            self.guesses,
            max(self.group_count, int(self.labels.max()) + 1),
            carrying=self._carrying,
            promise=promise,
            tolerance=getattr(self.certificate, "tolerance", 0.0),
            audited=self.audited,
        )

    @property
    def _carrying(self) -> list[int]:
        """The questions that the labels rest on."""
        if self.rule is not None:
            return [int(place) for place in self.rule.places(self.questions)]
        several = getattr(self.certificate, "questions", ())
        return list(several) or ([] if self.question is None else [self.question])

    @property
    def group_names(self) -> list[str]:
        """The name of every group, by its number."""
        if self.rule is not None:
            return list(self.rule.groups)
        return [str(group) for group in range(max(self.group_count, int(self.labels.max()) + 1))]

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
        """Columns for a data frame: items, groups (-1: undecided), guesses, why undecided."""
        evidence = [None] * len(self.labels) if self.evidence is None else self.evidence.tolist()
        return {
            "item": list(self.items),
            "group": self.labels.tolist(),
            "guess": self.guesses.tolist(),
            "confidence": self.confidence.tolist(),
            "undecided": [self.undecided.get(item, "") for item in range(len(self.labels))],
            "evidence": evidence,
        }

    def to_frame(self, backend: str = "pandas") -> Any:
        """The table as a data frame of pandas, polars or pyarrow."""
        from askfew.frames import frame_of

        return frame_of(self.table, backend)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "status": self.status,
            "reason": self.reason,
            "labels": self.labels.tolist(),
            "guesses": self.guesses.tolist(),
            "confidence": self.confidence.tolist(),
            "undecided": {str(item): why for item, why in self.undecided.items()},
            "groups": self.group_names,
            "told": None if self.told is None else self.told.tolist(),
            "answers": self.answers,
            "batches": self.batches,
            "answers_by_phase": self.answers_by_phase,
            "question": self.question,
            "question_name": None if self.question is None else str(self.questions[self.question]),
            "evidence": None if self.evidence is None else self.evidence.tolist(),
            "certificate": self._certificate_dict(),
            "certificate_text": self.certificate_text,
            "rule": None if self.rule is None else self.rule.to_dict(),
            "checks": None if self.checks is None else self.checks.to_dict(self.questions),
        }

    @property
    def certificate_text(self) -> str | None:
        """The certificate in sentences, with the names of items and questions.

        What the answers say against it comes first, what else was measured last.
        """
        if self.certificate is None:
            return None
        promise = self.certificate.text(self.items, self.questions)
        if self.checks is None:
            return promise
        above, below = self.checks.warnings(self.questions), self.checks.lines(self.questions)
        return "\n".join([*above, promise, *below])

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
            f"{counted(self.answers, 'answer')} in {counted(self.batches, 'batch', 'batches')}"
            + _phases(self.answers_by_phase),
        ]
        if self.question is not None and self.rule is None:
            lines.append(f"question that separates best: {self.questions[self.question]}")
        lines += self._undecided_lines()
        if self.certificate_text is not None:
            return "\n".join([*lines, self.certificate_text])
        lines.append("No certificate: nothing is promised about these labels.")
        if self.checks is not None:
            lines += self.checks.lines(self.questions)
        return "\n".join(lines)

    def _undecided_lines(self) -> list[str]:
        by_reason: dict[WhyUndecided, list[int]] = {}
        for item, why in self.undecided.items():
            by_reason.setdefault(why, []).append(item)
        return [
            f"undecided, {WHY_UNDECIDED[why]}: {listed([self.items[i] for i in items], most=8)}"
            for why, items in by_reason.items()
        ]


def outcome_of(
    ended: RunEnd[Finding], items: Sequence[object], questions: Sequence[object]
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
    rule = finding.rule
    if rule is not None:
        rule = rule.renamed([questions[place] for place in rule.places(range(len(questions)))])
    return Outcome(
        labels=finding.labels,
        status=finding.status,
        reason=finding.reason or ended.reason,
        answers=ended.meter.answers,
        batches=ended.meter.batches,
        answers_by_phase=dict(ended.meter.by_phase),
        question=finding.question,
        certificate=finding.certificate,
        evidence=finding.evidence,
        items=items,
        questions=questions,
        rule=rule,
        undecided=finding.undecided,
        group_count=finding.groups,
        told=finding.told,
        cells=ended.cells,
        audited=finding.audited,
    )


def _phases(answers: dict[str, int]) -> str:
    if len(answers) < 2:
        return ""
    return " (" + ", ".join(f"{phase} {count:,}" for phase, count in answers.items()) + ")"
