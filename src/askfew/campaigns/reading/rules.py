"""A rule in a form for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from askfew.answers import AnswerKind, YesNo
from askfew.rule import Node, Rule

__all__ = ["Division", "RuleQuestion", "divisions_of", "group_word", "rule_lines"]


@dataclass(frozen=True)
class RuleQuestion:
    """One question of a division: which answers to it speak for the division's ``group``."""

    id: str
    text: str
    way: str
    """For example: yes more often than 48 %."""
    weight: float
    """Its weight; the question with the largest weight has 1."""


@dataclass(frozen=True)
class Division:
    """A division of items into two sides by some questions; a side is one group or several."""

    group: str
    other: str
    among: str
    """The groups whose items are divided; empty for all items."""
    questions: tuple[RuleQuestion, ...]


def divisions_of(rule: Rule, kind: AnswerKind, texts: Mapping[str, str]) -> tuple[Division, ...]:
    """The rule's divisions, parents first; ``texts`` has the questions' texts by id."""
    names = [group_word(name) for name in rule.groups]
    return tuple(_divisions(rule, rule.root, kind, texts, names, ""))


def group_word(name: str) -> str:
    """A group as sentences name it: by its name, or as "group" and its number.

    >>> group_word("0"), group_word("owls")
    ('group 0', 'owls')
    """
    return f"group {name}" if name.isdigit() else name


def rule_lines(divisions: Sequence[Division]) -> list[str]:
    """The divisions as lines of text."""
    lines = []
    for each in divisions:
        among = f"among {each.among}: " if each.among else ""
        sides = f"{each.group} if its answers, taken together, are as follows, else {each.other}"
        lines.append(f"{among}{sides}:")
        for question in each.questions:
            weight = "" if question.weight == 1 else f" (counts {question.weight:.2g})"
            lines.append(f"  {question.text or question.id}: {question.way}{weight}")
    return lines


def _divisions(
    rule: Rule,
    node: Node,
    kind: AnswerKind,
    texts: Mapping[str, str],
    names: Sequence[str],
    among: str,
) -> list[Division]:
    # Described from the side for which most questions are answered yes: that reads best.
    way = 1 if 2 * sum(weight > 0 for weight in node.weights) >= len(node.weights) else -1
    # Only ratios of weights mean something, so they are shown relative to the largest.
    largest = max(abs(weight) for weight in node.weights)
    ids = [str(rule.questions[place]) for place in node.questions]
    questions = tuple(
        RuleQuestion(
            name, texts.get(name, ""), _way(kind, way * weight > 0, cut), abs(weight) / largest
        )
        for name, weight, cut in zip(ids, node.weights, node.cuts, strict=True)
    )
    sides = [_side(node.high, names), _side(node.low, names)][::way]
    found = [Division(sides[0], sides[1], among, questions)]
    for side in (node.high, node.low):
        if isinstance(side, Node):
            found += _divisions(rule, side, kind, texts, names, _side(side, names))
    return found


def _way(kind: AnswerKind, above: bool, cut: float) -> str:
    if isinstance(kind, YesNo):
        return f"yes {'more' if above else 'less'} often than {100 * cut:.0f} %"
    return f"{'above' if above else 'below'} {cut:.3g} on average"


def _side(side: Node | tuple[int, ...], names: Sequence[str]) -> str:
    if isinstance(side, Node):
        groups = sorted(
            group
            for node in side.walk()
            for leaf in (node.low, node.high)
            if not isinstance(leaf, Node)
            for group in leaf
        )
    else:
        groups = sorted(side)
    return " or ".join(names[group] for group in groups)
