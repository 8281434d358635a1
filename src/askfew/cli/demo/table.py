"""The demo's second example: a real table whose items differ, sorted by a readable rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.columns import Columns
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import askfew
from askfew.cli.demo.birds import PRICE
from askfew.cli.output import report
from askfew.outcome import Outcome
from askfew.records import Floats, Ints
from askfew.rule import Rule

__all__ = ["Story", "print_story", "run_table"]

SIDE = 8
"""Pixels on a side of scikit-learn's digits."""
EXAMPLES = 3
"""Pictures of each digit that are sorted beforehand. A plain choice for the example."""
WRONG = 0.1
"""The share of wrong answers about a black or a white pixel. A plain choice for the example."""
DIGITS = ("zero", "one")


@dataclass(frozen=True, eq=False)
class Story:
    """The pictures, the digits they show, and the outcome."""

    ink: Floats
    """How dark every pixel of every picture is, from 0 to 1."""
    digits: Ints
    delta: float
    outcome: Outcome

    @property
    def examples(self) -> Ints:
        """The pictures that were sorted beforehand."""
        assert self.outcome.told is not None
        return np.flatnonzero(self.outcome.told >= 0)

    def right(self, labels: Ints) -> float | None:
        """The share of the labelled pictures whose label is their digit; None without any."""
        counted = labels >= 0
        counted[self.examples] = False
        names = np.array([DIGITS.index(name) for name in self.outcome.group_names])
        if not counted.any():
            return None
        return float((names[labels[counted]] == self.digits[counted]).mean())

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "outcome": self.outcome.to_dict(),
            "certified_right": self.right(self.outcome.labels.copy()),
            "guesses_right": self.right(self.outcome.guesses.copy()),
        }


def run_table(seed: int, delta: float) -> Story | None:
    """Ask about scikit-learn's zeros and ones, pixel by pixel; None where it is not installed."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        return None
    pixels, digits = load_digits(n_class=2, return_X_y=True)
    order = np.random.default_rng([seed, 2]).permutation(len(digits))
    ink, digits = pixels[order] / 16, digits[order].astype(np.int64)
    crowd = askfew.oracles.bernoulli(
        WRONG + (1 - 2 * WRONG) * ink, rng=np.random.default_rng([seed, 3])
    )
    examples = {
        int(item): DIGITS[digit]
        for digit in (0, 1)
        for item in np.flatnonzero(digits == digit)[:EXAMPLES]
    }
    outcome = askfew.cluster(
        crowd,
        questions=[
            f"dark at row {1 + at // SIDE}, column {1 + at % SIDE}?" for at in range(SIDE**2)
        ],
        delta=delta,
        method="rule",
        error="share",
        anchors=examples,
        rng=seed,
    )
    return Story(ink, digits, delta, outcome)


def print_story(story: Story) -> None:
    """Print the task, the rule, its labels and the cost."""
    report.print()
    report.print(Panel(_wanted(story), title="and where items differ", title_align="left"))
    rule = story.outcome.rule
    if rule is None:
        report.print(Text(f"{story.outcome.status}: {story.outcome.reason}."))
        return
    report.print("\n[bold]The rule it learnt[/bold]")
    report.print(Columns([_map(story, rule), Text(f"\n{rule}")], padding=(0, 4)))
    report.print("[dim]▲ a dark pixel speaks for a one, ▼ for a zero; · nobody looks there[/dim]")
    report.print("\n[bold]What it says of the pictures[/bold]")
    report.print(_counts(story))
    if story.outcome.certificate is not None:
        report.print(
            "Promised, whatever the pictures are like: of the certified labels, at most"
            f" {story.delta:.0%} are wrong about the rule, on average."
        )
    report.print(_cost(story))


def _wanted(story: Story) -> str:
    return (
        f"{len(story.digits)} handwritten zeros and ones, real ones. A crowd answers {SIDE**2}"
        f" yes/no questions: is this pixel dark? {WRONG:.0%} of the answers are wrong, more about"
        " grey pixels. No two pictures are alike, so there are no groups of identical items."
        f" Somebody has sorted {EXAMPLES} of each beforehand.\n"
        "Wanted: a rule that one can read, and for every picture on which side of it it lies, with"
        f" {story.delta:.0%} of the labels wrong at most, on average. Pictures too near"
        " the cut are listed as undecided."
    )


def _map(story: Story, rule: Rule) -> Text:
    """A map of the pixels that the rule uses."""
    marks = np.full(SIDE**2, "·")
    names = [str(each) for each in story.outcome.questions]
    for node in rule.nodes:
        ones = rule.side_names(node)[1] == DIGITS[1]
        for place, weight in zip(node.questions, node.weights, strict=True):
            marks[names.index(str(rule.questions[place]))] = "▲" if (weight > 0) == ones else "▼"
    return Text("\n".join(" ".join(row) for row in marks.reshape(SIDE, SIDE)))


def _counts(story: Story) -> Table:
    outcome = story.outcome
    asked = len(story.digits) - len(story.examples)
    certified = int((outcome.labels >= 0).sum()) - len(story.examples)
    undecided = np.where(outcome.labels < 0, outcome.guesses, -1)
    table = Table("", "pictures", "show that digit")
    table.columns[1].justify = table.columns[2].justify = "right"

    def row(name: str, count: int, right: float | None) -> None:
        table.add_row(name, f"{count} of {asked}", "-" if right is None else f"{right:.1%}")

    row("certified: on that side of the rule", certified, story.right(outcome.labels.copy()))
    row("undecided: a guess, no promise", asked - certified, story.right(undecided))
    return table


def _cost(story: Story) -> str:
    outcome = story.outcome
    phases = ", ".join(f"{phase} {count:,}" for phase, count in outcome.answers_by_phase.items())
    return (
        f"It took {outcome.answers:,} answers, ${outcome.answers * PRICE:,.2f} ({phases}); asking"
        f" everything once takes {story.ink.size:,}."
    )
