"""Experiment 2 at its largest, capped: the n x d matrix (2 GB) must never be built.

Not for items that differ either: they do so on the useful questions alone.
"""

import subprocess
import sys

import pytest

SCRIPT = """
from pathlib import Path
from askfew.simulation import Instance, simulate_runs

def peak():  # ru_maxrss would count the process that started this one
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])

before = peak()
(run,) = simulate_runs(
    Instance(5000, 50_000, 10, 5.0, spread=SPREAD), "paper", delta=0.05, runs=1,
    max_answers=3_000_000,
)
print(run.answers, before, peak())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("spread", ["0.0", "0.1"])
def test_a_large_world_fits_in_a_small_memory(spread: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("SPREAD", spread)],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    answers, before, after = map(int, done.stdout.split())
    assert answers > 1_000_000
    assert after < 300_000
    assert after - before < 150_000
