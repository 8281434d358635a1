"""How long does one wait for ``askfew --help``, against importing numpy alone?

    python benchmarks/startup.py [--repeats 10]

Each is a process of its own; the best of its repeats counts, taken in turns. Nobody should wait
much longer for a page of help than for numpy.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

NUMPY = "import numpy"
TRIED = {
    NUMPY: ["-c", "import numpy"],
    "import askfew": ["-c", "import askfew"],
    "from askfew import cluster": ["-c", "from askfew import cluster"],
    "askfew --version": ["-m", "askfew", "--version"],
    "askfew --help": ["-m", "askfew", "--help"],
    "askfew tell --help": ["-m", "askfew", "tell", "--help"],
}


def seconds(arguments: list[str]) -> float:
    """Of one process, from its start to its end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    """The best time of each, and its ratio to numpy's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    rounds = [{name: seconds(how) for name, how in TRIED.items()} for _ in range(repeats)]
    best = {name: min(each[name] for each in rounds) for name in TRIED}
    for name, took in best.items():
        print(f"{name:<28} {1000 * took:6.0f} ms {took / best[NUMPY]:6.2f} x {NUMPY}")


if __name__ == "__main__":
    main()
