"""Golden logs, recorded once, must replay to the same end: here, and without wide vectors.

NumPy's log and exp differ in the last bit between generations of processors. Switching the wide
instructions off makes this one behave like an old one.
"""

import importlib
import json
import os
import subprocess
import sys
import warnings
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

import askfew
from askfew import Log

HERE = Path(__file__).parent
LOGS = sorted(HERE.glob("*.json"))


def replay(path: Path) -> None:
    """Replay a log, step by step compared, and compare the outcome."""
    document = json.loads(path.read_text())
    log = Log.from_dict(document["log"])
    outcome: dict[str, Any] = document["outcome"]
    recipe: Any = log.recipe
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the log was written with")  # other versions
        talk = askfew.session(
            log.problem.items,
            log.problem.questions,
            answers=log.problem.answers,
            method=recipe["method"],
            delta=recipe["delta"],
            budget=recipe["budget"],
            max_answers=document["max_answers"],
            log=log,
            **{name: literal_eval(value) for name, value in recipe["options"].items()},
        )
    assert talk.outcome is not None, f"{path.name} must end, and goes on"
    found = talk.outcome.to_dict()
    for name in ("status", "labels", "answers", "batches", "question", "answers_by_phase"):
        assert found[name] == outcome[name], f"{path.name}: {name}"
    if outcome["evidence"] is not None:
        assert found["evidence"] == pytest.approx(outcome["evidence"], rel=1e-9, abs=1e-9)


def wide_features() -> list[str]:
    """The vector instructions this NumPy may use beyond its baseline, and this processor has."""
    umath = importlib.import_module("numpy._core._multiarray_umath")
    return [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]]


def test_there_are_logs_of_every_kind_of_end() -> None:
    ends = {json.loads(path.read_text())["outcome"]["status"] for path in LOGS}
    assert {"done", "budget"} <= ends


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_golden_log_replays(path: Path) -> None:
    replay(path)


def test_golden_logs_replay_without_wide_vectors() -> None:
    wide = wide_features()
    if not wide:
        pytest.skip("this NumPy has no wide vector instructions to switch off on this processor")
    done = subprocess.run(
        [sys.executable, "-W", "error", __file__],
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(wide)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(len(LOGS)), "logs,", "wide:", "[]"]


if __name__ == "__main__":
    for log_path in LOGS:
        replay(log_path)
    print(len(LOGS), "logs, wide:", wide_features())  # noqa: T201
