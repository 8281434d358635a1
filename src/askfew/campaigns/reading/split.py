"""The questions by their part in the split: carrying it, agreeing with it, going their own way.

Labels say on which side an item lies, not what the sides mean. This shows it, from closed steps
only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.reading.knowledge import Knowledge, cells_of
from askfew.checks.questions import QuestionCheck, Role, questions_of
from askfew.estimates.cells import CellSums
from askfew.estimates.guesses import Guesses

__all__ = ["Split", "SplitQuestion", "split_of"]


@dataclass(frozen=True)
class SplitQuestion:
    """A question, and the gap between the groups' mean answers to it (None: not known)."""

    id: str
    text: str
    defines: bool
    gap: float | None


@dataclass(frozen=True)
class Split:
    """The questions by their part in the split."""

    carrying: tuple[SplitQuestion, ...]
    agreeing: tuple[SplitQuestion, ...]
    own_way: tuple[SplitQuestion, ...]
    unknown: int
    """How many questions have too few answers to tell."""
    final: bool
    """Whether all answers are in."""


def split_of(
    connection: Connection,
    campaign: Campaign,
    known: Knowledge,
    guesses: Guesses,
    cells: CellSums | None = None,
) -> Split | None:
    """The split, from all cells or from the given ones; None while there are no groups."""
    carrying = _carrying(campaign, known)
    checked = None if known.outcome is None else known.outcome.checks
    if checked is not None:
        found = [(each["question"], each["role"], each["gap"]) for each in checked["questions"]]
    elif carrying:
        cells = cells_of(connection, campaign).sums() if cells is None else cells
        found = [
            (each.question, each.role, each.gap)
            for each in _checked(campaign, known, guesses, cells, carrying)
        ]
    else:
        return None
    by_role: dict[Role, list[SplitQuestion]] = {"carries": [], "agrees": [], "own way": []}
    for number, role, gap in sorted(found, key=lambda each: -(each[2] or 0.0)):
        question = campaign.questions[number]
        if role in by_role:
            defines = number in campaign.defining
            by_role[role].append(SplitQuestion(question.id, question.text, defines, gap))
    told = sum(map(len, by_role.values()))
    return Split(
        tuple(by_role["carries"]),
        tuple(by_role["agrees"]),
        tuple(by_role["own way"]),
        campaign.problem.questions - told,
        known.outcome is not None,
    )


def _carrying(campaign: Campaign, known: Knowledge) -> list[int]:
    """The numbers of the questions that the labels rest on."""
    if known.rule is not None:
        places = {question.id: number for number, question in enumerate(campaign.questions)}
        return sorted({places[str(each)] for each in known.rule.questions if str(each) in places})
    decided = bool((known.labels >= 0).any())
    return [known.question] if known.question is not None and decided else []


def _checked(
    campaign: Campaign,
    known: Knowledge,
    guesses: Guesses,
    cells: CellSums,
    carrying: list[int],
) -> tuple[QuestionCheck, ...]:
    """Check the questions against the labels, and against guesses for items without a label."""
    groups = np.where(known.labels >= 0, known.labels, guesses.groups)
    return questions_of(
        campaign.problem,
        cells,
        groups[cells.item],
        len(known.groups),
        carrying=carrying,
        voting=None,  # guesses rest on the answers to all questions
        identical=campaign.settings.method != "rule",
    )
