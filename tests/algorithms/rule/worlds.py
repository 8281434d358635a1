"""Small worlds, and a referee who knows the truth, for the tests of the method rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from askfew.algorithms import start
from askfew.driver import RunEnd, run
from askfew.records import Batch, Finding, Floats, Ints, Oracle, Tally
from askfew.rule import Node, Rule


def play(
    oracle: Oracle, seed: int = 0, cap: int | None = None, delta: float = 0.1, **options: Any
) -> RunEnd[Finding]:
    """One run of the method through the real driver."""
    rng = np.random.default_rng([seed, 5])
    return run(start("rule", oracle.problem, rng, delta=delta, **options), oracle, max_answers=cap)


def found(ended: RunEnd[Finding]) -> Finding:
    assert ended.result is not None
    return ended.result


def committee(questions: int, cut: float = 0.5, level: float | None = None) -> Rule:
    """Equal questions with one cut."""
    levels = None if level is None else (-level, level)
    places = tuple(range(questions))
    node = Node(places, (1.0,) * questions, (cut,) * questions, (0,), (1,), levels)
    return Rule(places, node)


def wrong(rule: Rule, labels: Ints, means: Floats, margin: float = 0.5) -> np.ndarray:
    """Which labels are false about the rule; an item on a line is right either way."""
    bad = np.zeros(len(labels), dtype=bool)

    def walk(at: Node | tuple[int, ...]) -> set[int]:
        """The groups below; on the way, marks labels on the wrong side of a node."""
        if not isinstance(at, Node):
            return set(at)
        low, high = walk(at.low), walk(at.high)
        scores = at.scores(means[:, np.array(rule.questions, dtype=np.int64)])
        below, above = at.lines(margin)
        bad[np.isin(labels, list(low)) & (scores > below + 1e-12)] = True
        bad[np.isin(labels, list(high)) & (scores < above - 1e-12)] = True
        return low | high

    walk(rule.root)
    return bad


class Skipping:
    """An oracle some of whose answers never come."""

    def __init__(self, oracle: Oracle, skips: Callable[[Batch, Tally], np.ndarray]) -> None:
        self.problem = oracle.problem
        self._oracle, self._skips = oracle, skips

    def __call__(self, batch: Batch, /) -> Tally:
        tally = self._oracle(batch)
        gone = self._skips(batch, tally)
        return Tally(np.where(gone, 0, tally.counts), np.where(gone, 0.0, tally.sums))


def at_random(share: float, seed: int) -> Callable[[Batch, Tally], np.ndarray]:
    """Skips that know nothing of the answer."""
    rng = np.random.default_rng([seed, 6])
    return lambda batch, _: rng.random(len(batch)) < share


def split_world(
    seed: int, items: int = 100, questions: int = 20, useful: int = 8, spread: float = 0.14
) -> tuple[Floats, Ints]:
    """Two groups that differ by .7 on some questions, and items that differ within groups."""
    rng = np.random.default_rng([seed, 77])
    groups = rng.permutation(np.arange(items) % 2)
    means = np.full((items, questions), 0.5)
    signs = rng.choice([-1.0, 1.0], useful)
    level = 0.5 + 0.35 * signs * (2 * groups[:, np.newaxis] - 1)
    noise = 0.7 * spread * rng.standard_normal((items, useful))
    means[:, rng.permutation(questions)[:useful]] = np.clip(level + noise, 0, 1)
    return means, groups
