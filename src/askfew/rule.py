"""A rule: questions, weights and cuts that say which group an item is in.

A rule is a tree. At each node an item's *score* is the mean, over the node's questions, of
``weight * (mean answer - cut)``. Items with a positive score go to the node's high side, items with
a negative one to its low side; a leaf is a group. A rule is only about the item's own mean answers.
So "this item lies on the high side" is true or false whatever other items do.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askfew.errors import InvalidInput

__all__ = ["Node", "Rule", "groups_of"]

_FORMAT = 1
"""The version of the JSON that ``save`` writes."""


@dataclass(frozen=True)
class Node:
    """One division of the items in two.

    ``questions`` are places in the rule's list of questions. ``high`` and ``low`` are another node
    or the groups of a leaf (more than one where the rule cannot tell them apart). ``levels`` are
    the scores that typical items of the low and the high side have: they guide bets and margins,
    and claim nothing.
    """

    questions: tuple[int, ...]
    weights: tuple[float, ...]
    cuts: tuple[float, ...]
    low: Node | tuple[int, ...]
    high: Node | tuple[int, ...]
    levels: tuple[float, float] | None = None

    def scores(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of every row of ``means`` (items x the rule's questions)."""
        here = means[:, list(self.questions)]
        return np.asarray((np.array(self.weights) * (here - np.array(self.cuts))).mean(axis=1))

    def lines(self, margin: float) -> tuple[float, float]:
        """An item is low if its score lies below the first of these, high if above the second.

        At margin 1/2 both are the cut itself (0). At a smaller margin an item need only be unlike
        the typical item of the other side, and some are both.
        """
        if self.levels is None:
            return 0.0, 0.0
        low, high = self.levels
        return (1 - 2 * margin) * high, (1 - 2 * margin) * low

    def walk(self) -> Iterator[Node]:
        """The node itself and all below it, parents first."""
        yield self
        for side in (self.low, self.high):
            if isinstance(side, Node):
                yield from side.walk()


