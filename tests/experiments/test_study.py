import json
from collections.abc import Callable
from pathlib import Path

import pytest

from askfew.errors import InvalidInput
from askfew.experiments.study import Point, Study, run_study
from askfew.simulation import Engine, Run, local


def counting(calls: list[float], x: float) -> Callable[[int, int, Engine], list[Run]]:
    """A measurement that notes when it is made; its result depends on x and the seed only."""

    def measure(runs: int, seed: int, engine: Engine) -> list[Run]:
        calls.append(x)
        return [Run("done", True, int(100 * x) + seed + i, 3) for i in range(runs)]

    return measure


def a_study(calls: list[float]) -> Study:
    places = [Point("curve", x, counting(calls, x)) for x in (1.0, 2.0, 3.0)]
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
