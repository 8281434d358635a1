import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from askfew.errors import InvalidInput
from askfew.experiments.study import Measured, Place, Study, log_slope, run_study
from askfew.simulation import Engine, Run, Summary, local


def counting(calls: list[float], x: float) -> Callable[[int, int, Engine], list[Run]]:
    """A measurement that notes when it is made; its result depends on x and the seed only."""

    def measure(runs: int, seed: int, engine: Engine) -> list[Run]:
        calls.append(x)
        return [Run("done", True, int(100 * x) + seed + i, 3) for i in range(runs)]

    return measure


def a_study(calls: list[float]) -> Study:
    places = [Place("curve", x, counting(calls, x)) for x in (1.0, 2.0, 3.0)]
    return Study("toy", "A toy", "x", "x", {"places": 3}, places)


def test_finished_cells_are_not_measured_again(tmp_path: Path) -> None:
    calls: list[float] = []
    first = run_study(a_study(calls), tmp_path, runs=2, seed=5, engine=local(1))
    again = run_study(a_study(calls), tmp_path, runs=2, seed=5, engine=local(1))
    assert calls == [1.0, 2.0, 3.0]
    assert first == again


def test_a_line_cut_by_a_crash_is_measured_again(tmp_path: Path) -> None:
    calls: list[float] = []
    run_study(a_study(calls), tmp_path, runs=2, seed=5, engine=local(1))
    table = (tmp_path / "toy.csv").read_bytes()
    results = tmp_path / "toy.cells.jsonl"
    results.write_text(results.read_text()[:-40])
    run_study(a_study(calls), tmp_path, runs=2, seed=5, engine=local(1))
    assert calls == [1.0, 2.0, 3.0, 3.0]
    assert (tmp_path / "toy.csv").read_bytes() == table


def test_other_settings_are_refused_and_fresh_starts_anew(tmp_path: Path) -> None:
    calls: list[float] = []
    run_study(a_study(calls), tmp_path, runs=2, seed=5, engine=local(1))
    with pytest.raises(InvalidInput, match="same study, runs and seed"):
        run_study(a_study(calls), tmp_path, runs=2, seed=6, engine=local(1))
    run_study(a_study(calls), tmp_path, runs=2, seed=6, engine=local(1), fresh=True)
    assert calls == [1.0, 2.0, 3.0] * 2


def test_particulars_name_seed_runs_versions_and_time(tmp_path: Path) -> None:
    run_study(a_study([]), tmp_path, runs=2, seed=5, engine=local(1))
    particulars = json.loads((tmp_path / "toy.json").read_text())
    assert particulars["seed"] == 5
    assert particulars["runs"] == 2
    assert {"askfew", "numpy", "scipy", "python"} == particulars["versions"].keys()
    assert particulars["seconds"] >= 0


def measured(x: float, answers: float) -> Measured:
    runs = [Run("done", True, round(answers), 1)] * 2
    return Measured("curve", x, 2, Summary.of(runs))


def test_the_slope_of_a_power_law_is_its_exponent() -> None:
    cells = [measured(x, 1000 * x**1.5) for x in (1, 4, 9, 16, 25)]
    slope = log_slope(cells, "curve")
    assert slope is not None
    assert slope.exponent == pytest.approx(1.5, abs=1e-3)
    assert slope.low <= slope.exponent <= slope.high


def test_the_slope_s_interval_is_that_of_least_squares() -> None:

    points = [(1, 100), (2, 260), (4, 350), (8, 900), (16, 1500)]
    slope = log_slope([measured(x, y) for x, y in points], "curve")

    fit = stats.linregress(*np.log(np.array(points, dtype=float)).T)
    assert slope is not None
    assert slope.exponent == pytest.approx(fit.slope)
    assert slope.high - slope.exponent == pytest.approx(stats.t.ppf(0.975, 3) * fit.stderr)
