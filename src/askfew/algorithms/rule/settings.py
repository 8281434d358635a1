"""The options of the method "rule", checked one by one.

Each mistake gets a sentence of its own: what was expected, what came, what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from askfew.algorithms.rule.tuning import Tuning
from askfew.errors import InvalidInput
from askfew.evidence.decisions import Error
from askfew.records import Floats, Ints, Problem
from askfew.rule import Rule

__all__ = ["Groups", "Repeats", "Settings", "applied_margin"]

Groups = int | Sequence[int] | Literal["auto"]
Repeats = Literal["fresh", "same"]


@dataclass(frozen=True, eq=False)
class Settings:
    """The options of the method, all of them checked."""

    problem: Problem
    delta: float
    groups: Sequence[int]
    names: Sequence[str]
    error: Error
    anchors: Ints
    per_cell: Floats
    limit: int | None
    margin: float
    repeats: Repeats
    defining: Ints
    given: Rule | None

    @property
    def told(self) -> Ints:
        """The group of each item that is known beforehand, -1 elsewhere."""
        return self.anchors

    @property
    def certifying(self) -> Ints:
        """Every item but the anchors."""
        return np.flatnonzero(self.anchors < 0)

    def cap(self, items: Ints, questions: Ints) -> Floats:
        """The caps of some cells."""
        whole = np.broadcast_to(self.per_cell, (self.problem.items, self.problem.questions))
        return np.asarray(whole[items, questions])

    def caps(self, questions: Ints) -> Floats:
        """The caps of all items' cells on some questions."""
        whole = np.broadcast_to(self.per_cell, (self.problem.items, self.problem.questions))
        return np.asarray(whole[:, questions])

    @classmethod
    def read(
        cls,
        problem: Problem,
        delta: float,
        groups: Groups,
        error: Error,
        anchors: Mapping[int, int | str] | None,
        per_cell: int | Floats | None,
        limit: int | None,
        margin: float,
        repeats: Repeats,
        defining: Sequence[int],
        given: Rule | None,
    ) -> Settings:
        """The options, checked; InvalidInput says what is wrong with one."""
        if error not in get_args(Error):
            raise InvalidInput("error must be 'any' or 'share'", repr(error), "choose one")
        if repeats not in get_args(Repeats):
            raise InvalidInput("repeats must be 'fresh' or 'same'", repr(repeats), "choose one")
        if not (isinstance(margin, int | float) and 0 < margin <= 0.5):
            raise InvalidInput(
                "margin must lie above 0 and at most at 0.5", repr(margin), "0.5 is half-way"
            )
        if limit is not None and not _whole(limit, 1):
            raise InvalidInput(
                "limit, the most answers about one item, must be a whole number from 1",
                repr(limit),
                "leave it out for the default",
            )
        if given is not None and not isinstance(given, Rule):
            raise InvalidInput(
                "given must be a Rule", type(given).__name__, "load one with Rule.load"
            )
        if given is not None:
            given.places(range(problem.questions))
            _check_margin(margin, given)
        allowed = _allowed(groups, problem) if given is None else [len(given.groups)]
        told, names = _anchors(anchors, problem, allowed, given)
        defined = _defining(defining, problem)
        if problem.questions == 1 and min(allowed) == 2:
            defined = np.array([0])  # a single question defines the split
        # One or two defining questions are cut in the middle, which makes two groups and no more.
        if (len(names) > 2 or min(allowed) > 2) and 0 < len(defined) < 3:
            raise InvalidInput(
                "more than two groups need at least three defining questions",
                len(defined),
                "mark more questions",
            )
        return cls(
            problem,
            delta,
            allowed if not (told >= 0).any() else [len(names)],
            names,
            error,
            told,
            _per_cell(per_cell, problem, repeats),
            limit,
            float(margin),
            repeats,
            defined,
            given,
        )


def applied_margin(margin: float, rule: Rule) -> float:
    """The margin that holds for this rule.

    A margin below 1/2 is a place between a rule's levels. A rule without levels has only its cut.
    """
    return 0.5 if any(node.levels is None for node in rule.nodes) else margin


def _check_margin(margin: float, rule: Rule) -> None:
    """Refuse a margin that a given rule cannot have, instead of ignoring it."""
    if applied_margin(margin, rule) != margin:
        raise InvalidInput(
            "a rule without levels needs margin 0.5",
            f"{margin:g}",
            "leave margin out, or give every node of the rule its levels",
        )


