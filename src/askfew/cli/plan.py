"""``askfew plan``: what it will cost, before the first answer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.cli import options
from askfew.cli.output import check_drawable, note, print_json, progress, report
from askfew.errors import InvalidInput
from askfew.planning import (
    Forecast,
    OwnerKnowledge,
    Range,
    Simulation,
    Unknown,
    forecast,
    forecast_curves,
)
from askfew.planning.defaults import SHARE, default_spread, default_unknown, default_useful
from askfew.rule import Rule
from askfew.simulation import NOISES
from askfew.wording import money

__all__ = ["plan"]

CURVE_RUNS = 100
"""Simulated campaigns for each point of the figure. A plain choice: enough for a median and a 90 %
line that one reads on a log scale."""
_FEWEST_FOR_90 = 10
"""Fewer simulated campaigns than this say nothing about the most expensive tenth, so no 90 % figure
is shown."""

Gap = Annotated[
    str | None,
    Option(
        help="How far groups differ where they do: 0.7, or 0.5:0.8.",
        show_default="0.5:0.8; gaussian: 1.5 to 3 sigma",
    ),
]
Share = Annotated[
    str | None,
    Option(
        help="The smaller of two groups: its share of the items, or a range.",
        show_default=f"{SHARE.low}:{SHARE.high}",
    ),
]
Useful = Annotated[
    str | None,
    Option(
        help="How many questions separate, or a range.",
        show_default="2:8 (rule: 4:8), at most all",
    ),
]
Spread = Annotated[
    float | None,
    Option(
        help="How far items of a group differ on a useful question, in gaps (a sd).",
        show_default=f"0 (rule: {default_spread('rule')})",
    ),
]
Defining = Annotated[
    int, Option(min=0, help="How many questions define the split; no others are asked.")
]
RuleFile = Annotated[
    Path | None, Option(metavar="FILE", help="A saved rule to be applied as it is.")
]
Tokens = Annotated[
    str | None,
    Option(
        metavar="IN:OUT",
        help="Of a language model: tokens of one call, instead of --price.",
        show_default=False,
    ),
]
TokenPrice = Annotated[
    str | None,
    Option(metavar="IN:OUT", help="For a million of these tokens.", show_default=False),
]
QuestionsPerCall = Annotated[int, Option(help="Answers that one such call brings.", min=1)]
Cap = Annotated[int | None, Option(help="How likely is it to stay under this many answers?")]


@options.expand_options
def plan(
    method: options.Method = "frugal",
    items: options.Items = 200,
    questions: options.Questions = 40,
    gap: Gap = None,
    share: Share = None,
    useful: Useful = None,
    groups: options.Groups = 2,
    spread: Spread = None,
    wished: options.MethodOptions = options.NO_OPTIONS,
    defining: Defining = 0,
    rule: RuleFile = None,
    noise: options.Noise = "yes-no",
    sigma: options.Sigma = 1.0,
    delta: options.Delta = 0.05,
    price: options.Price = 0.02,
    tokens: Tokens = None,
    token_price: TokenPrice = None,
    questions_per_call: QuestionsPerCall = 1,
    cap: Cap = None,
    repeats: Annotated[int, Option(help="Compare with asking everything this often.")] = 5,
    runs: Annotated[int, Option(help="Simulated campaigns.")] = 1000,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    figure: Annotated[Path | None, Option(help="Draw answers against gap there.")] = None,
    json: options.AsJson = False,
) -> None:
    """Forecast answers and money before the first answer, over what you do not know."""
    check_drawable(figure)
    if tokens is not None or token_price is not None:
        price = _price_of_a_call(tokens, token_price) / questions_per_call
    told = OwnerKnowledge(
        (wished.anchors,) * groups if wished.anchors else (),
        defining,
        None if rule is None else Rule.load(rule),
    )
    told.check(items, questions)
    unknown = default_unknown(
        _kind(noise, sigma),
        items,
        questions,
        method=method,
        groups=groups,
        spread=spread,
        told=told,
        **_ranges(groups, gap=gap, share=share, useful=useful),
    )
    simulation = Simulation(
        method=method,
        told=told,
        options=options.method_options(
            method,
            groups=groups,
            **vars(wished),
            defining=defining,
            rule=rule is not None,
        ),
        delta=delta,
        seed=seed,
        jobs=jobs,
    )
    watch = progress("simulated campaigns", runs)
    bill = forecast(
        unknown, simulation, price=price, cap=cap, repeats=repeats, runs=runs, watch=watch
    )
    if useful is None:
        _note_few_questions(bill)
    if figure is not None:
        _draw(figure, unknown, simulation)
    if json:
        print_json(bill.to_dict())
    else:
        _print_bill(bill, wished.error or "any")


def _ranges(groups: int, **written: str | None) -> dict[str, Range]:
    """The ranges that were given on the command line, by name."""
    if written["share"] is not None and groups > 2:
        raise InvalidInput(
            "--share is for two groups; more have equal sizes", written["share"], "leave it out"
        )
    return {name: Range.read(text, name) for name, text in written.items() if text is not None}


def _note_few_questions(bill: Forecast) -> None:
    """Say so if there are fewer questions than are usually useful."""
    unknown = bill.unknown
    usual = bill.told.useful or default_useful(bill.method, 10**6, unknown.groups)
    if unknown.useful != usual:
        note(
            f"There are few questions: {unknown.useful} of them, not {usual}, are taken to"
            " be useful. Pass --useful if you know better."
        )


def _price_of_a_call(tokens: str | None, token_price: str | None) -> float:
    """What a call to a language model costs, from its tokens and their prices.

    >>> _price_of_a_call("400:10", "0.15:0.60")
    6.6e-05
    """
    try:
        (given, made), (of_given, of_made) = (
            [float(part) for part in (text or "").split(":")] for text in (tokens, token_price)
        )
        price = (given * of_given + made * of_made) / 1e6
    except ValueError:
        price = math.nan
    if not (math.isfinite(price) and price >= 0):
        raise InvalidInput(
            "--tokens and --token-price must both be two numbers, of what goes in and comes out",
            f"{tokens} and {token_price}",
            "write --tokens 400:10 --token-price 0.15:0.60",
        )
    return price


def _kind(noise: str, sigma: float) -> AnswerKind:
    """Answers whose gap is in the units of ``simulate``: of a scale's width."""
    match noise:
        case "yes-no":
            return YesNo()
        case "scale":
            return Scale(0, 1)
        case "gaussian":
            return Number(sigma)
        case _:
            raise InvalidInput(f"noise must be one of {', '.join(NOISES)}", noise, "choose one")


