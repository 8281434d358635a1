"""How long does somebody wait for a question of a very large campaign, and how long does it take
to resume one?

    python benchmarks/campaign_latency.py [--items 10000] [--open 100000] [--asks 3000]
        [--answers 1000000] [--store sqlite|postgresql]

First: a campaign with that many items and one step of that many open questions; workers take
turns to ask for one and to answer it, each several times, so that they meet items again. Second:
a campaign of that many answers, all of them in the store, is opened by a fresh process: it is
replayed, closes its step and opens the next. Beside it: the same method run by itself, without a
store.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sqlalchemy import func, select

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.slots import settle
from askfew.campaigns.db.schema import slots, steps
from askfew.campaigns.records import Answer, Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.lease import LeaseId
from askfew.campaigns.store import Store
from askfew.clustering import cluster
from askfew.oracles import bernoulli
from postgres import PrivatePostgres
from processes import together

WORKERS = 50
QUESTIONS = 20
USEFUL = 4
_AT_ONCE = 20_000


def wait_for_asks(url: str, items: int, open_slots: int, asks: int) -> list[float]:
    """Seconds for each ask."""
    store = Store(url)
    settings = Settings(
        name="wide", method="spectral", options={"budget": open_slots}, max_answers=open_slots
    )
    campaign = store.create(settings, *_named(items, QUESTIONS))
    took = []
    for number in range(asks):
        began = time.perf_counter()
        asked = campaign.ask(f"w{number % WORKERS}")
        took.append(time.perf_counter() - began)
        assert campaign.tell(asked[0].id, number % 2 == 0).ok
    store.close()
    return took


def grown(url: str, items: int, answers: int) -> int:
    """A campaign with about so many answers, whose last step waits to be closed; returns how many.

    Steps are answered in bulk, by the same rules for one slot after another as anywhere else.
    """
    store = Store(url)
    settings = Settings(
        name="long", max_answers=10**9, answers_per_worker_and_cell=10**9, lease_seconds=1
    )
    campaign = store.create(settings, *_named(items, QUESTIONS))
    chance = _chances(items)
    rng = np.random.default_rng(0)
    told = 0
    while campaign.state == "running":
        told += _answer_step(campaign, chance, rng)
        if told >= answers:
            break
        campaign.catch_up()
    store.close()
    return told


def _answer_step(
    campaign: Campaign,
    chance: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    rng: np.random.Generator,
) -> int:
    with campaign.database.write() as connection:
        newest = select(func.max(steps.c.number)).where(steps.c.campaign == campaign.id)
        waiting = connection.execute(
            select(slots.c.step, slots.c.number, slots.c.item, slots.c.question).where(
                slots.c.campaign == campaign.id, slots.c.step == newest.scalar_subquery()
            )
        ).all()
        values = (
            rng.random(len(waiting))
            < chance[[row.item for row in waiting], [row.question for row in waiting]]
        )
        for begin in range(0, len(waiting), _AT_ONCE):
            rows = zip(waiting[begin : begin + _AT_ONCE], values[begin:].tolist(), strict=False)
            settle(
                connection,
                [
                    Answer(
                        id=str(LeaseId(campaign.id, row.step, row.number, "bulk")),
                        campaign=campaign.id,
                        step=row.step,
                        slot=row.number,
                        worker=f"w{row.number % WORKERS}",
                        item=row.item,
                        question=row.question,
                        value=float(value),
                        raw=str(value),
                        seconds=None,
                        cost=0.0,
                        time=0.0,
                    )
                    for row, value in rows
                ],
            )
    return len(waiting)


def _chances(items: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Of a yes: the groups differ by 0.3 on the useful questions."""
    chance = np.full((items, QUESTIONS), 0.5)
    chance[::2, :USEFUL], chance[1::2, :USEFUL] = 0.35, 0.65
    return chance


def time_to_resume(url: str) -> float:
    """Seconds until a process that has never seen the campaign has opened its next step."""

    def resume() -> float:
        began = time.perf_counter()
        store = Store(url)
        campaign = store.campaign("long")
        before = _steps(campaign)
        campaign.catch_up()
        took = time.perf_counter() - began
        assert campaign.state == "ended" or _steps(campaign) == before + 1
        store.close()
        return took

    return together(1, lambda _: resume)[0][0]


def _steps(campaign: Campaign) -> int:
    with campaign.database.read() as connection:
        counted = select(func.count()).where(steps.c.campaign == campaign.id)
        return int(connection.execute(counted).scalar_one())


def _named(items: int, questions: int) -> tuple[list[Item], list[Question]]:
    return (
        [Item(f"i{number}") for number in range(items)],
        [Question(f"q{number}", "?") for number in range(questions)],
    )


@contextmanager
def _addresses(kind: str) -> Iterator[tuple[str, str]]:
    if kind == "postgresql":
        with PrivatePostgres() as server:
            yield server.create_database("wide"), server.create_database("long")
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/wide.db", f"sqlite:///{folder}/long.db"


def main() -> None:
    """Measure both, and print quantiles and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--open", type=int, default=100_000)
    parser.add_argument("--asks", type=int, default=3000)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    with _addresses(options.store) as (wide, long):
        took = wait_for_asks(wide, options.items, options.open, options.asks)
        half, most, worst = np.quantile(took, [0.5, 0.95, 1.0]) * 1000
        print(
            f"{options.store}, {options.items:,} items, {options.open:,} open questions,"
            f" {len(took):,} asks by {WORKERS} workers: median {half:.1f} ms,"
            f" 95 % under {most:.1f} ms, worst {worst:.1f} ms"
        )
        answers = grown(long, options.items, options.answers)
        resumed = time_to_resume(long)
        print(f"{options.store}, {answers:,} answers: resumed in {resumed:.2f} s", end="")
    chance = _chances(options.items)
    began = time.perf_counter()
    labels = (np.arange(options.items) % 2).tolist()
    cluster(bernoulli(chance[:2], labels=labels, rng=0), rng=0)
    print(f" (the method alone, from nothing to its end: {time.perf_counter() - began:.2f} s)")


if __name__ == "__main__":
    main()