def _allowed(groups: Groups, problem: Problem) -> list[int]:
    if isinstance(groups, str):
        if groups != "auto":
            raise InvalidInput(
                "groups must be a number, a list of numbers, or 'auto'",
                repr(groups),
                "pass for example 2",
            )
        return list(range(2, min(Tuning.most_groups, problem.items) + 1))
    wanted: list[int] = [groups] if isinstance(groups, int) else _listed(groups)
    if not wanted or not all(_whole(each, 2) for each in wanted):
        raise InvalidInput(
            "groups must be whole numbers from 2", repr(groups), "pass 2, a list, or 'auto'"
        )
    if max(wanted) > problem.items:
        raise InvalidInput(
            f"there cannot be more groups than the {problem.items} items",
            max(wanted),
            "ask for fewer groups",
        )
    return sorted(set(wanted))


def _listed(groups: object) -> list[int]:
    """The numbers of a list; anything else is no list, which the caller refuses."""
    return list(groups) if isinstance(groups, Sequence) else []


def _anchors(
    anchors: Mapping[int, int | str] | None,
    problem: Problem,
    allowed: Sequence[int],
    given: Rule | None,
) -> tuple[Ints, list[str]]:
    """The group of each anchor, and the groups' names."""
    told = np.full(problem.items, -1)
    if not anchors:
        names = list(given.groups) if given else [str(g) for g in range(allowed[0])]
        return told, names if given or len(allowed) == 1 else []
    if not isinstance(anchors, Mapping):
        raise InvalidInput(
            "anchors must say which item belongs to which group",
            type(anchors).__name__,
            "write {item: group, ...}",
        )
    outside = [item for item in anchors if not (_whole(item, 0) and item < problem.items)]
    if outside:
        raise InvalidInput(
            f"anchors must be items from 0 to {problem.items - 1}", outside[0], "fix the anchors"
        )
    for group in anchors.values():
        if not (isinstance(group, str) or (_whole(group, 0) and int(group) < problem.items)):
            raise InvalidInput(
                f"an anchor's group must be a name, or a number from 0 to {problem.items - 1}",
                repr(group),
                "groups count from 0",
            )
    named = {str(group) for group in anchors.values()}
    if given is not None:
        names = list(given.groups)
    elif not any(isinstance(group, str) for group in anchors.values()):
        names = [str(g) for g in range(max(int(g) for g in named) + 1)]
    else:
        names = list(dict.fromkeys(str(group) for group in anchors.values()))
    unknown = sorted(named - set(names))
    if unknown:
        raise InvalidInput(
            f"anchors must name groups of the rule: {', '.join(names)}", unknown[0], "rename it"
        )
    # Names are compared as text: a file and a form give numbers as text.
    for item, group in anchors.items():
        told[item] = names.index(str(group))
    empty = [name for g, name in enumerate(names) if not (told == g).any()]
    if given is None and (len(names) < 2 or empty):
        raise InvalidInput(
            "anchors must show at least two groups, each by one item or more",
            f"anchors of {', '.join(sorted(named))} only",
            "add items of the other group, or leave the anchors out",
        )
    if given is None and len(names) not in allowed:
        raise InvalidInput(
            f"anchors must show as many groups as are asked for ({allowed[0]})",
            f"{len(names)} groups",
            "pass groups to match",
        )
    return told, names


def _per_cell(per_cell: int | Floats | None, problem: Problem, repeats: Repeats) -> Floats:
    if per_cell is None:
        most = np.array([[1.0 if repeats == "same" else np.inf]])
    elif isinstance(per_cell, np.ndarray):
        most = per_cell.astype(np.float64) if per_cell.dtype.kind in "iuf" else np.zeros(0)
        if most.shape != (problem.items, problem.questions) or not (most >= 0).all():
            raise InvalidInput(
                f"per_cell must be a number, or one of at least 0 for each of {problem.items} x"
                f" {problem.questions} cells",
                f"shape {most.shape}",
                "leave it out where there is no cap",
            )
    elif _whole(per_cell, 1):
        most = np.array([[float(per_cell)]])
    else:
        raise InvalidInput(
            "per_cell, the most answers of any (item, question), must be a whole number from 1",
            repr(per_cell),
            "leave it out where there is no cap",
        )
    # A second answer of a judge who repeats itself would be paid for nothing.
    return np.minimum(most, 1.0) if repeats == "same" else most


def _defining(defining: Sequence[int], problem: Problem) -> Ints:
    if not isinstance(defining, Iterable):
        raise InvalidInput(
            "defining must be a list of questions", repr(defining), "write for example [0]"
        )
    wrong = [each for each in defining if not (_whole(each, 0) and each < problem.questions)]
    if wrong:
        raise InvalidInput(
            f"defining questions must be numbers from 0 to {problem.questions - 1}",
            wrong[0],
            "fix them",
        )
    return np.unique(np.array(list(defining), dtype=np.int64))


def _whole(value: object, least: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return int(value) >= least
