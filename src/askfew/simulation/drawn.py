"""Worlds of one's own: a function draws who answers, and says what the truth is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from askfew.errors import InvalidInput
from askfew.extensions import find, installed
from askfew.records import Problem
from askfew.simulation.instances import World, in_order_of_first_items

__all__ = ["Drawn"]


@dataclass(frozen=True)
class Drawn:
    """The worlds that ``function(rng)`` draws: a World, or (oracle, the true group of every item).

    The method "rule" is judged by the true means, so it needs a World that knows its ``means``.
    """

    name: str
    function: Callable[[np.random.Generator], Any]

    @classmethod
    def named(cls, name: str) -> Drawn:
        """By module:function, or by the name of an entry point of the group askfew.oracles."""
        found = find("askfew.oracles", name)
        if found is None:
            known = ", ".join(installed("askfew.oracles")) or "none"
            raise InvalidInput(
                f"an oracle must be written module:function, or be an installed one ({known})",
                repr(name),
                "say for example crowd:draw",
            )
        return cls(name, found)

    def draw(self, seed: np.random.SeedSequence) -> World:
        """A world that the seed decides."""
        drawn = self.function(np.random.default_rng(seed))
        if not isinstance(drawn, World):
            try:
                oracle, labels = drawn
            except (TypeError, ValueError):
                raise InvalidInput(
                    f"{self.name}(rng) must return (oracle, labels)",
                    type(drawn).__name__,
                    "return who answers, and the true group of every item",
                ) from None
            drawn = World(oracle, in_order_of_first_items(np.asarray(labels)))
        problem = getattr(drawn.oracle, "problem", None)
        if not callable(drawn.oracle) or not isinstance(problem, Problem):
            raise InvalidInput(
                f"the oracle of {self.name} must be callable with a Batch and have a problem",
                repr(drawn.oracle)[:100],
                "return askfew.oracles.function(ask, askfew.Problem(items, questions)), say",
            )
        if drawn.labels.shape != (problem.items,):
            raise InvalidInput(
                f"{self.name}(rng) must return one group for each of {problem.items} items",
                f"labels of shape {drawn.labels.shape}",
                "mend the labels",
            )
        return drawn

    def to_dict(self) -> dict[str, object]:
        """As JSON-ready values."""
        return {"oracle": self.name}

    def __str__(self) -> str:
        return f"worlds of {self.name}"
