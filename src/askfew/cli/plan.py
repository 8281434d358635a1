"""``askfew plan``: the bill before the first answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from askfew.cli import options
from askfew.cli.output import note, print_json, progress, report
from askfew.cli.places import check_drawable
from askfew.planning import Forecast, Range, Unknown, forecast, forecast_curves

__all__ = ["plan"]

CURVE_RUNS = 100
USUAL_USEFUL = Range(2, 8)


def plan(
    items: options.Items = 200,
    questions: options.Questions = 40,
    gap: Annotated[
        str, Option(help="How far groups differ where they do: 0.7, or 0.5:0.8.")
    ] = "0.5:0.8",
    share: Annotated[
        str, Option(help="The small group's share of the items, or a range.")
    ] = "0.1:0.5",
    useful: Annotated[
        str | None,
        Option(help="How many questions separate, or a range.", show_default="2:8, if so many"),
    ] = None,
    noise: options.Noise = "yes-no",
    sigma: options.Sigma = 1.0,
    delta: options.Delta = 0.05,
    price: options.Price = 0.02,
    cap: Annotated[
        int | None, Option(help="How likely is it to stay under so many answers?")
    ] = None,
    repeats: Annotated[int, Option(help="Compare with asking everything so often.")] = 5,
    runs: Annotated[int, Option(help="Simulated campaigns.")] = 1000,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    figure: Annotated[Path | None, Option(help="Draw answers against gap there.")] = None,
    json: options.AsJson = False,
) -> None:
    """Forecast answers and money before the first answer, over what you do not know."""
    check_drawable(figure)
    unknown = Unknown(
        items,
        questions,
        Range.read(gap, "gap"),
        Range.read(share, "share"),
        _usual_useful(questions) if useful is None else Range.read(useful, "useful"),
        noise=noise,
        sigma=sigma,
    )
    bill = forecast(
        unknown,
        delta=delta,
        price=price,
        cap=cap,
        repeats=repeats,
        runs=runs,
        seed=seed,
        jobs=jobs,
        watch=progress("simulated campaigns", runs),
    )
    if useful is None and unknown.useful != USUAL_USEFUL:
        note(
            f"There are few questions: {unknown.useful} of them, not {USUAL_USEFUL}, are taken to"
            " be useful. Say --useful if you know better."
        )
    if figure is not None:
        _draw(figure, unknown, delta, seed, jobs)
    if json:
        print_json(bill.to_dict())
    else:
        _print_bill(bill)


def _usual_useful(questions: int) -> Range:
    return Range(*(max(1, min(end, questions)) for end in (USUAL_USEFUL.low, USUAL_USEFUL.high)))


def _print_bill(bill: Forecast) -> None:
    unknown = bill.unknown
    report.print(
        f"[bold]{unknown.items} items, {unknown.questions} questions[/bold]"
        f" ({unknown.noise} answers): gap {unknown.gap}, small group {unknown.share},"
        f" useful questions {unknown.useful};"
        f" all labels right with probability {1 - bill.delta:g}"
    )
    table = Table("", "answers", "money")
    for column in table.columns[1:]:
        column.justify = "right"

    def row(name: str, answers: float) -> None:
        table.add_row(name, f"{answers:,.0f}", f"{answers * bill.price:,.2f}")

    row("half of all campaigns stay under", bill.median)
    row("90 % stay under", bill.q90)
    row("in the hardest corner, 90 % stay under", bill.hardest_q90)
    table.add_section()
    for phase, answers in bill.by_phase.items():
        row(f"mean for the phase '{phase}'", answers)
    table.add_section()
    row("no method can do with less on average (mid-range)", bill.least)
    row(f"asking everything {bill.repeats} times, no promise", bill.everything)
    report.print(table)
    if bill.cap is not None:
        report.print(f"Chance to stay under {bill.cap:,} answers: {bill.chance_under_cap:.0%}")
    hardest = unknown.hardest()
    report.print(
        f"[dim]Hardest corner: gap {hardest.gap:g}, small group {hardest.balance:g},"
        f" {hardest.useful} useful. From {bill.runs} simulated campaigns, unknowns uniform on a"
        " log scale within their ranges.[/dim]"
    )


def _draw(path: Path, unknown: Unknown, delta: float, seed: int, jobs: int) -> None:
    from askfew.cli.plan_figure import draw

    curves = forecast_curves(unknown, delta=delta, runs=CURVE_RUNS, seed=seed, jobs=jobs)
    draw(path, curves, f"{unknown.items} items, {unknown.questions} questions, delta {delta:g}")
    note(f"Figure saved as {path}")
