"""What the method rule costs and decides: ``python benchmarks/rule.py [section ...]``.

Sections: synthetic, refusals, numbers (of groups). Prints Markdown; ``benchmarks/rule.md`` is the
last result. Real data: ``askfew bench --suite real``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from askfew import oracles
from askfew.algorithms import start
from askfew.driver import run
from askfew.records import Finding, Floats, Ints, Oracle

DELTA = 0.05


@dataclass(frozen=True, eq=False)
class World:
    """Cell means and classes."""

    means: Floats
    classes: Ints

    def oracle(self, seed: int) -> Oracle:
        """A crowd that answers yes with the cell's mean."""
        return oracles.bernoulli(self.means, rng=seed)


@dataclass(frozen=True, eq=False)
class Result:
    """One run, seen by a referee."""

    status: str
    answers: int
    learning: int
    labels: Ints
    told: Ints
    wrong: int
    """Certified labels on the wrong side of the rule."""
    leaves: int
    classes: Ints

    @property
    def certified(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Items with a certified label."""
        return (self.labels >= 0) & (self.told < 0)

    @property
    def decided(self) -> float:
        """Their share of all items that were not told."""
        return float(self.certified.sum() / (self.told < 0).sum())


def try_rule(world: World, seed: int, anchors: int = 0, **options: Any) -> Result:
    """One run of the method; with ``anchors`` random known items of every class."""
    for_choice, for_answers, for_method = np.random.SeedSequence(seed).spawn(3)
    oracle = world.oracle(int(for_answers.generate_state(1)[0]))
    if anchors:
        rng = np.random.default_rng(for_choice)
        options["anchors"] = {
            int(item): int(group)
            for group in np.unique(world.classes)
            for item in _some(np.flatnonzero(world.classes == group), anchors, rng)
        }
        options["groups"] = len(np.unique(world.classes))
    method = np.random.default_rng(for_method)
    ended = run(start("rule", oracle.problem, method, delta=DELTA, **options), oracle)
    finding = ended.result
    assert isinstance(finding, Finding)
    assert finding.told is not None
    wrong, leaves = 0, 0
    if finding.rule is not None:
        leaves = len(finding.rule.leaves)
        truth = finding.rule.apply(world.means[:, np.array(finding.rule.questions)])
        certified = (finding.labels >= 0) & (finding.told < 0)
        # An item exactly on a cut is right either way.
        wrong = int((certified & (truth >= 0) & (truth != finding.labels)).sum())
    learning = ended.meter.by_phase.get("learn", 0)
    answers = ended.meter.answers
    status = finding.status
    return Result(
        status, answers, learning, finding.labels, finding.told, wrong, leaves, world.classes
    )


def _some(items: Ints, most: int, rng: np.random.Generator) -> Ints:
    return rng.permutation(items)[: min(most, max(1, len(items) // 2))]


# Worlds


def synthetic(
    seed: int,
    items: int = 100,
    questions: int = 20,
    useful: int = 8,
    gap: float = 0.7,
    spread: float = 0.14,
    groups: int = 2,
) -> World:
    """Groups that differ on some questions, items that differ within groups."""
    rng = np.random.default_rng([seed, 77])
    classes = rng.permutation(np.arange(items) % groups)
    means = np.full((items, questions), 0.5)
    columns = rng.permutation(questions)[:useful]
    sides = np.zeros((groups, useful))
    while not _tells_all_apart(sides):
        sides = rng.integers(2, size=(groups, useful)).astype(float)
    level = 0.5 + gap * (sides[classes] - 0.5)
    noise = spread * gap * rng.standard_normal((items, useful))
    means[:, columns] = np.clip(level + noise, 0, 1)
    return World(means, classes)


def _tells_all_apart(sides: Floats) -> bool:
    splits = (sides.min(axis=0) < sides.max(axis=0)).all()
    return bool(splits) and len(np.unique(sides, axis=0)) == len(sides)


def independent(seed: int, items: int = 100, questions: int = 20) -> World:
    """Every question is its own split."""
    rng = np.random.default_rng([seed, 78])
    means = np.where(rng.random((items, questions)) < 0.5, 0.9, 0.1)
    return World(means, (means[:, 0] > 0.5).astype(np.int64))


def lone(seed: int) -> World:
    """One question splits the items; the others say nothing."""
    rng = np.random.default_rng([seed, 79])
    means = np.full((100, 20), 0.5)
    means[:, 3] = np.where(rng.random(100) < 0.5, 0.9, 0.1)
    return World(means, (means[:, 3] > 0.5).astype(np.int64))


def duplicated(seed: int) -> World:
    """Independent questions, one of which is asked twice, the other way round."""
    world = independent(seed)
    world.means[:, 1] = 1 - world.means[:, 0]
    return world


def flat(seed: int) -> World:  # noqa: ARG001
    """No question says anything."""
    return World(np.full((100, 20), 0.5), np.arange(100) % 2)


# Tables


def _runs(make: Callable[[int], World], seeds: range, **options: Any) -> list[Result]:
    def one(seed: int) -> Result:
        return try_rule(make(seed), seed, **options)

    return list(Parallel(n_jobs=-1)(delayed(one)(seed) for seed in seeds))


def _row(name: str, results: list[Result]) -> str:
    answers = np.array([each.answers for each in results])
    runs_wrong = sum(each.wrong > 0 for each in results)
    ended = {each.status for each in results}
    return (
        f"| {name} | {answers.mean():,.0f} | {np.mean([r.learning for r in results]):,.0f}"
        f" | {np.mean([r.decided for r in results]):.3f} | {runs_wrong} of {len(results)}"
        f" | {', '.join(f'{s} {sum(r.status == s for r in results)}' for s in sorted(ended))} |"
    )


def print_synthetic(seeds: range) -> None:
    """What issue and design ask for, on worlds whose truth is known."""
    print("| synthetic, yes/no | answers | learning | decided | runs with a wrong label | ended |")
    print("|---|---|---|---|---|---|")
    base = partial(synthetic)
    share: dict[str, Any] = {"error": "share"}
    print(_row("8 of 20 useful, spread .14, any", _runs(base, seeds)), flush=True)
    print(_row("the same, share", _runs(base, seeds, **share)), flush=True)
    print(
        _row("the same, share, per_cell 12", _runs(base, seeds, per_cell=12, **share)), flush=True
    )
    few = partial(synthetic, useful=3, spread=0.0)
    print(_row("3 useful, 3 anchors, share", _runs(few, seeds, anchors=3, **share)), flush=True)
    for groups in (3, 5):
        many = partial(synthetic, items=200, questions=40, useful=16, groups=groups)
        named = f"{groups} groups, 200 items, 16 of 40"
        print(_row(f"{named}, share", _runs(many, seeds, groups=groups, **share)), flush=True)


def print_refusals(seeds: range) -> None:
    """Worlds without a split."""
    print("\n| no split | answers to find out | no-consensus |\n|---|---|---|")
    for make in (independent, lone, duplicated, flat):
        results = _runs(make, seeds)
        refused = sum(each.status == "no-consensus" for each in results)
        answers = np.mean([each.answers for each in results])
        print(f"| {make.__name__} | {answers:,.0f} | {refused} of {len(results)} |", flush=True)


def print_numbers(seeds: range) -> None:
    """groups="auto" on planted numbers of groups."""
    print("\n| planted groups | found (auto) | answers |\n|---|---|---|")
    for groups in (2, 3, 4, 5):
        make = partial(synthetic, items=200, questions=40, useful=16, spread=0.0, groups=groups)
        results = _runs(make, seeds, groups="auto", error="share")
        found = [each.leaves for each in results]
        counts = ", ".join(f"{k}: {found.count(k)}" for k in sorted(set(found)))
        answers = np.mean([each.answers for each in results])
        print(f"| {groups} | {counts} | {answers:,.0f} |", flush=True)


def main() -> None:
    """Print the sections asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=["synthetic", "refusals", "numbers"])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    began = time.perf_counter()
    seeds = range(given.first, given.first + given.runs)
    if "synthetic" in given.sections:
        print_synthetic(seeds)
    if "refusals" in given.sections:
        print_refusals(seeds)
    if "numbers" in given.sections:
        print_numbers(seeds)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
