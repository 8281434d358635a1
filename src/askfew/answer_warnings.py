"""Warnings about answers that may not be trusted: their data, and their sentences.

A warning is sent as its kind and fields (JSON, HTTP); its sentence is made where it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ALONE", "REPEATS", "AnswerWarning", "read_warning", "sentence"]

REPEATS = "repeats"
"""A worker's repeated answers to a cell agree far too often: ``worker``, ``repeats`` (how many),
``differ`` (in which share of them), ``usual`` (the same for two items of one group), ``promise``
(what its campaign promises: "groups", which this breaks, or "rule", whose meaning it shifts)."""
ALONE = "alone"
"""One worker decided all groups and hardly contradicted itself: ``worker``, ``repeats``,
``differ``."""


@dataclass(frozen=True)
class AnswerWarning:
    """One warning; ``fields`` are what its kind says, and JSON-ready."""

    kind: str
    fields: dict[str, Any]

    def concerns(self, worker: str) -> bool:
        """Whether the warning is about this worker, or about no worker in particular."""
        return bool(self.fields.get("worker", worker) == worker)


def read_warning(document: object) -> AnswerWarning | None:
    """A warning as a server sent it; None if it is not one."""
    match document:
        case {"kind": str(kind), "fields": dict(fields)}:
            return AnswerWarning(kind, {str(name): value for name, value in fields.items()})
        case _:
            return None


def sentence(warning: AnswerWarning) -> str:
    """What it means, in words, without a full stop.

    >>> sentence(AnswerWarning("shifted", {"worker": "ann"}))  # by a newer server
    'warning shifted (worker: ann)'
    """
    try:
        return _SENTENCES[warning.kind](warning.fields)
    except (KeyError, TypeError, ValueError):
        told = ", ".join(f"{name}: {value}" for name, value in warning.fields.items())
        return f"warning {warning.kind} ({told})"


def _repeats(of: Mapping[str, Any]) -> str:
    measured = (
        f"about the same cell they differ in {of['differ']:.1%} ({of['repeats']:,} repeats), about"
        f" two items of one group in {of['usual']:.0%}"
    )
    if of.get("promise") == "rule":
        return (
            f"answers from worker {of['worker']} repeat each other: {measured}. Each counts as a"
            " new one, so this worker's opinion weighs more than others' in the mean answers that"
            " the rule looks at: let each worker answer a cell once, or, if all answers are this"
            ' worker\'s, ask once with repeats = "same"'
        )
    return (
        f"answers from worker {of['worker']} are not independent draws: {measured}; what is"
        " promised does not hold for them"
    )


def _alone(of: Mapping[str, Any]) -> str:
    return (
        f"all answers are by worker {of['worker']}, and asked again about the same cell,"
        f" {of['repeats']:,} answers differed in {of['differ']:.1%} only: a worker who makes"
        " the same errors every time looks like one who is always right; let another worker answer"
        " too, or check some labels by hand"
    )


_SENTENCES: dict[str, Callable[[Mapping[str, Any]], str]] = {REPEATS: _repeats, ALONE: _alone}
