"""The promise of a rule run: what is certified, about which rule, under which assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from askfew.algorithms.rule.claim.rounds import Certification
from askfew.answers import AnswerKind, Number
from askfew.evidence.decisions import Error
from askfew.records import Certificate
from askfew.rule import Rule
from askfew.wording import confidence, counted

__all__ = ["RuleCertificate", "exact_certificate", "rule_certificate"]


@dataclass(frozen=True)
class RuleCertificate(Certificate):
    """The promise about the certified labels, and about nothing else."""

    error: Error
    certified: int
    undecided: int
    told: int
    """Anchors, which keep the group the user gave."""
    margin: float
    nodes: int
    needed: float | None
    """Nats that a label needed; None if the rule was evaluated exactly."""
    rule: Rule

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values; the rule's questions are numbers."""
        return {**super().to_dict(), "rule": self.rule.to_dict()}

    def names(
        self,
        items: Sequence[object],  # noqa: ARG002 (it speaks of none by name)
        questions: Sequence[object],
    ) -> dict[str, Any]:
        """The questions of the rule by their names."""
        return {"questions": [str(each) for each in self._named(questions).questions]}

    def text(self, items: Sequence[object], questions: Sequence[object]) -> str:  # noqa: ARG002
        """All of it in sentences, with these names of questions."""
        rule = "\n".join(f"  {line}" for line in str(self._named(questions)).splitlines())
        lines = [self.promise, "The rule:", rule]
        if self.undecided:
            are = "is" if self.undecided == 1 else "are"
            lines.append(f"{counted(self.undecided, 'item')} {are} undecided, with no promise.")
        if self.told:
            lines.append(f"{counted(self.told, 'anchor')} keep the group that you gave.")
        return "\n".join([*lines, "This assumes:", *(f"- {each}" for each in self.assumptions)])

    def _named(self, questions: Sequence[object]) -> Rule:
        return self.rule.renamed([questions[place] for place in _numbers(self.rule)])


def rule_certificate(state: Certification, told: int) -> RuleCertificate | None:
    """The certificate of the labels so far; None if there is none."""
    certified = int((state.labels >= 0).sum())
    if not certified:
        return None
    whose = "the item's own mean answers lie on that side of the rule"
    # At a smaller margin some items are on both sides, so "on that side" would claim too much.
    if state.margin < 0.5:
        whose = (
            "the item's own mean answers are not those of a typical item of the other side"
            f" (margin {state.margin:g})"
        )
    if state.error == "any":
        promise = (
            f"{_labels(certified)} right about the rule below, all of them with"
            f" probability at least {confidence(state.delta)}: {whose}."
        )
    else:
        promise = (
            f"Of {_certified(certified)}, the expected share that is wrong about the rule below"
            f" is at most {state.delta:g}; a label is right if {whose}."
        )
    return RuleCertificate(
        state.delta,
        promise,
        _assumptions(state.problem.kind),
        error=state.error,
        certified=certified,
        undecided=len(state.certifying) - certified,
        told=told,
        margin=state.margin,
        nodes=len(state.nodes),
        needed=state.threshold if state.threshold < float("inf") else None,
        rule=state.rule.renamed(tuple(state.questions.tolist())),
    )


def exact_certificate(
    rule: Rule, delta: float, error: Error, certified: int, undecided: int, told: int
) -> RuleCertificate | None:
    """The certificate of a rule that was evaluated exactly, without any chance of error."""
    if not certified:
        return None
    promise = (
        f"{_labels(certified)} what the rule below says of the answers given: it was evaluated"
        " exactly, and nothing statistical is claimed."
    )
    return RuleCertificate(
        delta,
        promise,
        ("asking the same question about the same item again gives the same answer",),
        error=error,
        certified=certified,
        undecided=undecided,
        told=told,
        margin=0.5,
        nodes=len(rule.nodes),
        needed=None,
        rule=rule,
    )


def _labels(count: int) -> str:
    return "1 label is" if count == 1 else f"{count:,} labels are"


def _certified(count: int) -> str:
    return "1 certified label" if count == 1 else f"{count:,} certified labels"


def _numbers(rule: Rule) -> list[int]:
    return [each for each in rule.questions if isinstance(each, int)]


def _assumptions(kind: AnswerKind) -> tuple[str, ...]:
    noise = f"the noise is subGaussian with sigma = {kind.sigma:g}"
    return (
        "each answer's expectation is its cell's mean, whatever was answered before: a worker or a"
        " model that repeats an earlier answer violates this",
        noise if isinstance(kind, Number) else "answers never leave their scale",
        "whether an answer is missing does not depend on what it would have been",
    )
