"""Write the golden logs: ``python tests/replays/record.py [name ...]``.

Only when a claim, a phase's name or what an outcome holds is changed on purpose. Say so in the
CHANGELOG: a log that such a change touches does not replay. A new heuristic needs no new logs,
because they hold the plans of the old one.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import askfew
from askfew import Log, Number, Problem, Scale, YesNo, oracles
from askfew.algorithms import METHODS, takes_budget
from askfew.records import Batch, Ints, Oracle, Tally
from askfew.testing import ForgetfulOracle, two_groups

HERE = Path(__file__).parent

PROBLEMS = {
    "yes-no": Problem(6, 4, YesNo()),
    "scale": Problem(5, 4, Scale(1, 5)),
    "number": Problem(7, 5, Number(2.0)),
}


def settings(method: str, problem: Problem) -> dict[str, Any]:
    """What ``cluster`` is given, apart from who answers."""
    given: dict[str, Any] = {"method": method, "delta": 0.1, "rng": 11}
    given["max_answers"] = 4000 if method == "paper" else 600
    if takes_budget(method):
        given["budget"] = 5 * problem.items * problem.questions
    if method == "told-gap":
        given["gap"] = 1.6 * problem.kind.sigma
    return given


def skipping(step: int, repeats: Ints) -> Ints:
    """Every third row comes short, and every fifth not at all."""
    row = np.arange(len(repeats)) + step
    return np.where(row % 5 == 0, 0, np.where(row % 3 == 0, (repeats + 1) // 2, repeats))


def record(name: str, problem: Problem, oracle: Oracle, **given: Any) -> None:
    """One log, and the outcome it must lead to."""
    log = Log(problem)
    outcome = askfew.cluster(oracle, log=log, **given)
    document = {
        "max_answers": given["max_answers"],
        "log": log.to_dict(),
        "outcome": outcome.to_dict(),
    }
    (HERE / f"{name}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")


def rule_cases() -> dict[str, tuple[Oracle, dict[str, Any]]]:
    """Logs of the method rule that hold every phase: learning, a frozen rule, certifying."""
    given: dict[str, Any] = {"method": "rule", "delta": 0.1, "rng": 11, "max_answers": 20_000}
    share = {**given, "error": "share"}
    some = {**share, "anchors": {0: 0, 2: 0, 1: 1, 3: 1}}
    short = ForgetfulOracle(five_of_eight(3), skipping)
    return {
        "rule-learnt": (five_of_eight(1), share),
        "rule-learnt-any-capped": (five_of_eight(2), {**given, "max_answers": 900}),
        "rule-learnt-skips": (short, share),
        "rule-anchors-per-cell": (five_of_eight(4), {**some, "per_cell": 6}),
        "rule-same": (five_of_eight(5), {**share, "repeats": "same"}),
        "rule-three-groups": (three_groups(6), {**share, "groups": 3}),
    }


def frugal_cases() -> dict[str, tuple[Oracle, dict[str, Any]]]:
    """Logs of the method frugal that hold every phase of its three ways, labels on two questions,
    small and large caps on the answers of a cell, items that may differ, and audits.
    """
    given: dict[str, Any] = {"method": "frugal", "delta": 0.1, "rng": 11, "max_answers": 20_000}
    means = np.zeros((2, 12))
    means[1] = 3.0 / np.sqrt(np.arange(1, 13))
    graded = oracles.gaussian(means, labels=np.arange(40) % 2, rng=2)
    return {
        "frugal-graded": (graded, given),
        "frugal-silent-cell": (_SilentCell(five_of_eight(3)), given),
        "frugal-three-groups": (three_groups(7), {**given, "groups": 3}),
        "frugal-per-cell": (five_of_eight(8), {**given, "per_cell": 40}),
        "frugal-tolerance": (five_of_eight(9), {**given, "tolerance": 0.05}),
        "frugal-groups-auto": (three_groups(10, 18), {**given, "groups": "auto"}),
        "frugal-panel": (five_of_eight(11, 24), {**given, "per_cell": 12}),
        "frugal-panel-three-groups": (
            three_groups(12, 24),
            {**given, "groups": 3, "per_cell": 20},
        ),
        "frugal-cover": (five_of_eight(13, 24), {**given, "per_cell": 6}),
        "frugal-audit": (five_of_eight(14, 24), {**given, "audit": 90}),
        "frugal-audit-panel": (five_of_eight(15, 24), {**given, "per_cell": 12, "audit": 90}),
    }


class _SilentCell:
    """Item 5 answers the last of the useful questions alone: its label is joined from there."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem = oracle.problem
        self._oracle = oracle

    def __call__(self, batch: Batch, /) -> Tally:
        tally = self._oracle(batch)
        dead = (batch.items == 5) & (batch.questions != 4)
        return Tally(np.where(dead, 0, tally.counts), np.where(dead, 0.0, tally.sums))


def five_of_eight(seed: int, items: int = 40) -> Oracle:
    """Items in two groups that differ on five of eight questions."""
    chances = np.full((2, 8), 0.5)
    chances[:, :5] = [[0.1] * 5, [0.9] * 5]
    return oracles.bernoulli(chances, labels=np.arange(items) % 2, rng=seed)


def three_groups(seed: int, items: int = 60) -> Oracle:
    """Items in three groups, each apart from the others on three of nine questions."""
    chances = np.full((3, 9), 0.1)
    for group in range(3):
        chances[group, 3 * group : 3 * group + 3] = 0.9
    return oracles.bernoulli(chances, labels=np.arange(items) % 3, rng=seed)


def main(wanted: list[str]) -> None:
    """Record all logs, or those whose names begin with one of ``wanted``."""
    for name, (oracle, options) in {**rule_cases(), **frugal_cases()}.items():
        if any(name.startswith(each) for each in wanted or [""]):
            record(name, oracle.problem, oracle, **options)
    for method in METHODS:
        for kind, problem in PROBLEMS.items():
            given = settings(method, problem)
            skips = ForgetfulOracle(two_groups(problem, seed=4), skipping)
            cases: dict[str, tuple[Oracle, dict[str, Any]]] = {
                f"{method}-{kind}": (two_groups(problem, seed=3), given),
                f"{method}-{kind}-skips": (skips, given),
                f"{method}-{kind}-capped": (two_groups(problem, 5), {**given, "max_answers": 60}),
            }
            for name, (oracle, options) in cases.items():
                if any(name.startswith(each) for each in wanted or [""]):
                    record(name, problem, oracle, **options)


if __name__ == "__main__":
    main(sys.argv[1:])
