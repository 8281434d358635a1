"""``askfew simulate``: Monte-Carlo runs of methods on one family of problems."""

from __future__ import annotations

import csv as csv_format
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from rich.table import Table
from typer import Option

from askfew.algorithms import check_delta, takes_budget
from askfew.cli import options
from askfew.cli.output import check_writable, note, print_json, progress, report
from askfew.sessions import MAX_ANSWERS
from askfew.simulation import CustomWorlds, Instance, Run, RunSummary, simulate_runs

__all__ = ["WorldOptions", "simulate"]

Methods = Annotated[str, Option(help=f"{options.METHOD_HELP} Several: with commas between them.")]
Budget = Annotated[int | None, Option(help="Answers to spend, for fixed-budget methods.")]


@dataclass(frozen=True)
class WorldOptions:
    """Which problems are simulated."""

    items: options.Items = 100
    questions: options.Questions = 20
    useful: options.Useful = 3
    gap: options.Gap = 0.7
    noise: options.Noise = "yes-no"
    sigma: options.Sigma = 1.0
    balance: options.Balance = 0.5
    decay: options.Decay = 0.0
    groups: options.Groups = 2
    spread: options.Spread = 0.0
    oracle: options.Worlds = None

    def family(self) -> Instance | CustomWorlds:
        """The family of problems that the options describe."""
        if self.oracle is not None:
            return CustomWorlds.named(self.oracle)
        return Instance(
            self.items,
            self.questions,
            self.useful,
            self.gap,
            self.noise,
            self.sigma,
            self.balance,
            self.decay,
            self.groups,
            self.spread,
        )


_PAPER_WORLD = WorldOptions(items=20, questions=1000, useful=53, gap=2.0, noise="gaussian")
"""About the second point of the paper's first experiment."""


@options.expand_options
def simulate(
    method: Methods = "frugal",
    world: WorldOptions = _PAPER_WORLD,
    wished: options.MethodOptions = options.NO_OPTIONS,
    delta: options.Delta = 0.05,
    runs: Annotated[int, Option(help="How many runs.")] = 100,
    seed: options.Seed = 0,
    max_answers: options.MaxAnswers = MAX_ANSWERS,
    budget: Budget = None,
    jobs: options.Jobs = -1,
    csv: Annotated[Path | None, Option(help="Write a row for every run there.")] = None,
    json: options.AsJson = False,
) -> None:
    """Run methods many times on simulated problems: what they cost and how often they err."""
    check_delta(delta)
    check_writable(csv)
    instance = world.family()
    methods = method.split(",")
    options_of = {
        each: options.method_options(each, groups=world.groups, **vars(wished)) for each in methods
    }
    measured: dict[str, Measured] = {}
    for each in methods:
        began = time.perf_counter()
        results = simulate_runs(
            instance,
            each,
            delta=delta,
            runs=runs,
            seed=seed,
            jobs=jobs,
            max_answers=max_answers,
            # Next to others, a method that stops by itself gets no budget.
            budget=budget if len(methods) == 1 or takes_budget(each) else None,
            anchors=wished.anchors,
            options=options_of[each],
            watch=progress(f"{each} runs", runs),
        )
        seconds = time.perf_counter() - began
        measured[each] = Measured(results, RunSummary.of(results), seconds)
    if csv is not None:
        _write(csv, measured)
    if json:
        head = {"instance": instance.to_dict(), "delta": delta, "runs": runs, "seed": seed}
        print_json({**head, **_document(measured)})
        return
    _print_table(instance, measured)
    report.print(f"{runs} runs{' each' if len(methods) > 1 else ''}, seed {seed}, delta {delta:g}")


class Measured(NamedTuple):
    """The runs of one method, their summary, and how long they took."""

    runs: list[Run]
    summary: RunSummary
    seconds: float


def _document(measured: Mapping[str, Measured]) -> dict[str, object]:
    """As JSON-ready values; a single method is not put into a list."""
    documents = [
        {"method": name, **asdict(each.summary), "seconds": each.seconds}
        for name, each in measured.items()
    ]
    return documents[0] if len(documents) == 1 else {"methods": documents}


def _write(path: Path, measured: Mapping[str, Measured]) -> None:
    """One row for every run of every method; runs of the same number have the same world."""
    rows = [
        {"method": method, "run": number, **run.to_dict()}
        for method, each in measured.items()
        for number, run in enumerate(each.runs)
    ]
    with path.open("w", newline="") as file:
        # Methods have different phases, and each phase is a column.
        columns = dict.fromkeys(name for row in rows for name in row)
        writer = csv_format.DictWriter(file, fieldnames=list(columns))
        writer.writeheader()
        writer.writerows(rows)
    note(f"Wrote {path}")


def _print_table(instance: Instance | CustomWorlds, measured: Mapping[str, Measured]) -> None:
    """A row for each figure, a column for each method."""
    table = Table(title=str(instance), title_justify="left")
    table.add_column("")
    for method in measured:
        table.add_column(method, justify="right")
    lines = [_lines(each.summary, each.seconds) for each in measured.values()]
    for name in dict.fromkeys(name for each in lines for name in each):
        table.add_row(name, *(each.get(name, "-") for each in lines))
    report.print(table)


def _lines(summary: RunSummary, seconds: float) -> dict[str, str]:
    low, high = summary.error_interval
    lines = {"answers, mean": "-"}
    if summary.mean_answers is not None:
        lines |= {
            "answers, mean": f"{summary.mean_answers:,.0f}",
            "median": f"{summary.median_answers:,.0f}",
            "5 % to 95 %": f"{summary.q05_answers:,.0f} to {summary.q95_answers:,.0f}",
        }
    lines |= {
        "batches": f"{summary.mean_batches:,.1f}",
        "items decided": f"{summary.decided:.2%}",
        "wrong somewhere": f"{summary.errors}: {summary.error_rate:.2%}",
        "  95 % interval": f"{low:.2%} to {high:.2%}",
        "wrong labels": f"{summary.wrong_share:.3%}",
    }
    if summary.class_accuracy is not None:
        lines["labels as planted"] = f"{summary.class_accuracy:.2%}"
    if summary.no_consensus:
        lines["found no split"] = f"{summary.no_consensus}"
    if summary.unfinished:
        lines["unfinished"] = f"{summary.unfinished}"
    lines["seconds"] = f"{seconds:.1f}"
    return lines
