"""Small worlds with three groups, and runs on them."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.method import by_exclusion
from askfew.driver import RunEnd, run
from askfew.log import Log
from askfew.records import Finding, Ints, Oracle
from askfew.simulation import Instance, World

DELTA = 0.1
SMALL = Instance(items=12, questions=6, useful=3, gap=0.7, noise="yes-no", groups=3)
NUMBERS = Instance(items=15, questions=8, useful=4, gap=2.5, noise="gaussian", groups=3)
SCALE = Instance(items=15, questions=8, useful=4, gap=0.8, noise="scale", groups=3)


def draw(instance: Instance, seed: int) -> World:
    return instance.draw(np.random.SeedSequence([seed, 1]))


def play(
    oracle: Oracle,
    seed: int = 0,
    delta: float = DELTA,
    groups: int | str = 3,
    cap: int = 50_000,
    log: Log | None = None,
) -> RunEnd[Finding]:
    rng = np.random.default_rng([seed, 7])
    procedure = by_exclusion(oracle.problem, delta, rng, groups=groups)  # type: ignore[arg-type]
    return run(procedure, oracle, max_answers=cap, log=log)


def right(ended: RunEnd[Finding], truth: Ints) -> bool:
    """Whether no two labelled items are wrongly together or wrongly apart."""
    assert ended.result is not None
    decided = ended.result.labels >= 0
    labels, planted = ended.result.labels[decided], truth[decided]
    pairs = np.unique(np.stack([labels, planted]), axis=1).shape[1]
    return bool(pairs == len(np.unique(labels)) == len(np.unique(planted)))
