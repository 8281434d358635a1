"""A judge that always says the same about a cell: are labels right, and is confidence calibrated?

    OPENBLAS_NUM_THREADS=1 python benchmarks/frozen_judge.py > benchmarks/frozen_judge.md

200 texts, 30 questions. On the carrying ones 90 % of the judge's cells are right, independently; on
the others it says anything. ``repeats = "same"``: a cell is asked once at most.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import askfew
from askfew.records import Floats, Ints

ITEMS, QUESTIONS, RELIABILITY = 200, 30, 0.9


@dataclass
class Tried:
    """What runs with so many carrying questions gave."""

    statuses: Counter[str] = field(default_factory=Counter)
    answers: list[int] = field(default_factory=list)
    most_of_a_cell: int = 0
    agreeing: list[float] = field(default_factory=list)
    confidence: list[Floats] = field(default_factory=list)
    right: list[Floats] = field(default_factory=list)
    reason: str = ""


def judged(rng: np.random.Generator, carrying: int) -> tuple[Ints, Ints]:
    """Planted groups, and what the judge says about every cell."""
    groups = rng.integers(0, 2, ITEMS)
    says = rng.integers(0, 2, (ITEMS, QUESTIONS))
    useful = rng.permutation(QUESTIONS)[:carrying]
    truth = groups[:, None] ^ rng.integers(0, 2, carrying)
    says[:, useful] = truth ^ (rng.random(truth.shape) > RELIABILITY)
    return groups, says


def try_judges(carrying: int, runs: int, seed: int) -> Tried:
    """Sort the texts of one judge after the other."""
    tried = Tried()
    for number in range(runs):
        groups, says = judged(np.random.default_rng([seed, carrying, number]), carrying)
        asked: Counter[tuple[int, int]] = Counter()

        def judge(
            item: int,
            question: int,
            says: Ints = says,
            asked: Counter[tuple[int, int]] = asked,
        ) -> bool:
            asked[item, question] += 1
            return bool(says[item, question])

        found = askfew.cluster(
            judge, items=ITEMS, questions=QUESTIONS, method="rule", repeats="same", rng=number
        )
        planted = groups if (found.guesses == groups).mean() >= 0.5 else 1 - groups
        tried.statuses[found.status] += 1
        tried.answers.append(found.answers)
        tried.most_of_a_cell = max(tried.most_of_a_cell, *asked.values())
        tried.agreeing.append(float((found.labels == planted).mean()))
        tried.confidence.append(found.confidence)
        tried.right.append((found.guesses == planted).astype(float))
        tried.reason = found.reason
    return tried


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    began = time.time()
    print("# A frozen judge\n")
    print(
        f"`OPENBLAS_NUM_THREADS=1 python benchmarks/frozen_judge.py --runs {told.runs} --seed"
        f' {told.seed}`: 200 texts, 30 questions, one judge, `repeats = "same"`; 90 % of its cells'
        " on the carrying questions are right.\n"
    )
    print(
        "| carrying | runs | ended | mean answers | most of a cell | labels that agree with the"
        " planted groups, of all items | worst run |"
    )
    print("|---|---|---|---|---|---|---|")
    by_carrying = {}
    for carrying, runs in ((12, told.runs), (1, max(told.runs // 10, 1))):
        tried = by_carrying[carrying] = try_judges(carrying, runs, told.seed)
        ended = ", ".join(f"{status} {count}" for status, count in sorted(tried.statuses.items()))
        print(
            f"| {carrying} | {runs} | {ended} | {np.mean(tried.answers):,.0f} |"
            f" {tried.most_of_a_cell} | {np.mean(tried.agreeing):.4f} |"
            f" {min(tried.agreeing):.3f} |",
            flush=True,
        )
    print(f"\nWith one carrying question it says: *{by_carrying[1].reason}.*\n")
    print("| tenth of the items, by stated confidence | stated | right | difference |")
    print("|---|---|---|---|")
    confidence = np.concatenate(by_carrying[12].confidence)
    right = np.concatenate(by_carrying[12].right)
    for n, part in enumerate(np.array_split(np.argsort(confidence, kind="stable"), 10), start=1):
        stated, hits = confidence[part].mean(), right[part].mean()
        span = f"{confidence[part].min():.4f} to {confidence[part].max():.4f}"
        print(f"| {n}: {span} | {stated:.4f} | {hits:.4f} | {hits - stated:+.4f} |")
    print(f"\nIt took {time.time() - began:.0f} s.")


if __name__ == "__main__":
    main()
