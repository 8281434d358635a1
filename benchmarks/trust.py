"""Do certificates hold, whoever handles the answers? Whole campaigns on a real store.

    python benchmarks/trust.py [--runs 200] [--cheats 20] > benchmarks/trust.md

Four ways to mishandle answers (``tests/mishandling.py``), each with the code as it is and with the
old behaviour put back. Rates are of certified campaigns, with Clopper and Pearson's limits at 95 %.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from mishandling import DELTA, MISHANDLINGS, TRUTH, Mishandling, certified, limits


def row(how: Mishandling, runs: int, *, cheat: bool) -> tuple[str, bool]:
    """A line of the table, and whether the rate may be delta or less."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if cheat:
            how.cheat(patch)
        count, wrong = certified(how, Path(folder), runs)
    low, high = limits(wrong, count)
    seconds = time.monotonic() - began
    behaviour = "old" if cheat else "today's"
    line = f"| {how.name} | {behaviour} | {runs} | {count} | {wrong} | {wrong / count:.3f} |"
    return f"{line} {low:.3f} to {high:.3f} | {seconds:.0f} |", low <= DELTA


def main() -> None:
    """All of it, as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--cheats", type=int, default=20)
    asked = parser.parse_args()
    print("# Certified and wrong, whoever handles the answers\n")
    print(
        f"`python benchmarks/trust.py --runs {asked.runs} --cheats {asked.cheats}` on Python"
        f" {platform.python_version()}. Method frugal, delta {DELTA:g}, {len(TRUTH)} items, yes/no"
        " answers of 25 % and 75 %.\nThe last column but one has Clopper and Pearson's limits of"
        " the rate at 95 %.\n"
    )
    print(
        "| answers are mishandled | behaviour | runs | certified | wrong | rate | limits |", end=""
    )
    print(" seconds |\n|---|---|---|---|---|---|---|---|")
    expected = True
    for cheat, runs in ((False, asked.runs), (True, asked.cheats)):
        for how in MISHANDLINGS:
            line, within = row(how, runs, cheat=cheat)
            print(line, flush=True)
            expected &= within != cheat
    if not expected:
        sys.exit(1)


if __name__ == "__main__":
    main()
