"""Twelve people rehearse a campaign: does it end as its own forecast said, and is it right?

    OPENBLAS_NUM_THREADS=1 python benchmarks/rehearsal.py > benchmarks/rehearsal.md

60 photos, 15 questions of which 4 carry the split (an answer is right with 92 %), people = 12. The
method is driven without a store: a store hands out the same Batches and takes in the same answers.
With anchors, as many are told to the forecast. With a rule, it was learnt on sixty other photos.
A few campaigns also go through a SQLite store, answered by twelve workers.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial

import numpy as np

import askfew
from askfew.campaigns.forecast import CrowdForecast, Sizes, crowd_forecast
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.oracles import bernoulli
from askfew.planning import Range
from askfew.records import Oracle
from askfew.simulation import Instance, Run, World, local, repeat, try_method

WORLD = Instance(60, 15, 4, gap=0.84, noise="yes-no")
PEOPLE = 12
TOLD = {"gap": Range(0.84, 0.84), "share": Range(0.5, 0.5), "useful": Range(4, 4)}


@dataclass(frozen=True)
class Rehearsed:
    """Many runs with one promise, beside what was forecast for them."""

    name: str
    forecast: CrowdForecast
    told: CrowdForecast
    runs: list[Run]

    @property
    def row(self) -> str:
        """A line of the table."""
        statuses = Counter(run.status for run in self.runs)
        certified = [run for run in self.runs if run.finished and run.decided > 0]
        usual = sum(run.answers <= 1.3 * self.forecast.most_answers for run in certified)
        told = sum(run.answers <= 1.3 * self.told.most_answers for run in certified)
        mean = np.mean([run.answers for run in self.runs])
        wrong = sum(not run.correct for run in self.runs)
        share = np.mean([run.wrong_share for run in self.runs])
        ended = ", ".join(f"{status} {count}" for status, count in sorted(statuses.items()))
        return (
            f"| {self.name} | {mean:,.0f} | {max(run.answers for run in self.runs):,} |"
            f" {self.forecast.most_answers:,} | {usual} |"
            f" {self.told.most_answers:,} | {told} |"
            f" {np.mean([run.decided for run in self.runs]):.4f} | {ended} |"
            f" {wrong} | {share:.4f} |"
        )


def rehearse(error: str, anchors: int, runs: int, seed: int) -> Rehearsed:
    """Forecast first, then run."""
    settings = Settings("rehearsal", people=PEOPLE, error=error)  # type: ignore[arg-type]
    trial = partial(
        try_method,
        method="rule",
        delta=settings.delta,
        anchors=anchors,
        options=settings.arguments(),
    )
    sizes = Sizes(WORLD.items, WORLD.questions, (anchors, anchors) if anchors else ())
    return Rehearsed(
        f"{error}, {anchors} anchors of each group" if anchors else error,
        crowd_forecast(settings, sizes, seconds=60.0),
        crowd_forecast(settings, sizes, TOLD, seconds=60.0),
        repeat(WORLD, trial, runs=runs, seed=seed, engine=local(1)),
    )


def rehearse_rule(error: str, runs: int, seed: int) -> Rehearsed:
    """A rule that was learnt on other photos, its levels being all that the forecast knows."""
    rng = np.random.default_rng(seed)
    levels = np.full((2, WORLD.questions), 0.5)
    levels[:, :4] = [[0.08], [0.92]]

    def photos() -> Oracle:
        return bernoulli(levels, labels=rng.permutation(WORLD.items) % 2, rng=rng)

    learnt = askfew.cluster(photos(), method="rule", error="share", rng=seed).rule
    assert learnt is not None
    settings = Settings("rehearsal", people=PEOPLE, error=error, rule=learnt)  # type: ignore[arg-type]
    sizes = Sizes(WORLD.items, WORLD.questions)
    options = {**settings.arguments(), "given": learnt}
    ran = []
    for _ in range(runs):
        labels = rng.permutation(WORLD.items) % 2
        means = levels[labels]
        world = World(bernoulli(means, rng=rng), labels, partial(np.take, means, axis=1))
        ran.append(try_method(world, rng, method="rule", delta=settings.delta, options=options))
    return Rehearsed(
        f"{error}, a rule of {len(learnt.questions)} questions that was brought",
        crowd_forecast(settings, sizes, seconds=60.0),
        crowd_forecast(settings, sizes, {"gap": TOLD["gap"], "share": TOLD["share"]}, seconds=60.0),
        ran,
    )


def on_a_store(seed: int) -> tuple[str, int, int, int]:
    """The same through a campaign: status, certified items, answers, the most of any cell."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, WORLD.items)
    useful = rng.permutation(WORLD.questions)[: WORLD.useful].tolist()
    chance = np.full((WORLD.items, WORLD.questions), 0.5)
    chance[:, useful] = np.where(labels[:, None] == 1, 0.92, 0.08)
    asked = np.zeros(chance.shape, dtype=int)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/rehearsal.db")
        campaign = store.create(
            Settings("rehearsal", people=PEOPLE, error="share", seed=seed),
            [Item(f"i{n}", f"photo {n}") for n in range(WORLD.items)],
            [Question(f"q{n}", f"question {n}") for n in range(WORLD.questions)],
        )
        while campaign.state == "running":
            for worker in range(PEOPLE):
                for each in campaign.ask(f"w{worker}", 200):
                    cell = int(each.item.id[1:]), int(each.question.id[1:])
                    asked[cell] += 1
                    campaign.tell(each.id, float(rng.random() < chance[cell]))
        found = result_of(campaign)
        store.close()
    certified = sum(each.group is not None for each in found.items)
    return str(found.status), certified, found.answers, int(asked.max())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stored", type=int, default=3)
    told = parser.parse_args()
    began = time.time()
    print("# Twelve people rehearse a campaign\n")
    print(
        f"`OPENBLAS_NUM_THREADS=1 python benchmarks/rehearsal.py --runs {told.runs} --seed"
        f" {told.seed}`: 60 photos, 15 questions, 4 of them carry the split (92 % of the answers"
        " are right), people = 12, method rule, delta = 0.05. Driven without a store, which makes"
        " no difference to what is asked; the last table goes through one.\n"
    )
    print(
        "*Forecast* is the 90 % figure by the usual ranges, *told* the same where the gap, the"
        " share and the useful questions are said; *within* are the runs that certified labels with"
        f" at most 1.3 times as many answers, of {told.runs}. *Wrong* is about the rule: runs with"
        " a wrong label, and the share of the labels.\n"
    )
    print(
        "| error | mean answers | most | forecast | within | told | within | certified items"
        " | ended | wrong runs | wrong labels |"
    )
    print("|" + "---|" * 11)
    for error in ("any", "share"):
        for anchors in (0, 4):
            print(rehearse(error, anchors, told.runs, told.seed).row, flush=True)
        print(rehearse_rule(error, told.runs, told.seed).row, flush=True)
    print("\n| through a store, share | ended | certified | answers | most of a cell |")
    print("|---|---|---|---|---|")
    for seed in range(told.stored):
        status, certified, answers, most = on_a_store(seed)
        print(f"| seed {seed} | {status} | {certified} of {WORLD.items} | {answers:,} | {most} |")
    print(f"\nIt took {time.time() - began:.0f} s.")


if __name__ == "__main__":
    main()
