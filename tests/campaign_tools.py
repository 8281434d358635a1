"""Campaigns whose every slot is known beforehand, and a look at the slots behind their backs."""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from sqlalchemy import select

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.schema import answers, slots, steps
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store

LOG = ("number", "items", "questions", "repeats", "plans", "counts", "sums", "squares", "seal")
"""The columns of a step that must be the same however it came about."""


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += seconds


def items(count: int) -> list[Item]:
    return [Item(f"i{number}") for number in range(count)]


def questions(count: int) -> list[Question]:
    return [Question(f"q{number}", "?") for number in range(count)]


def sweep(
    store: Store, rows: int = 3, columns: int = 2, each: int = 1, **settings: object
) -> Campaign:
    """One step that asks every cell ``each`` times; then the campaign ends."""
    budget = rows * columns * each
    usual: dict[str, object] = {
        "name": "sweep",
        "method": "spectral",
        "options": {"budget": budget},
        "max_answers": 10**6,
        "lease_seconds": 600,
        "step_timeout": 3600,
    }
    return store.create(Settings.from_dict({**usual, **settings}), items(rows), questions(columns))


def frugal(
    store: Store, rows: int = 6, columns: int = 3, reuse: str | None = None, **settings: object
) -> Campaign:
    """Many small steps."""
    usual: dict[str, object] = {
        "name": "frugal",
        "method": "frugal",
        "delta": 0.1,
        "seed": 3,
        "answers_per_worker_and_cell": 10_000,
    }
    made = Settings.from_dict({**usual, **settings})
    return store.create(made, items(rows), questions(columns), reuse=reuse)


def by_rule(store: Store, rows: int = 8, columns: int = 6, **settings: object) -> Campaign:
    """A pilot, a rule, and a handful of rounds; answered by ``told_apart``."""
    usual: dict[str, object] = {
        "name": "by rule",
        "method": "rule",
        "delta": 0.1,
        "seed": 3,
        "answers_per_worker_and_cell": 10_000,
    }
    return store.create(Settings.from_dict({**usual, **settings}), items(rows), questions(columns))


def told_apart(asked: Assignment) -> bool:
    """Even items are alike on four questions; a function of the cell and the slot alone."""
    item, question = int(asked.item.id[1:]), int(asked.question.id[1:])
    step, slot = place(asked.id)
    noise = zlib.crc32(f"{step} {slot}".encode()) % 97
    return noise % 2 == 0 if question >= 4 else (item % 2 == 0) != (noise < 8)


def with_a_stubborn_worker(store: Store) -> Campaign:
    """A campaign that is done, and in which one of four errs on the same cells every time."""
    campaign, rng = frugal(store, rows=30, columns=2, seed=2), np.random.default_rng(2)
    while campaign.state == "running":
        for worker in ("ann", "bob", "cora", "stubborn"):
            for asked in campaign.ask(worker, 20):
                item, question = int(asked.item.id[1:]), int(asked.question.id[1:])
                errs = rng.random() < 0.12
                if worker == "stubborn":
                    errs = (7 * item + 3 * question) % 8 == 0
                campaign.tell(asked.id, (item % 2 == 0) != errs)
    return campaign


def answer_by(
    campaign: Campaign, means: Any, most: int = 10**6, seed: int = 0, n: int = 100
) -> int:
    """Let two workers say yes about item i to question q with probability ``means[i, q]``."""
    rng, told = np.random.default_rng(seed), 0
    while told < most and campaign.state == "running":
        for worker in ("ann", "bob"):
            for asked in campaign.ask(worker, min(n, most - told)) if told < most else ():
                item, question = int(asked.item.id[1:]), int(asked.question.id[1:])
                assert campaign.tell(asked.id, bool(rng.random() < means[item, question])).ok
                told += 1
    return told


