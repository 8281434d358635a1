"""Small campaigns for tests: made in a moment, and answered by workers who know the truth."""

from collections.abc import Iterable

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store

ITEMS = tuple(Item(f"item{number}", f"Item number {number}") for number in range(6))
QUESTIONS = tuple(Question(f"q{number}", f"Question {number}?") for number in range(3))
TRUTH = [0, 0, 1, 0, 1, 1]
"""On the first two questions; nobody knows about the third."""


def small_settings(name: str = "small", **changes: object) -> Settings:
    usual: dict[str, object] = {"delta": 0.1, "seed": 3, "price": 0.5, "max_answers": 100_000}
    usual |= {"answers_per_worker_and_cell": 10_000, "method": "frugal"}
    return Settings.from_dict({"name": name, **usual, **changes})


def small_campaign(store: Store, name: str = "small", **changes: object) -> Campaign:
    return store.create(small_settings(name, **changes), ITEMS, QUESTIONS)


def truth(item: str, question: str, rng: np.random.Generator) -> int:
    chance = 0.5 if question == "q2" else 0.97 if TRUTH[int(item[4:])] else 0.03
    return int(rng.random() < chance)


def answer(
    campaign: Campaign, most: int, workers: Iterable[str] = ("ann", "bob"), seed: int = 0
) -> int:
    """Let the workers answer in turn, up to so many answers; returns how many there were."""
    rng = np.random.default_rng(seed)
    given = 0
    while given < most:
        before = given
        for worker in workers:
            for asked in campaign.ask(worker, min(5, most - given)) if given < most else ():
                told = campaign.tell(
                    asked.id, truth(asked.item.id, asked.question.id, rng), seconds=1.5
                )
                assert told.ok
                given += 1
        if given == before:
            break
    return given