@dataclass(frozen=True)
class Rule:
    """Questions, weights and cuts that sort items into groups.

    >>> rule = Rule.cut("Is it a bird?", 0.5)
    >>> print(rule)
    group 1 if "Is it a bird?" is above 0.5, else group 0
    >>> rule.apply([[0.9], [0.2]])
    array([1, 0])
    """

    questions: tuple[object, ...]
    root: Node
    groups: tuple[str, ...] = ("0", "1")
    """The names of the groups."""
    learnt_from: tuple[str, ...] = ()
    """Digests of the answers that it was learnt from; no claim may count those again."""

    def __post_init__(self) -> None:
        names = [str(each) for each in self.questions]
        if len(set(names)) < len(names):
            raise InvalidInput(
                "a rule names each question once", f"{names}", "leave out the second"
            )
        for node in self.nodes:
            _check_node(node, len(self.questions), len(self.groups))
        _check_leaves(self.root, self.groups)

    @classmethod
    def cut(cls, question: object, value: float, groups: Sequence[str] = ("0", "1")) -> Rule:
        """One question and one cut: the second group's mean answers lie above ``value``."""
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise InvalidInput(
                "a cut must be a finite number", repr(value), "write for example 0.5"
            )
        root = Node((0,), (1.0,), (float(value),), low=(0,), high=(1,))
        return cls((question,), root, tuple(str(each) for each in groups))

    @property
    def nodes(self) -> list[Node]:
        """All divisions, parents before children."""
        return list(self.root.walk())

    @property
    def leaves(self) -> list[tuple[int, ...]]:
        """The groups at each end of the tree, from low to high."""
        return list(_leaves(self.root))

    def apply(self, means: ArrayLike) -> NDArray[np.int64]:
        """Groups of items whose mean answers are known exactly (items x the rule's questions).

        -1 where an item lies on a cut, or the rule cannot tell its groups apart.
        """
        table = np.asarray(means, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.questions):
            raise InvalidInput(
                f"means must have one row per item and {len(self.questions)} columns, one per"
                " question of the rule",
                f"shape {table.shape}",
                "put the columns in the order of rule.questions",
            )
        labels = np.full(len(table), -1)
        self._apply(self.root, table, np.arange(len(table)), labels)
        return labels

    def _apply(
        self,
        at: Node | tuple[int, ...],
        means: NDArray[np.float64],
        items: NDArray[np.int64],
        labels: NDArray[np.int64],
    ) -> None:
        if not isinstance(at, Node):
            if len(at) == 1:
                labels[items] = at[0]
            return
        # A score of exactly 0 goes to neither side: the item lies on the cut and keeps -1.
        scores = at.scores(means[items])
        self._apply(at.low, means, items[scores < 0], labels)
        self._apply(at.high, means, items[scores > 0], labels)

    def places(self, questions: Sequence[object]) -> NDArray[np.int64]:
        """The places of the rule's questions among these; InvalidInput names one that is missing.

        >>> Rule.cut("wings", 0.5).places(["legs", "wings"])
        array([1])
        """
        # By text: a rule that was saved as JSON has lost the type of its names.
        known = {str(name): place for place, name in enumerate(questions)}
        unknown = [str(name) for name in self.questions if str(name) not in known]
        if unknown:
            raise InvalidInput(
                "a rule's questions must be among those that can be asked",
                ", ".join(repr(name) for name in unknown[:3]),
                "give the rule and the source the same names of questions",
            )
        if len(known) < len(questions):
            asked = [str(name) for name in questions]
            twice = [str(name) for name in self.questions if asked.count(str(name)) > 1]
            if twice:
                raise InvalidInput(
                    "a rule's questions must each be one of those that can be asked",
                    f"{twice[0]!r}, the name of {asked.count(twice[0])}",
                    "give the questions different names",
                )
        return np.array([known[str(name)] for name in self.questions], dtype=np.int64)

    def renamed(self, questions: Sequence[object]) -> Rule:
        """The same rule, its questions by other names (in the same order)."""
        return replace(self, questions=tuple(questions))

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "askfew_rule": _FORMAT,
            "questions": [
                each if isinstance(each, int | str) else str(each) for each in self.questions
            ],
            "groups": list(self.groups),
            "tree": _write(self.root),
            "learnt_from": list(self.learnt_from),
        }

    @classmethod
    def from_dict(cls, values: object) -> Rule:
        """The inverse of ``to_dict``; a rule written by hand may leave out groups and levels."""
        if not isinstance(values, Mapping) or values.get("askfew_rule") != _FORMAT:
            raise InvalidInput(
                f'a rule must be a table with "askfew_rule": {_FORMAT}',
                repr(values)[:60],
                "write one with rule.save(path)",
            )
        try:
            root = _read(values["tree"])
            if not isinstance(root, Node):
                raise TypeError("the tree must have at least one node")
            count = 1 + max(max(leaf) for leaf in _leaves(root))
            return cls(
                tuple(values["questions"]),
                root,
                tuple(str(each) for each in values.get("groups", range(count))),
                tuple(str(each) for each in values.get("learnt_from", ())),
            )
        except InvalidInput:
            raise
        # A file may hold any JSON, even a tree as deep as a stranger likes.
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(
                "a rule must have what Rule.save() writes", repr(error), "see docs/rule.md"
            ) from error

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Rule:
        """Read what ``save`` wrote."""
        try:
            return cls.from_dict(json.loads(Path(path).read_text()))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise InvalidInput(
                "a rule's file must be JSON", f"{path}: {error}", "write one with rule.save(path)"
            ) from error

    def draw(self, path: str | Path) -> None:
        """Save it as a figure (PNG, SVG or PDF); needs matplotlib."""
        from askfew.rule_figure import draw_rule  # slow, and few draw

        draw_rule(self, path)

    def side_names(self, node: Node) -> tuple[str, str]:
        """The groups on a node's low and on its high side, in words."""
        names = _group_names(self.groups)
        return _side_name(node.low, names), _side_name(node.high, names)

    @property
    def digest(self) -> str:
        """A short hash of what the rule says; it does not depend on where the rule was learnt."""
        # Two rules that say the same are the same, whichever answers taught them.
        said = {**self.to_dict(), "learnt_from": []}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Rule({len(self.groups)} groups by {len(self.questions)} questions, {self.digest})"

    def __str__(self) -> str:
        return self.text()

    def text(self, groups: Sequence[str] | None = None) -> str:
        """The rule in words, one line per question."""
        names = _group_names(groups or self.groups)
        if len(self.questions) == 1 and not isinstance(self.root.low, Node):
            low, high = (_side_name(side, names) for side in (self.root.low, self.root.high))
            above = self.root.weights[0] > 0
            return (
                f'{high} if "{self.questions[0]}" is {"above" if above else "below"}'
                f" {self.root.cuts[0]:.3g}, else {low}"
            )
        return "\n".join(self._lines(self.root, names, ""))

    def _lines(self, node: Node, names: list[str], indent: str) -> Iterator[str]:
        high, low = (_side_name(side, names) for side in (node.high, node.low))
        yield f"{indent}{high} if these add up to more than 0, else {low}:"
        width = max(len(str(self.questions[place])) for place in node.questions)
        for place, weight, cut in zip(node.questions, node.weights, node.cuts, strict=True):
            yield f"{indent}  {weight:+6.2f} x ({self.questions[place]!s:<{width}} - {cut:.3g})"
        for side in (node.high, node.low):
            if isinstance(side, Node):
                yield f"{indent}among {_side_name(side, names)}:"
                yield from self._lines(side, names, indent + "  ")


