"""Are guesses as good as they say: ``python -m benchmarks.guesses [--runs 20]``.

Worlds of ``benchmarks/rule.py`` and ten digits, ended in every way there is. Prints Markdown;
``benchmarks/guesses.md`` is the last result. ``--real`` measures items that a rule with anchors
leaves undecided, on real tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.rule import World, duplicated, independent, lone, synthetic
from scipy.optimize import linear_sum_assignment

import askfew
from askfew.experiments.real_worlds import RealWorld, packaged_worlds, worlds_in
from askfew.records import Floats, Ints


def digits(_: int) -> World:
    """Ten digits by 64 pixels."""
    world = next(each for each in packaged_worlds() if each.groups == 10)
    return World(world.means, world.classes)


ROWS: list[tuple[str, Callable[[int], World], dict[str, object]]] = [
    ("8 of 20 useful, spread .14", synthetic, {}),
    ("the same, 1,500 answers at most", synthetic, {"max_answers": 1500}),
    ("the same, 700 answers at most", synthetic, {"max_answers": 700}),
    ("the same, 1,000 answers at most", synthetic, {"max_answers": 1000}),
    (
        "3 groups, 16 of 40 useful, 2,000 answers at most",
        partial(synthetic, items=200, questions=40, useful=16, groups=3),
        {"groups": 3, "max_answers": 2000},
    ),
    ("every question its own split", independent, {}),
    ("one question splits", lone, {}),
    ("the same, asked twice", duplicated, {}),
    ("ten digits", digits, {"groups": 10}),
]


def measure(make: Callable[[int], World], runs: int, options: dict[str, object]) -> str:
    """How runs ended, and what guesses without a certificate say and are worth."""
    endings: list[str] = []
    stated, right = [], []
    for seed in range(runs):
        world = make(seed)
        crowd = askfew.oracles.bernoulli(world.means, rng=seed)
        result = askfew.cluster(crowd, method="rule", error="share", rng=seed, **options)  # type: ignore[arg-type]
        endings.append(result.status)
        guessed = result.labels < 0
        stated.append(result.confidence[guessed])
        right.append(_agree(result.guesses, world.classes)[guessed])
    said = _compared(np.concatenate(stated), np.concatenate(right))
    return f"{_counted(endings)} | {said}"


def measure_undecided(world: RealWorld, each: int, runs: int) -> str:
    """What guesses of undecided items say and are worth, with ``each`` anchors of every class."""
    stated, right = [], []
    for seed in range(runs):
        answers, anchors = np.random.SeedSequence(seed).spawn(2)
        known = _anchors(world.classes, each, np.random.default_rng(anchors))
        result = askfew.cluster(
            world.draw(answers).oracle,
            method="rule",
            groups=world.groups,
            error="share",
            anchors=known,
            per_cell=world.per_cell,
            rng=seed,
        )
        guessed = result.labels < 0
        stated.append(result.confidence[guessed])
        right.append((result.guesses == world.classes)[guessed].astype(np.float64))
    return _compared(np.concatenate(stated), np.concatenate(right))


def _anchors(classes: Ints, each: int, rng: np.random.Generator) -> dict[int, int]:
    """So many items of each class, but at most half of the class."""
    members = [rng.permutation(np.flatnonzero(classes == group)) for group in np.unique(classes)]
    return {
        int(item): group
        for group, items in enumerate(members)
        for item in items[: min(each, max(1, len(items) // 2))]
    }


def _compared(sure: Floats, true: Floats) -> str:
    """How many guesses, what they state, how many are right, and the worst fifth."""
    if not len(sure):
        return "0 | - | - | -"
    order = np.array_split(np.argsort(sure, kind="stable"), 5)
    worst = max((sure[part].mean() - true[part].mean() for part in order), key=abs)
    return f"{len(sure):,} | {sure.mean():.2f} | {true.mean():.2f} | {worst:+.2f}"


def _agree(guesses: Ints, classes: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Which guesses agree with the classes, groups having their best names."""
    together = np.zeros((guesses.max() + 1, classes.max() + 1))
    np.add.at(together, (guesses, classes), 1)
    group, name = linear_sum_assignment(together, maximize=True)
    named = np.full(len(together), -1)
    named[group] = name
    return np.asarray(named[guesses] == classes, dtype=np.float64)


def _counted(endings: list[str]) -> str:
    return ", ".join(f"{each} {endings.count(each)}" for each in sorted(set(endings)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--real", action="store_true", help="only real tables, with anchors")
    parser.add_argument("--data", type=Path, help="a folder of more tables, as of askfew bench")
    told = parser.parse_args()
    if told.real:
        _print_real(told.runs, told.data)
    else:
        _print_all(told.runs)


def _print_all(runs: int) -> None:
    print("| world | ended | guesses | stated | right | worst fifth, stated - right |")
    print("|---|---|---|---|---|---|")
    for name, make, options in ROWS:
        # One table of digits, answered anew: more runs say little, and each takes seconds.
        print(f"| {name} | {measure(make, 2 if make is digits else runs, options)} |", flush=True)


def _print_real(runs: int, folder: Path | None) -> None:
    worlds = [world for world in packaged_worlds() if world.groups < 10]  # ten digits take long
    worlds += [] if folder is None else worlds_in(folder)
    print("| undecided items of | anchors | guesses | stated | right | worst fifth |")
    print("|---|---|---|---|---|---|")
    for world in worlds:
        for each in (3, 10):
            said = measure_undecided(world, each, runs)
            print(f"| {world.name} | {each} | {said} |", flush=True)


if __name__ == "__main__":
    main()
