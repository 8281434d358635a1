"""The demo's first example: photos of two species of birds, and people who answer questions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.panel import Panel
from rich.table import Table

from askfew import oracles
from askfew.algorithms import start
from askfew.cli.output import report
from askfew.driver import run
from askfew.log import Log
from askfew.oracles import BernoulliOracle
from askfew.outcome import Outcome, outcome_of
from askfew.records import Floats, Ints
from askfew.wording import ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PRICE", "Birds", "run_birds"]

METHOD = "frugal"
TRIES = 20
"""Runs in a row that asking everything must get right before it counts as enough. A plain choice:
at the demo's delta of 0.05 one run in 20 may be wrong."""
# The world of the demo is made up; its numbers are easy to tell in a sentence.
PHOTOS = 100
PRICE = 0.02
RELIABLE = 0.85
TELLING = ("Is the beak hooked?", "Is the breast striped?", "Are the legs feathered?")
IDLE = (
    "Does it face left?",
    "Is it on a branch?",
    "Is the sky visible?",
    "Is it in flight?",
    "Is there water?",
    "Is the beak open?",
    "Is it in the shade?",
    "Is the photo sharp?",
    "Is a second bird there?",
    "Is the tail visible?",
    "Are there leaves?",
    "Is it looking at you?",
    "Is it taken from below?",
    "Is it wet?",
    "Is it young?",
    "Is there snow?",
    "Is it eating?",
)
QUESTIONS = tuple(sorted(TELLING + IDLE))


@dataclass(frozen=True, eq=False)
class Crowd:
    """The species of every photo, and how often people say yes to each question."""

    species: Ints
    chances: Floats
    """The probability of yes: a row for each species, a column for each question."""

    @property
    def names(self) -> list[str]:
        """The names of the photos."""
        return [f"photo {i:02}" for i in range(PHOTOS)]

    def oracle(self, seed: int) -> BernoulliOracle:
        """An oracle that answers like this crowd."""
        return oracles.bernoulli(self.chances, labels=self.species, rng=seed)

    def is_right(self, labels: Ints) -> bool:
        """Whether these are the species; the species of the first photo is group 0."""
        return np.array_equal(labels, self.species != self.species[0])

    def story(self, delta: float) -> str:
        """The problem in plain words."""
        return (
            f"{PHOTOS} photos show birds of two species. A crowd answers {len(QUESTIONS)} yes/no"
            f" questions about them, at {PRICE * 100:.0f} cents per answer. Only {len(TELLING)}"
            " questions tell the species apart, nobody knows which, and even there"
            f" {1 - RELIABLE:.0%} of the answers are wrong.\n"
            f"Wanted: the species of every photo, all right with probability {1 - delta:.0%},"
            " for as few answers as possible."
        )


