"""``askfew paper``: a killed experiment goes on; what cannot be run is one sentence."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import Command

COMMAND = [sys.executable, "-m", "askfew", "paper", "exp2", "--runs", "1", "--jobs", "1"]


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "--folder", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def finish(folder: Path) -> None:
    with start(folder) as process:
        _, notes = process.communicate()
    assert process.returncode == 0, notes


def test_a_killed_experiment_goes_on_and_ends_with_the_same_table(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    finish(whole)
    results = killed / "exp2.cells.jsonl"
    with start(killed) as victim:
        while not (results.exists() and results.read_text().count("\n") >= 4):
            assert victim.poll() is None, "it must not end before it is killed"
            time.sleep(0.02)
        os.kill(victim.pid, signal.SIGKILL)
    assert not (killed / "exp2.csv").exists()
    finish(killed)
    assert (killed / "exp2.csv").read_bytes() == (whole / "exp2.csv").read_bytes()
    assert (killed / "exp2.png").stat().st_size > 10_000
    assert (killed / "exp2.svg").exists()


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("exp9", "experiment must be one of exp1, exp2, exp3, exp4, got 'exp9': "),
        ("exp2 --engine dask", "engine must be local, or dask with a --scheduler address, got"),
        ("exp2 --jobs 0", "jobs must be at least 1, or -1 for all cores, got 0: "),
        ("exp1 --published gone.json", "--published must be a JSON file of the authors' results"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(wide: Command, bad: str, sentence: str) -> None:
    code, out, err = wide("paper", *bad.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: {sentence}")
    assert not Path("results").exists()
