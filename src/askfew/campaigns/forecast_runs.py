"""Simulated campaigns: what a forecast counts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from askfew.algorithms import start, takes_option
from askfew.campaigns.settings import Settings
from askfew.driver import run
from askfew.records import Batch, Oracle, Problem, Tally

if TYPE_CHECKING:  # slow to import, and needed only when a campaign is created
    from askfew.planning import Unknown
    from askfew.planning.owner_knowledge import OwnerKnowledge
    from askfew.simulation import World

__all__ = ["FINISHED", "SimulatedCampaign", "simulate_campaigns"]

_MOST_ANSWERS = 10**6
"""Where a simulated campaign ends, or at its own cap if that is higher. A lower cap is not applied,
to see what the campaign would need."""
FINISHED = 0.9
"""The share of certified items with which a campaign counts as finished: real items may lie between
the groups, and stay undecided whoever answers."""


@dataclass(frozen=True)
class SimulatedCampaign:
    """What one simulated campaign took, and how it ended."""

    cell: int
    """Answers to the cell that was asked most."""
    searched: int
    """Answers before the method foresaw its end."""
    answers: int
    """Answers in all."""
    finished: bool
    in_vain: bool
    """Whether nothing was certified."""


def simulate_campaigns(
    settings: Settings, unknown: Unknown, told: OwnerKnowledge, most: int, until: float
) -> Iterator[SimulatedCampaign]:
    """Simulate at least one campaign, and up to ``most`` while there is time.

    Every run has its own seed, so a forecast cut short is the beginning of the full one.
    """
    worlds = told.worlds(unknown, settings.answers)
    for seed in np.random.SeedSequence(settings.seed).spawn(most):
        # Two generators, so that the world does not depend on what the method draws.
        for_world, for_method = seed.spawn(2)
        yield _simulate(settings, worlds.draw(for_world), told, np.random.default_rng(for_method))
        if time.thread_time() > until:
            break


def _simulate(
    settings: Settings, world: World, told: OwnerKnowledge, rng: np.random.Generator
) -> SimulatedCampaign:
    oracle = _Counting(world.oracle)
    options = {**settings.arguments(), **told.options(world, rng)}
    procedure = start(settings.method, oracle.problem, rng, delta=settings.delta, **options)
    ended = run(procedure, oracle, max_answers=max(_MOST_ANSWERS, settings.max_answers))
    total = int(oracle.asked.sum())
    searched = total if oracle.searched is None else oracle.searched
    decided = 0.0 if ended.result is None else float((ended.result.labels >= 0).mean())
    in_vain = takes_option(settings.method, "delta") and decided == 0
    return SimulatedCampaign(int(oracle.asked.max()), searched, total, decided >= FINISHED, in_vain)


class _Counting:
    """An oracle that counts how often each cell is asked.

    ``searched`` is the number of answers before the method first foresaw its end.
    """

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.asked = np.zeros((self.problem.items, self.problem.questions), dtype=np.int64)
        self.searched: int | None = None

    @property
    def problem(self) -> Problem:
        return self._oracle.problem

    def __call__(self, batch: Batch, /) -> Tally:
        foreseen = batch.known is not None and batch.known.expected is not None
        if foreseen and self.searched is None:
            self.searched = int(self.asked.sum())
        np.add.at(self.asked, (batch.items, batch.questions), batch.repeats)
        return self._oracle(batch)
