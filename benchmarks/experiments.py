"""How long do the paper's experiments take? Each should stay under ten minutes on two cores.

python benchmarks/experiments.py [--exp1 200] [--exp2 100] [--jobs 2]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time


def main() -> None:
    """Run both as a user would, and print their wall time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exp1", type=int, default=200)
    parser.add_argument("--exp2", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for name in ("exp1", "exp2"):
        runs, jobs = str(getattr(options, name)), str(options.jobs)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "askfew", "paper", name, "--runs", runs]
            began = time.perf_counter()
            subprocess.run([*command, "--jobs", jobs], cwd=folder, check=True)
            print(f"{name} --runs {runs}: {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
