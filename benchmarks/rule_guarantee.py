"""Are labels right about their rule where it is hardest? Error rates of the method rule.

    OPENBLAS_NUM_THREADS=1 python benchmarks/rule_guarantee.py [--runs 2000] [--seed 0] [--jobs -1]

Any error: the share of runs with a wrong label, whose 95 % Clopper-Pearson interval must end at
delta or below. Share of errors: the mean share of wrong labels in a run (0 where there is none),
whose 95 % normal interval must. An item exactly on a line is right either way, so items lie a hair
beyond it. The last result is kept in benchmarks/rule_guarantee.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import beta

from askfew import oracles
from askfew.algorithms import start
from askfew.driver import run
from askfew.records import Batch, Finding, Floats, Oracle, Tally
from askfew.rule import Node, Rule
from askfew.simulation.referee import wrong_about

DELTAS = (0.1, 0.05)
HAIR = 0.002


@dataclass(frozen=True, eq=False)
class World:
    """Mean answers (items x questions), who answers, and what the method is told."""

    means: Floats
    oracle: Callable[..., Oracle] = oracles.bernoulli
    options: dict[str, Any] = field(default_factory=dict)
    skips: float = 0.0


class Skipping:
    """An oracle that leaves answers out, whatever they would be."""

    def __init__(self, oracle: Oracle, share: float, rng: np.random.Generator) -> None:
        self.problem = oracle.problem
        self._oracle, self._share, self._rng = oracle, share, rng

    def __call__(self, batch: Batch, /) -> Tally:
        """What came."""
        tally = self._oracle(batch)
        came = self._rng.random(len(batch)) >= self._share
        return Tally(tally.counts * came, tally.sums * came)


def committee(questions: int, cut: float = 0.5, level: float | None = None) -> Rule:
    """Equal questions with one cut."""
    places = tuple(range(questions))
    levels = None if level is None else (-level, level)
    node = Node(places, (1.0,) * questions, (cut,) * questions, (0,), (1,), levels)
    return Rule(places, node)


TREE = Rule(
    (0, 1),
    Node((0,), (1.0,), (0.5,), (0,), Node((1,), (-1.0,), (0.4,), (1,), (2,))),
    ("a", "b", "c"),
)


def on_the_cut(rng: np.random.Generator) -> World:  # noqa: ARG001
    """All items a hair below the one cut."""
    return World(np.full((5, 1), 0.5 - HAIR), options={"given": Rule.cut(0, 0.5), "limit": 40})


def rare(rng: np.random.Generator) -> World:  # noqa: ARG001
    """Few say yes, and the cut is a hair above them."""
    return World(np.full((5, 1), 0.05 - HAIR), options={"given": Rule.cut(0, 0.05), "limit": 40})


def mixtures(rng: np.random.Generator) -> World:
    """Cells that all or none say yes to, one in between: a hair below the cut on average."""
    means = np.tile([0.0, 1.0, 0.5 - 3 * HAIR], (5, 1))
    return World(rng.permuted(means, axis=1), options={"given": committee(3), "limit": 45})


def whole_committee(rng: np.random.Generator) -> World:  # noqa: ARG001
    """Four questions, all a hair below."""
    return World(np.full((5, 4), 0.5 - HAIR), options={"given": committee(4), "limit": 60})


def tree(rng: np.random.Generator) -> World:
    """Three groups, each item at one of the tree's cuts."""
    means = np.where(rng.random((5, 1)) < 0.5, [0.5 - HAIR, 0.4 - HAIR], [0.9, 0.4 - HAIR])
    return World(means, options={"given": TREE, "limit": 60})


def graded(rng: np.random.Generator) -> World:  # noqa: ARG001
    """A scale from 1 to 5, a hair below a cut of 2."""
    means = np.full((5, 1), 2.0 - HAIR)
    five = partial(oracles.scale, low=1, high=5)
    return World(means, five, {"given": Rule.cut(0, 2.0), "limit": 40})


def numbers(rng: np.random.Generator) -> World:  # noqa: ARG001
    """Numbers with a sigma of 2, a hair below 0 on two questions."""
    normal = partial(oracles.gaussian, sigma=2.0)
    return World(np.full((5, 2), -HAIR), normal, {"given": committee(2, 0.0), "limit": 60})


def margin(rng: np.random.Generator) -> World:  # noqa: ARG001
    """A margin of a quarter, items a hair below its lower line."""
    given = committee(2, level=0.35)
    means = np.full((5, 2), 0.325 - HAIR)
    return World(means, options={"given": given, "margin": 0.25, "limit": 60})


