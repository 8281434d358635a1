"""``askfew simulate``: Monte-Carlo runs of one method on one family of problems."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

from rich.table import Table
from typer import Option

from askfew.algorithms import check_delta
from askfew.cli import options
from askfew.cli.output import print_json, progress, report
from askfew.clustering import MAX_ANSWERS
from askfew.simulation import Instance, RunSummary, simulate_runs

__all__ = ["simulate"]


def simulate(
    method: options.Method = "frugal",
    items: options.Items = 20,
    questions: options.Questions = 1000,
    useful: options.Useful = 53,
    gap: options.Gap = 2.0,
    noise: options.Noise = "gaussian",
    sigma: options.Sigma = 1.0,
    balance: options.Balance = 0.5,
    decay: options.Decay = 0.0,
    groups: options.Groups = 2,
    spread: options.Spread = 0.0,
    look_for: options.LookFor = None,
    error: options.Error = None,
    per_cell: options.PerCell = None,
    tolerance: options.Tolerance = None,
    anchors: options.Anchors = 0,
    delta: options.Delta = 0.05,
    runs: Annotated[int, Option(help="How many runs.")] = 100,
    seed: options.Seed = 0,
    max_answers: options.MaxAnswers = MAX_ANSWERS,
    budget: Annotated[
        int | None, Option(help="Answers to spend, for fixed-budget methods.")
    ] = None,
    jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Run one method many times on simulated problems: what it costs and how often it errs."""
    check_delta(delta)
    instance = Instance(items, questions, useful, gap, noise, sigma, balance, decay, groups, spread)
    method_options = options.method_options(
        method,
        groups=groups,
        look_for=look_for,
        error=error,
        per_cell=per_cell,
        tolerance=tolerance,
        anchors=anchors,
    )
    began = time.perf_counter()
    results = simulate_runs(
        instance,
        method,
        delta=delta,
        runs=runs,
        seed=seed,
        jobs=jobs,
        max_answers=max_answers,
        budget=budget,
        anchors=anchors,
        options=method_options,
        watch=progress(f"{method} runs", runs),
    )
    seconds = time.perf_counter() - began
    summary = RunSummary.of(results)
    if json:
        head = {"method": method, "instance": instance.to_dict(), "delta": delta}
        print_json({**head, "runs": runs, "seed": seed, **asdict(summary), "seconds": seconds})
    else:
        _print_table(method, instance, delta, summary, runs, seconds)


def _print_table(
    method: str, instance: Instance, delta: float, summary: RunSummary, runs: int, seconds: float
) -> None:
    table = Table(title=f"{method} on {instance}", show_header=False, title_justify="left")
    low, high = summary.error_interval
    if summary.mean_answers is not None:
        table.add_row("mean answers", f"{summary.mean_answers:,.0f}")
        table.add_row("median", f"{summary.median_answers:,.0f}")
        table.add_row("5 % to 95 %", f"{summary.q05_answers:,.0f} to {summary.q95_answers:,.0f}")
    table.add_row("batches", f"{summary.mean_batches:,.1f}")
    table.add_row("decided", f"{summary.decided:.2%} of the items")
    table.add_row(
        "errors",
        f"a wrong label in {summary.errors} of {runs} runs: {summary.error_rate:.2%}"
        f" (95 % interval {low:.2%} to {high:.2%}, delta {delta:.2%})",
    )
    table.add_row("wrong labels", f"{summary.wrong_share:.3%} of those given")
    if summary.class_accuracy is not None:
        table.add_row("as planted", f"{summary.class_accuracy:.2%} of those given")
    if summary.no_consensus:
        table.add_row("no consensus", f"{summary.no_consensus} runs found no split")
    table.add_row("unfinished", f"{summary.unfinished} runs")
    table.add_row("time", f"{seconds:.1f} s")
    report.print(table)
