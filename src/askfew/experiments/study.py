"""A study: what the paper's experiments share. It can be stopped and resumed.

A study is a list of points; each is one curve at one value of x. Every finished point is one line
of a results file, which is written and synced before the next point begins. So a killed study goes
on where it stopped and ends with the same table, byte for byte.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from askfew.errors import InvalidInput
from askfew.simulation import Engine, Instance, Run, RunSummary, Trial, repeat

__all__ = [
    "GrowthClaim",
    "Line",
    "Measured",
    "Point",
    "Study",
    "measure_by_repeating",
    "run_study",
]

Measure = Callable[[int, int, Engine], list[Run]]
"""(runs, seed, engine) -> the runs."""


@dataclass(frozen=True)
class Point:
    """A curve at a value of x, and how to measure it."""

    curve: str
    x: float
    measure: Measure


@dataclass(frozen=True)
class Line:
    """A curve that is not measured here: a bound, a reference, published points."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    points: bool = False


@dataclass(frozen=True)
class GrowthClaim:
    """A statement about how a curve grows, to compare with the measured exponent."""

    curve: str
    sentence: str
    least_x: float = 0.0


@dataclass(frozen=True)
class Study:
    """A named experiment: its fixed settings, its x axis, its points, and other lines to draw."""

    name: str
    title: str
    x_name: str
    x_label: str
    config: Mapping[str, object]
    places: Sequence[Point]
    lines: Sequence[Line] = ()
    claims: Sequence[GrowthClaim] = ()
    compared: tuple[str, str] | None = None
    """Two curves whose ratio is the conclusion: ours, and the one it is compared with."""
    published: Callable[[Mapping[str, Any]], list[Line]] | None = None
    """Reads the authors' numbers from their published results, if there are any."""


def measure_by_repeating(instance: Instance, trial: Trial) -> Measure:
    """Measure by one trial on each of as many worlds as there are runs."""

    def measure(runs: int, seed: int, engine: Engine) -> list[Run]:
        return repeat(instance, trial, runs=runs, seed=seed, engine=engine)

    return measure


@dataclass(frozen=True)
class Measured:
    """A point with the summary of its runs."""

    curve: str
    x: float
    runs: int
    summary: RunSummary


def run_study(
    study: Study,
    folder: Path,
    *,
    runs: int,
    seed: int,
    engine: Engine,
    fresh: bool = False,
    watch: Callable[[Iterator[Measured]], Iterator[Measured]] = iter,
) -> list[Measured]:
    """Measure the points that are not measured yet; write the table and a JSON of details."""
    began = time.time()
    folder.mkdir(parents=True, exist_ok=True)
    head = {"study": study.name, "runs": runs, "seed": seed, "config": dict(study.config)}
    kept = _Results(folder / f"{study.name}.cells.jsonl", head, fresh)

    def cells() -> Iterator[Measured]:
        for place in study.places:
            known = kept.get(place)
            if known is None:
                summary = RunSummary.of(place.measure(runs, seed, engine))
                known = Measured(place.curve, place.x, runs, summary)
                kept.add(known)
            yield known

    measured = list(watch(cells()))
    _write_csv(measured, study.x_name, folder / f"{study.name}.csv")
    particulars = {
        **head,
        "title": study.title,
        "seconds": round(time.time() - began, 1),
        "versions": {name: version(name) for name in ("askfew", "numpy", "scipy")}
        | {"python": platform.python_version()},
    }
    (folder / f"{study.name}.json").write_text(json.dumps(particulars, indent=2) + "\n")
    return measured


class _Results:
    """The results file: a line with the settings, then a line for each finished point."""

    def __init__(self, path: Path, head: dict[str, Any], fresh: bool) -> None:
        self._path = path
        self._cells: dict[tuple[str, float], Measured] = {}
        lines = [] if fresh or not path.exists() else _whole_lines(path)
        # Points of two settings in one figure would look like one experiment.
        if lines and lines[0] != json.dumps(head):
            raise InvalidInput(
                f"{path} must hold results of the same study, runs and seed",
                "other settings",
                "pass --fresh to start anew, or another folder",
            )
        lines = lines or [json.dumps(head)]
        for line in lines[1:]:
            cell = _read(json.loads(line))
            self._cells[cell.curve, cell.x] = cell
        # Rewritten from the complete lines, so that a line that a crash cut short is gone.
        path.write_text("".join(f"{line}\n" for line in lines))

    def get(self, place: Point) -> Measured | None:
        return self._cells.get((place.curve, place.x))

    def add(self, cell: Measured) -> None:
        self._cells[cell.curve, cell.x] = cell
        with self._path.open("a") as file:
            file.write(json.dumps(asdict(cell)) + "\n")
            # Synced: a point may have taken an hour.
            file.flush()
            os.fsync(file.fileno())


def _whole_lines(path: Path) -> list[str]:
    """The lines that end in a newline: a crash can cut only the last one short."""
    return [line[:-1] for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _read(values: dict[str, Any]) -> Measured:
    summary = values.pop("summary")
    summary["error_interval"] = tuple(summary["error_interval"])  # JSON has no tuples
    return Measured(**values, summary=RunSummary(**summary))


def _write_csv(measured: Sequence[Measured], x_name: str, path: Path) -> None:
    with path.open("w", newline="") as file:
        writer: csv.DictWriter[str] | None = None
        for cell in measured:
            summary = asdict(cell.summary)
            low, high = summary.pop("error_interval")
            row = {
                "curve": cell.curve,
                x_name: f"{cell.x:g}",
                "runs": cell.runs,
                **summary,
                "error_low": low,
                "error_high": high,
            }
            if writer is None:
                writer = csv.DictWriter(file, fieldnames=list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