def two_kinds(rows: int, columns: int = 6, between: tuple[int, ...] = ()) -> Any:
    """Means of yes/no answers: even and odd items differ on four questions, but for some."""
    means = np.full((rows, columns), 0.5)
    means[:, :4] = np.where(np.arange(rows) % 2, 0.93, 0.07)[:, np.newaxis]
    means[list(between), :4] = 0.5
    return means


def three_kinds(rows: int) -> Any:
    """The same for three kinds and six questions."""
    levels = np.array([[1, 1, 1, 1, 1, 1], [9, 9, 9, 1, 1, 1], [1, 1, 1, 9, 9, 9]]) / 10
    return levels[np.arange(rows) % 3]


def place(lease: str) -> tuple[int, int]:
    """The step and the slot that a lease is for."""
    _, step, slot, _ = lease.split("-")
    return int(step), int(slot)


def fixed_answer(asked: Assignment) -> bool:
    """Mostly the truth (even items are alike), and a function of the cell and the slot alone."""
    item, question = int(asked.item.id[1:]), int(asked.question.id[1:])
    step, slot = place(asked.id)
    noise = (step * 7919 + slot * 104_729 + item * 31 + question * 17) % 97
    if question == 2:
        return noise % 2 == 0
    return (item % 2 == 0) != (noise < 4)


def answer_all(
    campaign: Campaign,
    worker: str = "ann",
    answer: Callable[[Assignment], object] = fixed_answer,
    n: int = 5,
) -> int:
    """Until there is nothing more to answer; how many were told."""
    told = 0
    while asked := campaign.ask(worker, n):
        for each in asked:
            assert campaign.tell(each.id, answer(each)).status == "accepted"
            told += 1
    return told


def answer_by_fresh_processes(
    url: str, clock: Clock, name: str, n: int, answer: Callable[[Assignment], object]
) -> None:
    """Until there is nothing more to answer; each n answers by a store that was just opened."""
    asked: list[Assignment] | None = None
    while asked is None or asked:
        process = Store(url, clock=clock)
        campaign = process.campaign(name)
        asked = campaign.ask("ann", n)
        for each in asked:
            campaign.tell(each.id, answer(each))
        process.close()


def slot(campaign: Campaign, number: int, step: int = 0) -> Any:
    """A row of the slots table."""
    with campaign.database.read() as connection:
        return connection.execute(
            select(slots).where(
                slots.c.campaign == campaign.id, slots.c.step == step, slots.c.number == number
            )
        ).one()


def states(campaign: Campaign, step: int = 0) -> list[SlotState]:
    """Where every slot of a step stands."""
    with campaign.database.read() as connection:
        rows = connection.execute(
            select(slots.c.state)
            .where(slots.c.campaign == campaign.id, slots.c.step == step)
            .order_by(slots.c.number)
        )
        return [SlotState(row.state) for row in rows]


def log_of(campaign: Campaign) -> list[tuple[Any, ...]]:
    """All steps, without their times."""
    with campaign.database.read() as connection:
        rows = connection.execute(
            select(*(steps.c[name] for name in LOG))
            .where(steps.c.campaign == campaign.id)
            .order_by(steps.c.number)
        )
        return [tuple(row) for row in rows]


def answers_of(campaign: Campaign) -> list[Any]:
    """All rows of the answers table, retracted ones too, in the order of their slots."""
    with campaign.database.read() as connection:
        rows = connection.execute(
            select(answers)
            .where(answers.c.campaign == campaign.id)
            .order_by(answers.c.step, answers.c.slot, answers.c.id)
        )
        return list(rows)


def assert_refused(
    campaign: Campaign, said: tuple[int, str, str], code: int, sentence: str
) -> None:
    """One sentence and this exit code; no question stays leased."""
    assert said[0] == code, said
    assert sentence in said[2]
    last = said[2].strip().splitlines()[-1]
    assert last.startswith("askfew: ")
    assert "Traceback" not in last
    assert status_of(campaign).leased == 0