def _print_bill(bill: Forecast, error: str) -> None:
    unknown = bill.unknown
    groups = f"small group {unknown.share}" if unknown.groups == 2 else f"{unknown.groups} groups"
    spread = f", spread {unknown.spread:g}" if unknown.spread else ""
    told = f", {bill.told}" if str(bill.told) else ""
    promise = f"all labels given are right with probability {1 - bill.delta:g} or more"
    if error == "share":
        promise = f"a share of {bill.delta:g} of the labels wrong at most, on average"
    report.print(
        f"[bold]{unknown.items} items, {unknown.questions} questions[/bold]"
        f" ({unknown.noise} answers), method {bill.method}: gap {unknown.gap}, {groups},"
        f" useful questions {unknown.useful}{spread}{told}; {promise}"
    )
    report.print(_table(bill))
    if bill.cap is not None:
        report.print(f"Chance to stay under {bill.cap:,} answers: {bill.chance_under_cap:.0%}")
    report.print(f"On average {bill.decided:.1%} of the items get a label.")
    if bill.no_consensus:
        report.print(f"{bill.no_consensus:.1%} of the campaigns find no split.")
    hardest = unknown.hardest()
    few = "" if bill.runs >= _FEWEST_FOR_90 else " (too few to say what nine in ten stay under)"
    small = f" small group {hardest.balance:g}," if unknown.groups == 2 else ""
    report.print(
        f"[dim]Hardest corner: gap {hardest.gap:g},{small}"
        f" {hardest.useful} useful. From {bill.runs} simulated campaigns{few}, unknowns uniform on"
        " a log scale within their ranges.[/dim]"
    )


def _table(bill: Forecast) -> Table:
    table = Table("", "answers", "money")
    for column in table.columns[1:]:
        column.justify = "right"

    def row(name: str, answers: float) -> None:
        table.add_row(name, f"{answers:,.0f}", money(answers * bill.price))

    row("half of all campaigns stay under", bill.median)
    if bill.runs >= _FEWEST_FOR_90:
        row("90 % stay under", bill.q90)
        row("in the hardest corner, 90 % stay under", bill.hardest_q90)
    table.add_section()
    for phase, answers in bill.by_phase.items():
        row(f"mean for the phase '{phase}'", answers)
    table.add_section()
    if bill.least is not None:
        row("no method can do with less on average (mid-range)", bill.least)
    row(f"asking everything {bill.repeats} times, no promise", bill.everything)
    return table


def _draw(path: Path, unknown: Unknown, simulation: Simulation) -> None:
    """Answers against the gap: lines for medians, dotted lines for what 90 % of runs stay under."""
    import matplotlib.pyplot as plt  # an extra, which takes long to import

    curves = forecast_curves(unknown, simulation, runs=CURVE_RUNS)
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    colours = ("#0072B2", "#D55E00", "#009E73")
    for (share, points), colour in zip(curves.items(), colours, strict=False):
        gaps, medians, high = zip(*points, strict=True)
        axes.plot(gaps, medians, "o-", color=colour, label=f"small group {share:.0%}")
        axes.plot(gaps, high, ":", color=colour, linewidth=1.3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.set_minor_formatter(lambda value, _: f"{value:,g}")
    sizes = f"{unknown.items} items, {unknown.questions} questions"
    caption = f"{sizes}, method {simulation.method}, delta {simulation.delta:g}"
    axes.set_xlabel(f"gap on the useful questions\n{caption}")
    axes.set_ylabel("answers (line: median, dotted: 90 % stay under)")
    axes.set_title("What a campaign will ask", loc="left")
    axes.grid(color="0.92", which="both")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right")  # answers fall with the gap: free there
    figure.savefig(path, dpi=150)
    plt.close(figure)
    note(f"Figure saved as {path}")
