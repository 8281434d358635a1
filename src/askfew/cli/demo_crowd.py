"""The demo's world: photos of two species of birds, and people who answer questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew import oracles
from askfew.oracles import BernoulliOracle
from askfew.records import Floats, Ints

__all__ = ["PRICE", "QUESTIONS", "Crowd", "draw_crowd"]

PHOTOS = 100
PRICE = 0.02
RELIABLE = 0.85
TELLING = ("Is the beak hooked?", "Is the breast striped?", "Are the legs feathered?")
IDLE = (
    "Does it face left?",
    "Is it on a branch?",
    "Is the sky visible?",
    "Is it in flight?",
    "Is there water?",
    "Is the beak open?",
    "Is it in the shade?",
    "Is the photo sharp?",
    "Is a second bird there?",
    "Is the tail visible?",
    "Are there leaves?",
    "Is it looking at you?",
    "Is it taken from below?",
    "Is it wet?",
    "Is it young?",
    "Is there snow?",
    "Is it eating?",
)
QUESTIONS = tuple(sorted(TELLING + IDLE))


@dataclass(frozen=True, eq=False)
class Crowd:
    """Whose photo is which species, and how often people say yes to each question."""

    species: Ints
    chances: Floats
    """Probability of yes: one row a species, one column a question."""

    @property
    def names(self) -> list[str]:
        """What the photos are called."""
        return [f"photo {i:02}" for i in range(PHOTOS)]

    def oracle(self, seed: int) -> BernoulliOracle:
        """Someone who answers for this crowd."""
        return oracles.bernoulli(self.chances, labels=self.species, rng=seed)

    def is_right(self, labels: Ints) -> bool:
        """Whether these are the species, whatever they are called."""
        return np.array_equal(labels, self.species != self.species[0])

    def story(self, delta: float) -> str:
        """The problem in plain words."""
        return (
            f"{PHOTOS} photos show birds of two species. A crowd answers {len(QUESTIONS)} yes/no"
            f" questions about them, at {PRICE * 100:.0f} cents an answer. Only {len(TELLING)}"
            " questions tell the species apart, nobody knows which, and even there"
            f" {1 - RELIABLE:.0%} of the answers are wrong.\n"
            f"Wanted: the species of every photo, all right with probability {1 - delta:.0%},"
            " for as few answers as possible."
        )


def draw_crowd(seed: int) -> Crowd:
    """Photos in random order, a third of them of the rarer species."""
    rng = np.random.default_rng([seed, 0])
    species = rng.permutation(np.arange(PHOTOS) < PHOTOS // 3).astype(np.int64)
    telling = np.isin(QUESTIONS, TELLING)
    chances = np.full((2, len(QUESTIONS)), 0.5)
    chances[:, telling] = [[1 - RELIABLE], [RELIABLE]]
    return Crowd(species, chances)
