"""``askfew bounds``: the bounds of the theory as numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from rich.table import Table

from askfew import theory
from askfew.cli import options
from askfew.cli.output import print_json, report
from askfew.planning.theory_params import (
    divergence_of,
    information_of,
    mixes_of,
    share_of,
    sigma_of,
)
from askfew.simulation import Instance
from askfew.theory import Bound, Mix
from askfew.theory.bound import check_delta, check_items

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
    groups: options.Groups = 2,
    delta: options.Delta = 0.05,
    json: options.AsJson = False,
) -> None:
    """Compute what any method needs at least, and the paper's method at most, on a problem."""
    check_items(items)
    check_delta(delta)
    instance = Instance(items, questions, useful, gap, noise, sigma, balance, decay, groups)
    if groups == 2:
        facts, found = _facts(instance), _bounds(instance, delta)
    else:
        worlds = mixes_of(instance)
        facts, found = _facts_of_groups(worlds), _bounds_of_groups(items, worlds, delta)
    if json:
        # JSON has no infinity: the divergence is null where one answer can be proof.
        finite = {name: fact if math.isfinite(fact) else None for name, fact in facts.items()}
        head = {"instance": instance.to_dict(), "delta": delta}
        print_json({**head, **finite, "bounds": [bound.to_dict() for bound in found]})
    else:
        _print_table(instance, delta, found)
        report.print(_in_words(facts) if groups == 2 else _in_words_of_groups(facts))


def _facts(instance: Instance) -> dict[str, float]:
    """The quantities of the paper for this problem."""
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
        *_without_location(instance, delta),
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


def _without_location(instance: Instance, delta: float) -> list[Bound]:
    """The bounds for an unknown location, which are proven for normal answers only."""
    if instance.noise != "gaussian":
        return []
    problem = (instance.items, instance.gap, delta, instance.sigma)
    return [theory.told_gap_mean(*problem), theory.untold_gap_mean(*problem)]


def _facts_of_groups(worlds: Sequence[Sequence[Mix]]) -> dict[str, float]:
    """The solution of the max-min program, averaged over worlds."""
    mixes = [mix for world in worlds for mix in world]
    used = [{question for mix in world for question in mix.weights} for world in worlds]
    return {
        "rate": float(np.mean([mix.rate for mix in mixes])),
        "questions_a_group": float(np.mean([len(mix.weights) for mix in mixes])),
        "questions_in_all": float(np.mean([len(questions) for questions in used])),
        "pairs_of_groups": math.comb(len(worlds[0]), 2),
    }


def _bounds_of_groups(items: int, worlds: Sequence[Sequence[Mix]], delta: float) -> list[Bound]:
    """The bounds, averaged over worlds: which side of a question a group lies on is random."""
    found = []
    for bound in (theory.groups_mean, theory.groups_forecast):
        each = [bound(items, world, delta) for world in worlds]
        said = next((one for one in each if not one.void), each[0])
        found.append(replace(said, value=float(np.mean([one.value for one in each]))))
    return found


def _print_table(instance: Instance, delta: float, found: list[Bound]) -> None:
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


def _in_words(facts: dict[str, float]) -> str:
    return (
        f"theta {facts['theta']:.4g}, |Delta|^2 {facts['norm_squared']:.4g},"
        f" s* {facts['effective_sparsity']}, H {facts['complexity']:,.4g};"
        f" D {facts['divergence']:.4g}, the most one answer tells of an item's group."
    )


def _in_words_of_groups(facts: dict[str, float]) -> str:
    return (
        f"Best mix of questions: {facts['rate']:.4g} nats per answer against the group that is"
        f" hardest to exclude; {facts['questions_a_group']:.1f} questions for a group and"
        f" {facts['questions_in_all']:.1f} for all, where there are {facts['pairs_of_groups']}"
        " pairs of groups. Averaged over worlds."
    )


def _number(bound: Bound) -> str:
    if bound.unit == "share":
        return f"{bound.value:.3g}"
    return f"{bound.value:,.1f}" if bound.value < 1e7 else f"{bound.value:.2e}"
