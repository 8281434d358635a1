"""Checks beside every certificate: which questions carry the split, and do the assumptions hold?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from askfew.cells import Cells
from askfew.records import Ints
from askfew.rule import Rule

__all__ = ["Checks", "check"]


@dataclass(frozen=True)
class Checks:
    """What the answers say about the split and about what is assumed."""

    def warnings(self, questions: Sequence[object]) -> list[str]:  # noqa: ARG002
        """Lines that must stand above the certificate."""
        return []

    def lines(self, questions: Sequence[object]) -> list[str]:  # noqa: ARG002
        """Lines that stand below it."""
        return []

    def to_dict(self, questions: Sequence[object]) -> dict[str, Any]:
        """As JSON-ready values."""
        return {}


def check(cells: Cells, labels: Ints, guesses: Ints, groups: int, rule: Rule | None) -> Checks:
    """Look at all answers, given the labels."""
    return Checks()
