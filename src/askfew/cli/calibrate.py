"""``askfew calibrate``: the guarantee, on the user's own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from typer import Option

from askfew.algorithms import check_delta, takes_budget
from askfew.cli import options
from askfew.cli.output import check_drawable, note, print_json, progress, report
from askfew.cli.simulate import WorldOptions
from askfew.errors import InvalidInput
from askfew.sessions import MAX_ANSWERS
from askfew.simulation import Run, RunSummary, simulate_runs
from askfew.wording import counted

__all__ = ["calibrate"]

BINS = 12
"""Bars of the histogram. A plain choice: it fits a screen."""
WIDTH = 40
"""Characters of the longest bar. A plain choice: it fits a line of 80."""
_USUAL_WORLD = WorldOptions()


@options.expand_options
def calibrate(
    method: options.Method = "frugal",
    world: WorldOptions = _USUAL_WORLD,
    wished: options.MethodOptions = options.NO_OPTIONS,
    delta: options.Delta = 0.05,
    runs: Annotated[int, Option(help="Simulated campaigns.")] = 1000,
    seed: options.Seed = 0,
    max_answers: options.MaxAnswers = MAX_ANSWERS,
    jobs: options.Jobs = -1,
    figure: Annotated[Path | None, Option(help="Draw the histogram there.")] = None,
    json: options.AsJson = False,
) -> None:
    """Simulate many campaigns with your numbers: does the promise hold, and what do they cost?"""
    check_delta(delta)
    check_drawable(figure)
    if takes_budget(method):
        raise InvalidInput(
            "calibrate is for methods that promise something",
            f"{method!r}, which spends a budget and promises nothing",
            "use simulate --budget",
        )
    instance = world.family()
    results = simulate_runs(
        instance,
        method,
        delta=delta,
        runs=runs,
        seed=seed,
        jobs=jobs,
        max_answers=max_answers,
        anchors=wished.anchors,
        options=options.method_options(method, groups=world.groups, **vars(wished)),
        watch=progress("simulated campaigns", runs),
    )
    summary = RunSummary.of(results)
    shares = [run.wrong_share for run in results] if wished.error == "share" else None
    if figure is not None:
        caption = f"{method}, {runs} campaigns, seed {seed}\n{instance}"
        _draw(figure, results, _observed(summary, shares), delta, caption)
    counts, edges = np.histogram([run.answers for run in results], bins=BINS)
    histogram = {"counts": counts.tolist(), "edges": edges.tolist()}
    if json:
        head = {"method": method, "instance": instance.to_dict(), "delta": delta}
        more = {"runs": runs, "seed": seed, **asdict(summary), "histogram": histogram}
        print_json({**head, **more})
        return
    report.print(f"[bold]{runs} simulated campaigns[/bold]: {instance}")
    report.print(_verdict(summary, delta, runs, shares))
    report.print(_other_results(summary))
    _print_histogram(**histogram)


def _verdict(
    summary: RunSummary, delta: float, runs: int, shares: Sequence[float] | None = None
) -> str:
    """Compare the promise with the observed error: any wrong label, or the mean share of them."""
    _, low, high, _ = _observed(summary, shares)
    observed = f"{summary.errors} of {runs} had a wrong label"
    if shares is None:
        observed += f": {summary.error_rate:.2%}"
    else:
        observed += f"; the mean share of wrong labels is {summary.wrong_share:.3%}"
    observed += f" (95 % interval {low:.2%} to {high:.2%}); promised: at most {delta:.2%}."
    if high <= delta:
        return f"{observed} The promise is kept, with room to spare."
    if low <= delta:
        return f"{observed} Consistent with the promise; more runs would narrow the interval."
    return f"{observed} [bold red]The promise is broken.[/bold red]"


class ObservedError(NamedTuple):
    """The error that delta bounds, as it was observed, with its 95 % interval."""

    rate: float
    low: float
    high: float
    what: str


def _observed(summary: RunSummary, shares: Sequence[float] | None) -> ObservedError:
    low, high = summary.error_interval
    if shares is None:
        return ObservedError(summary.error_rate, low, high, "campaigns with a wrong label")
    return ObservedError(
        summary.wrong_share, *_share_interval(shares, high), "mean share of wrong labels"
    )


def _share_interval(shares: Sequence[float], most: float) -> tuple[float, float]:
    """The 95 % interval of a mean share.

    ``most`` bounds the chance of any wrong label, and so the share, too.
    """
    mean, error = float(np.mean(shares)), float(np.std(shares)) / len(shares) ** 0.5
    if error == 0:  # no run varied; that does not mean that none can
        return 0.0, most
    return max(0.0, mean - 1.96 * error), min(most, mean + 1.96 * error)


def _other_results(summary: RunSummary) -> str:
    """How many items got a label, and how many campaigns failed."""
    said = [f"{summary.decided:.1%} of the items got a label"]
    if summary.class_accuracy is not None:
        said.append(f"{summary.class_accuracy:.1%} of the labels agree with the planted groups")
    if summary.no_consensus:
        said.append(f"{counted(summary.no_consensus, 'campaign')} found no split")
    if summary.unfinished:
        said.append(f"{counted(summary.unfinished, 'campaign')} did not finish")
    return "; ".join(said) + "."


def _print_histogram(counts: Sequence[int], edges: Sequence[float]) -> None:
    report.print("\nanswers")
    for count, low, high in zip(counts, edges, edges[1:], strict=False):
        bar = "█" * round(WIDTH * count / max(counts))
        report.print(f"{low:>10,.0f} to {high:>9,.0f}  {bar} {count}")


def _draw(
    path: Path, results: Sequence[Run], seen: ObservedError, delta: float, caption: str
) -> None:
    """Draw two panels: what campaigns cost, and the promise with the observed error."""
    import matplotlib.pyplot as plt

    figure, (costs, promise) = plt.subplots(
        2, 1, figsize=(7.5, 5.2), height_ratios=[4, 1], layout="constrained"
    )
    right = [run.answers for run in results if run.correct]
    wrong = [run.answers for run in results if not run.correct]
    edges = np.histogram_bin_edges([run.answers for run in results], bins="auto")
    costs.hist(
        [right, wrong],
        bins=edges.tolist(),
        stacked=True,
        color=["#0072B2", "#D55E00"],
        label=["every label right", "a wrong label"],
    )
    costs.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    costs.set_xlabel("answers per campaign")
    costs.set_ylabel("campaigns")
    costs.yaxis.get_major_locator().set_params(integer=True)
    costs.set_title(caption, loc="left", fontsize=9)
    costs.legend(frameon=False, loc="upper right")  # the long tail is there
    rate, low, high = (100 * each for each in seen[:3])
    promise.plot([low, high], [0, 0], color="#0072B2", linewidth=3, solid_capstyle="butt")
    promise.plot(rate, 0, "o", color="#0072B2", clip_on=False, label="seen, with its 95 % interval")
    promise.axvline(100 * delta, color="black", label=f"promised: at most {delta:.2%}")
    promise.set_xlim(0, 1.15 * 100 * max(delta, seen.high))
    promise.set_ylim(-1, 1)
    promise.set_yticks([])
    promise.set_xlabel(f"{seen.what}, %")
    promise.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    for axes in (costs, promise):
        axes.spines[["top", "right"]].set_visible(False)
    promise.spines["left"].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    note(f"Figure saved as {path}")