def skipping(rng: np.random.Generator) -> World:  # noqa: ARG001
    """Three questions, one answer in five missing, ten answers a cell at most."""
    options = {"given": committee(3), "per_cell": 10}
    return World(np.full((5, 3), 0.5 - HAIR), options=options, skips=0.2)


def learnt(rng: np.random.Generator) -> World:
    """The rule is learnt from the same items; they spread as far as the groups differ."""
    side = 2 * (np.arange(16) % 2) - 1
    means = 0.5 + 0.35 * side[:, np.newaxis] + 0.15 * rng.standard_normal((16, 6))
    return World(np.clip(means, 0, 1), options={"limit": 40})


def crowded(rng: np.random.Generator) -> World:
    """Seven of ten items within .02 of the cut, the others clear."""
    near = 0.5 - rng.uniform(0, 0.02, 20)
    clear = np.where(rng.random(20) < 0.5, 0.02, 0.98)
    means = np.where(rng.random(20) < 0.7, near, clear)[:, np.newaxis]
    return World(means, options={"given": Rule.cut(0, 0.5), "limit": 40})


INSTANCES: dict[str, Callable[[np.random.Generator], World]] = {
    "a hair below the cut": on_the_cut,
    "few say yes": rare,
    "0 and 1 cells that average to the cut": mixtures,
    "four questions": whole_committee,
    "tree, three groups": tree,
    "scale": graded,
    "numbers": numbers,
    "margin .25, at its line": margin,
    "skips": skipping,
    "70 % within .02 of the cut": crowded,
    "learnt": learnt,
}

ERRORS = {"70 % within .02 of the cut": ("share",), "learnt": ("share",)}
"""Where it is not any error that is bounded."""


def one_run(name: str, error: str, delta: float, seed: tuple[int, ...]) -> tuple[int, int, int]:
    """Wrong labels, labels and answers of one run."""
    for_world, for_answers, for_skips, for_method = (
        np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(4)
    )
    world = INSTANCES[name](for_world)
    oracle = world.oracle(world.means, rng=for_answers)
    if world.skips:
        oracle = Skipping(oracle, world.skips, for_skips)
    procedure = start("rule", oracle.problem, for_method, delta=delta, error=error, **world.options)
    ended = run(procedure, oracle)
    finding = ended.result
    assert isinstance(finding, Finding)
    if finding.rule is None:
        return 0, 0, ended.meter.answers
    means = world.means[:, finding.rule.places(range(world.means.shape[1]))]
    margin = world.options.get("margin", 0.5)
    bad = int(wrong_about(finding.rule, margin, finding.labels, means).sum())
    return bad, int((finding.labels >= 0).sum()), ended.meter.answers


def print_row(name: str, error: str, delta: float, runs: int, seed: int, jobs: int) -> None:
    """One instance, with its interval."""
    number = list(INSTANCES).index(name)
    seeds = [(seed, number, int(error == "share"), each) for each in range(runs)]
    done = np.array(
        Parallel(n_jobs=jobs, batch_size=20)(
            delayed(one_run)(name, error, delta, each) for each in seeds
        )
    )
    bad, labels, answers = done.T
    if error == "any":
        errors = int((bad > 0).sum())
        rate = errors / runs
        low = beta.ppf(0.025, errors, runs - errors + 1) if errors else 0.0
        high = beta.ppf(0.975, errors + 1, runs - errors) if errors < runs else 1.0
        said = f"{errors} of {runs} runs"
    else:
        shares = bad / np.maximum(labels, 1)
        rate = float(shares.mean())
        spread = 1.96 * float(shares.std()) / np.sqrt(runs)
        low, high = max(rate - spread, 0.0), rate + spread
        said = f"{bad.sum():,} of {labels.sum():,} labels"
    verdict = "ok" if high <= delta else "TOO MANY" if low > delta else "not clear"
    print(
        f"| {name} | {error} | {delta} | {said} | {rate:.2%} | {low:.2%} to {high:.2%}"
        f" | {answers.mean():,.0f} | {verdict} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    given = parser.parse_args()
    began = time.perf_counter()
    print(f"`python benchmarks/rule_guarantee.py --runs {given.runs} --seed {given.seed}`\n")
    print("| instance | error | delta | wrong | rate | 95 % interval | mean answers | |")
    print("|---|---|---|---|---|---|---|---|")
    for name in INSTANCES:
        for error in ERRORS.get(name, ("any",)):
            for delta in DELTAS:
                print_row(name, error, delta, given.runs, given.seed, given.jobs)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
