import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import askfew
from askfew import theory
from askfew.errors import InvalidInput
from askfew.planning import Forecast, Range, Simulation, Unknown, forecast, forecast_curves
from askfew.planning.theory_params import least_mean
from askfew.simulation import Family, Instance, Run, error_interval, local, repeat, try_method

UNKNOWN = Unknown(40, 12, Range(0.6, 0.9), Range(0.2, 0.5), Range(2, 4))


@pytest.fixture(scope="module")
def bill() -> Forecast:
    return forecast(UNKNOWN, Simulation(seed=1, jobs=1), price=0.02, cap=1200, runs=150)


def share_under(family: Family, limit: float) -> tuple[float, float]:
    """Interval of the share of new campaigns that end under the limit. The long count is
    benchmarks/forecast.py.
    """
    trial = partial(try_method, method="frugal", delta=0.05)
    runs = repeat(family, trial, runs=120, seed=2, engine=local(1))
    return error_interval(sum(run.answers <= limit for run in runs), len(runs), level=0.99)


def test_ninety_per_cent_of_new_campaigns_end_under_the_ninety_per_cent_figure(
    bill: Forecast,
) -> None:
    low, high = share_under(UNKNOWN, bill.q90)
    assert low < 0.92
    assert high > 0.88


def test_so_they_do_in_the_hardest_corner(bill: Forecast) -> None:
    low, high = share_under(UNKNOWN.hardest(), bill.hardest_q90)
    assert low < 0.92
    assert high > 0.88


def test_figures_are_in_order(bill: Forecast) -> None:
    assert bill.least is not None
    assert bill.least < bill.median < bill.q90 < bill.hardest_q90
    assert bill.everything == 40 * 12 * 5
    assert bill.chance_under_cap is not None
    assert 0 < bill.chance_under_cap <= 1
    assert sum(bill.by_phase.values()) == pytest.approx(bill.median, rel=0.5)


def test_the_least_is_the_best_bound_there_is() -> None:
    numbers = Instance(20, 1000, 53, 2.0)
    assert least_mean(numbers, 0.05) == theory.untold_gap_mean(20, 2.0, 0.05).value
    yes_no = Instance(20, 40, 4, 0.7, noise="yes-no")
    divergence = theory.yes_no_divergence(0.85, 0.15)
    assert least_mean(yes_no, 0.05) == theory.labelling_mean(20, divergence, 0.05).value
    assert least_mean(replace(yes_no, groups=3), 0.05) > 0


def test_money_is_answers_times_price(bill: Forecast) -> None:
    values = bill.to_dict()
    assert values["q90_money"] == pytest.approx(0.02 * values["q90"])


def test_weaker_gaps_cost_more() -> None:
    curves = forecast_curves(UNKNOWN, Simulation(jobs=1), runs=16, points=2)
    assert list(curves) == [pytest.approx(0.2), pytest.approx(0.316228), pytest.approx(0.5)]
    for points in curves.values():
        (_, weak, _), (_, strong, _) = points
        assert weak > strong


def test_the_same_seed_gives_the_same_bill_from_python() -> None:
    def bill() -> Forecast:
        return askfew.plan(
            20, 6, gap=(2.0, 3.0), useful=2, answers=askfew.Scale(1, 5), runs=8, seed=4, jobs=1
        )

    first = bill()
    assert first == bill()
    assert first.unknown.gap == Range(0.5, 0.75)
    assert "90 % stay under" in str(first)


@pytest.mark.parametrize(
    ("simulation", "bill", "sentence"),
    [
        ({}, {"price": -1.0}, "price, per answer, must be at least 0"),
        ({}, {"price": math.nan}, "price, per answer, must be at least 0"),
        ({}, {"cap": 0}, "cap must be at least 1 answer"),
        ({}, {"repeats": 0}, "repeats must be at least 1"),
        ({"delta": 1.0}, {}, "delta, the allowed probability"),
        ({}, {"runs": 0}, "runs must be at least 1"),
        ({"jobs": 0}, {}, "jobs must be at least 1"),
        ({"seed": -1}, {}, "seed must not be negative"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_simulated(
    simulation: dict[str, Any], bill: dict[str, Any], sentence: str
) -> None:
    def never(runs: Iterator[Run]) -> Iterator[Run]:
        raise AssertionError("something was simulated")

    with pytest.raises(InvalidInput, match=sentence):
        forecast(UNKNOWN, Simulation(**{"jobs": 1, **simulation}), **bill, watch=never)


@pytest.mark.parametrize(
    ("guesses", "sentence"),
    [
        ({"gap": (0.8, 0.5)}, "gap must be a positive number, or two with the lower first"),
        ({"gap": 0.5, "share": 0}, "share must be a positive number"),
        ({"gap": 0.5, "useful": (1, 2, 3)}, "useful must be a positive number"),
        ({"gap": 0.5, "useful": 50}, "useful questions must be whole numbers from 1 to all 5"),
        ({"gap": 1.5}, "a yes-no gap must lie between 0 and 1"),
    ],
)
def test_a_guess_that_cannot_be_is_called_by_its_name(
    guesses: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        askfew.plan(20, 5, **guesses)


def test_jobs_do_not_change_the_forecast() -> None:
    one, two = (forecast(UNKNOWN, Simulation(jobs=jobs), runs=12) for jobs in (1, 2))
    assert one == two
    assert np.isfinite(one.q90)
