"""The paper's experiments from the command line, killed on the way."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from askfew.experiments import exp1, exp2, exp3, exp4

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


def test_the_experiments_are_the_paper_s() -> None:
    first = exp1.Config()
    assert first.sparsities[:5] == [1, 53, 106, 158, 211]
    assert first.sparsities[-1] == 1000
    assert (first.kmeans_budgets[0], first.kmeans_budgets[-1]) == (170_000, 300_000)
    assert len(exp1.study().places) == 20 * 8
    assert exp2.Config().instance(500).questions == 5000
    assert exp3.Config().instance(8).second_group == 8
    assert [exp4.Config().instance(u).questions for u in exp4.Config().useful] == [2, 4, 8, 16, 32]
