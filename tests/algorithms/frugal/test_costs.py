"""What every phase of every way costs, against frozen means: a guess that got worse is noticed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from askfew.algorithms.frugal.guess.panels.panel import PanelGuesser
from askfew.algorithms.frugal.guess.pooled.hunt import Hunt
from askfew.simulation import Instance

from .worlds import play


@dataclass(frozen=True)
class Frozen:
    """Mean answers of each phase, over seeds from 0, when they were last measured."""

    instance: Instance
    runs: int
    means: dict[str, float]
    options: dict[str, Any] = field(default_factory=dict)

    def off(self) -> list[str]:
        """Phases that cost more or less than they did, by more than a change of luck explains."""
        spent = dict.fromkeys(self.means, 0.0)
        for seed in range(self.runs):
            oracle = self.instance.draw(np.random.SeedSequence(seed)).oracle
            for phase, answers in play(oracle, seed, **self.options).meter.by_phase.items():
                spent[phase] = spent.get(phase, 0.0) + answers / self.runs
        off = [
            phase
            for phase, mean in self.means.items()
            if not 0.75 * mean - 5 <= spent[phase] <= 1.25 * mean + 5
        ]
        return off + ["all"] * (sum(spent.values()) > 1.1 * sum(self.means.values()))


COSTS = {
    "sparse": Frozen(Instance(20, 1000, 53, 2.06), 40, {"search": 235, "hunt": 0, "label": 104}),
    "dense": Frozen(Instance(20, 200, 200, 0.5), 40, {"search": 511, "hunt": 109, "label": 1610}),
    "yes/no": Frozen(
        Instance(101, 16, 3, 0.7, "yes-no"), 40, {"search": 181, "hunt": 38, "label": 903}
    ),
    "cap of 40": Frozen(
        Instance(40, 30, 4, 0.7, "yes-no"),
        12,
        {"search": 248, "hunt": 52, "label": 369},
        {"per_cell": 40},
    ),
    "three groups": Frozen(
        Instance(30, 20, 6, 0.7, "yes-no", groups=3),
        8,
        {"search": 114, "hunt": 215, "classify": 280, "probe": 16, "label": 649},
        {"groups": 3},
    ),
    "four groups, numbers": Frozen(
        Instance(24, 20, 6, 2.0, groups=4),
        8,
        {"search": 122, "hunt": 125, "classify": 272, "probe": 54, "screen": 1, "label": 372},
        {"groups": 4},
    ),
    "one panel": Frozen(
        Instance(40, 30, 8, 0.7, "yes-no"), 8, {"explore": 554, "certify": 508}, {"per_cell": 12}
    ),
    "panels that cover all": Frozen(
        Instance(40, 30, 12, 0.7, "yes-no"), 8, {"explore": 243, "certify": 576}, {"per_cell": 5}
    ),
}


@pytest.mark.parametrize("name", COSTS)
def test_every_phase_costs_what_it_did(name: str) -> None:
    assert COSTS[name].off() == []


def test_a_hunt_that_returns_at_once_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hunt, "goes_on", lambda _: False)
    assert "hunt" in COSTS["yes/no"].off()


def test_a_classification_that_never_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askfew.algorithms.frugal.guess.exclusion.step._CLEAR", 1.0)
    assert "classify" in COSTS["three groups"].off()


def test_exploring_for_too_long_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PanelGuesser, "_clear", lambda _: False)
    assert "explore" in COSTS["one panel"].off()