def _group_names(groups: Sequence[str]) -> list[str]:
    return [f"group {each}" if each.isdigit() else each for each in groups]


def _leaves(at: Node | tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if isinstance(at, Node):
        yield from _leaves(at.low)
        yield from _leaves(at.high)
    else:
        yield at


def groups_of(at: Node | tuple[int, ...]) -> tuple[int, ...]:
    """All groups on a side of a node: those of a leaf, or of all leaves below."""
    return at if not isinstance(at, Node) else tuple(g for leaf in _leaves(at) for g in leaf)


def _side_name(side: Node | tuple[int, ...], names: list[str]) -> str:
    return " or ".join(names[g] for g in sorted(groups_of(side)))


def _check_node(node: Node, questions: int, groups: int) -> None:
    sizes = {len(node.questions), len(node.weights), len(node.cuts)}
    if len(sizes) != 1 or sizes == {0}:
        raise InvalidInput(
            "a node needs as many weights and cuts as questions, at least one",
            f"{len(node.questions)}, {len(node.weights)} and {len(node.cuts)}",
            "fill it up",
        )
    if not all(isinstance(q, int) and 0 <= q < questions for q in node.questions):
        raise InvalidInput(
            f"a node's questions must be places 0 to {questions - 1} in the rule's list",
            node.questions,
            "they count from 0",
        )
    if len(set(node.questions)) < len(node.questions):
        raise InvalidInput("a node asks each question once", node.questions, "leave one out")
    numbers = (*node.weights, *node.cuts, *(node.levels or (-1.0, 1.0)))
    if not all(isinstance(x, int | float) and math.isfinite(x) for x in numbers):
        raise InvalidInput("weights, cuts and levels must be finite numbers", numbers, "fix them")
    # Such a question would be asked and paid for, and change nothing.
    if 0 in node.weights:
        raise InvalidInput("a weight must not be 0", node.weights, "leave the question out")
    if node.levels is not None and not node.levels[0] < 0 < node.levels[1]:
        raise InvalidInput(
            "a node's levels must lie on both sides of its cut, 0", node.levels, "leave them out"
        )
    for side in (node.low, node.high):
        if not isinstance(side, Node) and not (side and all(0 <= g < groups for g in side)):
            raise InvalidInput(
                f"a leaf must name groups 0 to {groups - 1}", side, "they count from 0"
            )


def _check_leaves(root: Node, groups: tuple[str, ...]) -> None:
    named = [group for leaf in _leaves(root) for group in leaf]
    # A group at two ends could not be told from itself, and one at none would never be given.
    if sorted(named) != list(range(len(groups))):
        raise InvalidInput(
            f"each of the {len(groups)} groups must be at one end of the tree",
            f"ends {sorted(named)}",
            "name every group once",
        )
    if len(set(groups)) < len(groups):
        raise InvalidInput("groups must have different names", groups, "rename one")


def _write(at: Node | tuple[int, ...]) -> Any:
    if not isinstance(at, Node):
        return list(at)
    return {
        "questions": list(at.questions),
        "weights": list(at.weights),
        "cuts": list(at.cuts),
        "levels": None if at.levels is None else list(at.levels),
        "low": _write(at.low),
        "high": _write(at.high),
    }


def _read(values: Any) -> Node | tuple[int, ...]:
    if isinstance(values, list):
        return tuple(int(each) for each in values)
    levels = values.get("levels")
    return Node(
        tuple(int(each) for each in values["questions"]),
        tuple(float(each) for each in values["weights"]),
        tuple(float(each) for each in values["cuts"]),
        _read(values["low"]),
        _read(values["high"]),
        None if levels is None else (float(levels[0]), float(levels[1])),
    )