def draw_crowd(seed: int) -> Crowd:
    """Put the photos in random order; a third of them show the rarer species."""
    rng = np.random.default_rng([seed, 0])
    species = rng.permutation(np.arange(PHOTOS) < PHOTOS // 3).astype(np.int64)
    telling = np.isin(QUESTIONS, TELLING)
    chances = np.full((2, len(QUESTIONS)), 0.5)
    chances[:, telling] = [[1 - RELIABLE], [RELIABLE]]
    return Crowd(species, chances)


@dataclass(frozen=True)
class Bill:
    """What one way of asking costs on this crowd, and what it promises."""

    way: str
    answers: int
    right: bool
    promise: str


@dataclass(frozen=True, eq=False)
class Birds:
    """The log and the outcome of askfew, and what other ways of asking cost."""

    crowd: Crowd
    log: Log
    outcome: Outcome
    bills: list[Bill]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {"outcome": self.outcome.to_dict(), "bills": [vars(bill) for bill in self.bills]}

    def print_bills(self) -> None:
        """Print what each way of asking costs."""
        table = Table("way of asking", "answers", "money", "to askfew's", "promise")
        for column in table.columns[1:4]:
            column.justify = "right"
            column.no_wrap = True
        for bill in self.bills:
            table.add_row(
                bill.way,
                f"{bill.answers:,}",
                f"${bill.answers * PRICE:,.2f}",
                ratio(bill.answers / self.bills[0].answers),
                bill.promise if bill.right else f"{bill.promise}, and wrong here",
            )
        report.print("\n[bold]What it costs[/bold]")
        report.print(table)

    def draw(self, path: Path) -> None:
        """Save a picture: where the answers went, and what each way of asking costs."""
        import matplotlib.pyplot as plt  # takes long to import

        figure, (left, right) = plt.subplots(
            1, 2, figsize=(12, 5.2), width_ratios=[3, 2], layout="constrained"
        )
        _draw_cells(left, self.crowd, self.log)
        _draw_bills(right, self.bills)
        figure.savefig(path, dpi=130)
        plt.close(figure)


def run_birds(seed: int, delta: float, *, quiet: bool) -> Birds:
    """Ask the crowd in three ways; unless ``quiet``, print what is wanted, asked and found."""
    crowd = draw_crowd(seed)
    if not quiet:
        report.print(Panel(crowd.story(delta), title="askfew demo", title_align="left"))
    log = Log(crowd.oracle(0).problem)
    outcome = _ask(crowd, METHOD, seed, delta, log)
    if not quiet:
        _print_batches(log)
        _print_outcome(crowd, outcome)
    bills = [
        _bill(crowd, f"askfew ({METHOD})", outcome, delta),
        _bill(crowd, "the paper's method", _ask(crowd, "paper", seed, delta), delta),
        _asking_everything(crowd, seed, delta),
    ]
    return Birds(crowd, log, outcome, bills)


def _ask(
    crowd: Crowd,
    method: str,
    seed: int,
    delta: float,
    log: Log | None = None,
    budget: int | None = None,
) -> Outcome:
    oracle = crowd.oracle(seed)
    rng = np.random.default_rng([seed, 1])
    procedure = start(method, oracle.problem, rng, delta=delta, budget=budget)
    ended = run(procedure, oracle, log=log, max_answers=10**8)
    return outcome_of(ended, crowd.names, QUESTIONS)


def _asking_everything(crowd: Crowd, seed: int, delta: float) -> Bill:
    """Double the answers to each cell until k-means is right in all of its tries."""
    everything = len(crowd.names) * len(QUESTIONS)
    sweeps = 1
    while not all(
        crowd.is_right(_ask(crowd, "kmeans10", seed + i, delta, budget=sweeps * everything).labels)
        for i in range(TRIES)
    ):
        sweeps *= 2
    way = f"everything, {sweeps} times"
    return Bill(way, sweeps * everything, True, f"none; right in {TRIES} of {TRIES} tries")


def _bill(crowd: Crowd, way: str, outcome: Outcome, delta: float) -> Bill:
    promise = f"all labels right, {1 - delta:.0%}" if outcome.certificate else "none"
    return Bill(way, outcome.answers, crowd.is_right(outcome.labels), promise)


def _print_batches(log: Log) -> None:
    """Print the first four batches and the last three; only count those between."""
    report.print("\n[bold]What is asked[/bold]")
    steps = log.steps
    shown = [*range(min(4, len(steps))), *range(max(4, len(steps) - 3), len(steps))]
    for before, index in zip([-1, *shown], shown, strict=False):
        if index > before + 1:
            report.print(f"  [dim]... {index - before - 1} more batches[/dim]")
        step = steps[index]
        report.print(
            f"  batch {index + 1:>3}  {step.tally.answers:>6,} answers  {step.batch.why}",
            overflow="ellipsis",
            no_wrap=True,
        )


def _print_outcome(crowd: Crowd, outcome: Outcome) -> None:
    report.print("\n[bold]What it finds[/bold]")
    verdict = "every label is right" if crowd.is_right(outcome.labels) else "some label is wrong"
    report.print(f"{outcome}\n[dim](The crowd is simulated, so we may look: {verdict}.)[/dim]")


def _draw_cells(axes: Axes, crowd: Crowd, log: Log) -> None:
    from matplotlib.colors import LogNorm

    asked = np.zeros((len(QUESTIONS), len(crowd.names)))
    for step in log:
        np.add.at(asked, (step.batch.questions, step.batch.items), step.tally.counts)
    order = np.argsort(crowd.species, kind="stable")
    shown = np.ma.masked_equal(asked[:, order], 0)
    image = axes.imshow(shown, aspect="auto", cmap="viridis_r", norm=LogNorm(1, asked.max()))
    axes.set_yticks(range(len(QUESTIONS)), QUESTIONS, fontsize=8)
    axes.set_xticks([])
    axes.axvline(np.sum(crowd.species == 0) - 0.5, color="black", linewidth=1)
    axes.set_xlabel("photos, first species left of the line, second right")
    axes.set_title("Where askfew spent its answers", loc="left")
    bar = axes.figure.colorbar(image, ax=axes, pad=0.01, format="%d")
    bar.set_label("answers asked (white: none)")


def _draw_bills(axes: Axes, bills: list[Bill]) -> None:
    names = [bill.way.replace(", ", ",\n") for bill in bills]
    answers = [bill.answers for bill in bills]
    bars = axes.barh(names, answers, color=["#0072B2", "#D55E00", "#999999"], height=0.6)
    axes.bar_label(bars, [f"{count:,}" for count in answers], padding=4)
    axes.set_xscale("log")
    axes.set_xlim(min(answers) / 5, max(answers) * 10)
    axes.invert_yaxis()
    axes.set_xlabel("answers (log scale)")
    axes.set_title("What it costs", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
