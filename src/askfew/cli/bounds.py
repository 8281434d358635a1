"""``askfew bounds``: the theory, as numbers."""

from __future__ import annotations

import math

from rich.table import Table

from askfew import theory
from askfew.cli import options
from askfew.cli.output import print_json, report
from askfew.planning.letters import divergence_of, information_of, share_of, sigma_of
from askfew.simulation import Instance
from askfew.theory import Bound
from askfew.theory.checks import check_delta, check_items

__all__ = ["bounds"]

_SIGNS: dict[theory.Kind, str] = {
    "lower": "at least",
    "upper": "at most",
    "shape": "C times",
    "forecast": "about",
}


def bounds(
    items: options.Items,
    questions: options.Questions,
    useful: options.Useful,
    gap: options.Gap,
    noise: options.Noise = "gaussian",
    sigma: options.Sigma = 1.0,
    balance: options.Balance = 0.5,
    decay: options.Decay = 0.0,
    delta: options.Delta = 0.05,
    json: options.AsJson = False,
) -> None:
    """What any method must pay, and what the paper's method may, on the problems of simulate."""
    check_items(items)
    check_delta(delta)
    instance = Instance(items, questions, useful, gap, noise, sigma, balance, decay)
    facts, found = _facts(instance), _bounds(instance, delta)
    if json:
        # JSON has no infinity: the divergence is null where one answer can be proof.
        finite = {name: fact if math.isfinite(fact) else None for name, fact in facts.items()}
        head = {"instance": instance.to_dict(), "delta": delta}
        print_json({**head, **finite, "bounds": [bound.to_dict() for bound in found]})
    else:
        _print_table(instance, delta, facts, found)


def _facts(instance: Instance) -> dict[str, float]:
    """The paper's letters for this problem."""
    gaps, share = instance.ordered_gaps, share_of(instance)
    return {
        "theta": min(share, 1 - share),
        "largest_gap": float(theory.ordered_gaps(gaps)[0]),
        "norm_squared": theory.norm_squared(gaps),
        "effective_sparsity": theory.effective_sparsity(gaps),
        "complexity": theory.complexity(gaps, instance.items, share, sigma_of(instance)),
        "divergence": divergence_of(instance),
    }


def _bounds(instance: Instance, delta: float) -> list[Bound]:
    n, gaps, share = instance.items, instance.ordered_gaps, share_of(instance)
    divergence, sigma = divergence_of(instance), sigma_of(instance)
    problem = (gaps, n, share, delta, sigma)
    return [
        theory.labelling_mean(n, divergence, delta),
        theory.labelling_quantile(n, divergence, delta),
        theory.flipping_mean(n, divergence, delta),
        theory.flipping_quantile(n, divergence, delta),
        theory.finding_quantile(n, information_of(instance), delta),
        theory.everyone_asked(n, delta),
        theory.never_asked(n, delta),
        theory.random_pairs(n, instance.questions, instance.useful, share),
        theory.theorem_3_1(*problem, logarithms=False),
        theory.theorem_3_1(*problem),
        theory.corollary_3_2(*problem),
    ]


def _print_table(
    instance: Instance, delta: float, facts: dict[str, float], found: list[Bound]
) -> None:
    table = Table(title=f"{instance}, delta {delta:g}", title_justify="left")
    table.add_column("bound", max_width=15)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("of what, and when")
    for bound, following in zip(found, [*found[1:], None], strict=True):
        table.add_row(
            bound.name,
            "void" if bound.void else f"{_SIGNS[bound.kind]} {_number(bound)}",
            f"{bound.of}\n[dim]{bound.void or bound.when}[/dim]",
            end_section=following is None or following.kind != bound.kind,
        )
    report.print(table)
    report.print(
        f"theta {facts['theta']:.4g}, |Delta|^2 {facts['norm_squared']:.4g},"
        f" s* {facts['effective_sparsity']}, H {facts['complexity']:,.4g};"
        f" D {facts['divergence']:.4g}, the most one answer tells of an item's group."
    )


def _number(bound: Bound) -> str:
    if bound.unit == "share":
        return f"{bound.value:.3g}"
    return f"{bound.value:,.1f}" if bound.value < 1e7 else f"{bound.value:.2e}"
