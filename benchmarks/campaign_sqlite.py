"""How many answers a second does a campaign on SQLite take from eight processes, and who waits?

    python benchmarks/campaign_sqlite.py [--workers 8] [--answers 1000] [--rounds 9]

Each process asks for a question and tells its answer, over and over. Beside it, in the same run
and on the same disk: a bare sqlite3 loop of the same two transactions on the barest tables, with
WAL and full sync as askfew has them, once relying on SQLite's busy time-out as one would by
default, and once queueing its writers on a file lock as askfew does.
"""

from __future__ import annotations

import argparse
import fcntl
import itertools
import os
import secrets
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.store import Store
from campaign_tools import sweep
from processes import together

TABLES = """
    CREATE TABLE slots (
        id INTEGER PRIMARY KEY, item INTEGER NOT NULL, question INTEGER NOT NULL,
        state INTEGER NOT NULL, worker TEXT, lease TEXT, expires REAL, value REAL);
    CREATE INDEX slots_open ON slots (id) WHERE state = 0;
    CREATE TABLE answers (
        id TEXT PRIMARY KEY, slot INTEGER NOT NULL, worker TEXT NOT NULL, value REAL NOT NULL,
        time REAL NOT NULL);
"""
NEXT = "SELECT id FROM slots WHERE state = 0 ORDER BY id LIMIT 1"
LEND = "UPDATE slots SET state = 1, worker = ?, lease = ?, expires = ? WHERE id = ?"
TAKE = "UPDATE slots SET state = 2, value = 1 WHERE id = ? AND lease = ? AND state = 1"
KEEP = "INSERT INTO answers VALUES (?, ?, ?, 1, ?)"

Measured = tuple[float, float]
"""Answers a second, and the longest that anybody waited for one transaction."""


def bare(file: Path, workers: int, count: int, *, queued: bool) -> Measured:
    """Without askfew."""
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(TABLES)
        rows = [(number, number // 10, number % 10) for number in range(count)]
        connection.executemany(
            "INSERT INTO slots (id, item, question, state) VALUES (?, ?, ?, 0)", rows
        )
    connection.close()

    @contextmanager
    def transaction(connection: sqlite3.Connection) -> Iterator[None]:
        lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT)
        if queued:
            fcntl.flock(lock, fcntl.LOCK_EX)
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
        os.close(lock)

    def prepare(number: int) -> Callable[[], tuple[int, float]]:
        connection = sqlite3.connect(file, timeout=60, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
        return lambda: work(connection, number)

    def work(connection: sqlite3.Connection, number: int) -> tuple[int, float]:
        worst = 0.0
        for told in itertools.count():
            began = time.perf_counter()
            with transaction(connection):
                now = time.time()
                found = connection.execute(NEXT).fetchone()
                if found is None:
                    return told, worst
                lease = f"{found[0]}-{secrets.token_hex(8)}"
                connection.execute(LEND, (f"w{number}", lease, now + 600, found[0]))
            between = time.perf_counter()
            with transaction(connection):
                connection.execute(TAKE, (found[0], lease))
                connection.execute(KEEP, (lease, found[0], f"w{number}", now))
            worst = max(worst, between - began, time.perf_counter() - between)
        raise AssertionError

    return _measured(*together(workers, prepare), count)


def askfew(file: Path, workers: int, count: int) -> Measured:
    """Through ask and tell."""
    url = f"sqlite:///{file}"
    store = Store(url)
    sweep(store, count // 10, 10, name="rate", answers_per_worker_and_cell=count)
    store.close()

    def prepare(number: int) -> Callable[[], tuple[int, float]]:
        campaign = Store(url).campaign("rate")
        return lambda: work(campaign, number)

    def work(campaign: Campaign, number: int) -> tuple[int, float]:
        worst = 0.0
        for told in itertools.count():
            began = time.perf_counter()
            asked = campaign.ask(f"w{number}")
            if not asked:
                return told, worst
            between = time.perf_counter()
            receipt = campaign.tell(asked[0].id, True)
            assert receipt.status == "accepted", receipt
            worst = max(worst, between - began, time.perf_counter() - between)
        raise AssertionError

    return _measured(*together(workers, prepare), count)


def _measured(came: list[tuple[int, float]], took: float, count: int) -> Measured:
    assert sum(told for told, _ in came) == count
    return count / took, max(worst for _, worst in came)


def main() -> None:
    """Measure all three, in turn, and print the ratios.

    A disk may be fast for a while and slow after (a cloud's allow bursts), so there are rounds,
    each begins with another of the three, and sums are compared.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--answers", type=int, default=1_000, help="a round")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", help="where to put the files: on the disk to be measured")
    options = parser.parse_args()
    load = (options.workers, options.answers)
    ways: dict[str, Callable[[Path], Measured]] = {
        "bare loop": lambda file: bare(file, *load, queued=False),
        "bare loop, queued": lambda file: bare(file, *load, queued=True),
        "askfew": lambda file: askfew(file, *load),
    }
    seconds = dict.fromkeys(ways, 0.0)
    waits = dict.fromkeys(ways, 0.0)
    names = list(ways)
    for number in range(options.rounds):
        for name in names[number % 3 :] + names[: number % 3]:
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                rate, wait = ways[name](Path(folder) / "store.db")
            seconds[name] += options.answers / rate
            waits[name] = max(waits[name], wait)
    count = options.answers * options.rounds
    print(f"{load[0]} processes, {count:,} answers in {options.rounds} rounds, full sync:")
    for name in names:
        print(
            f"  {name:18} {count / seconds[name]:8,.0f}/s  worst wait {waits[name]:.2f} s"
            f"  ratio {seconds['bare loop'] / seconds[name]:.2f}"
        )


if __name__ == "__main__":
    main()
