"""How many answers a second does a campaign on PostgreSQL take from many processes at once?

    python benchmarks/campaign_postgres.py [--workers 64] [--answers 50000] [--rounds 1]

Each process asks for a question and tells its answer, over and over. Beside it, in the same run
and on the same server: a bare loop of the same two transactions, written for psycopg by hand on
the barest tables (lease the next open row; answer it and keep the answer).
"""

from __future__ import annotations

import argparse
import itertools
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import func, make_url, select

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import answers
from askfew.campaigns.store import Store
from campaign_tools import sweep
from postgres import PrivatePostgres
from processes import together

TABLES = """
    CREATE TABLE slots (
        id integer PRIMARY KEY, item integer NOT NULL, question integer NOT NULL,
        state integer NOT NULL, worker text, lease text, expires double precision,
        value double precision);
    CREATE INDEX slots_open ON slots (id) WHERE state = 0;
    CREATE TABLE answers (
        id text PRIMARY KEY, slot integer NOT NULL, worker text NOT NULL,
        value double precision NOT NULL, time double precision NOT NULL);
"""
NEXT = "SELECT id FROM slots WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
LEND = "UPDATE slots SET state = 1, worker = %s, lease = %s, expires = %s WHERE id = %s"
TAKE = "UPDATE slots SET state = 2, value = 1 WHERE id = %s AND lease = %s AND state = 1"
KEEP = "INSERT INTO answers VALUES (%s, %s, %s, 1, %s)"


def bare_rate(url: str, workers: int, count: int) -> float:
    """Answers a second without askfew."""
    plain = make_url(url).set(drivername="postgresql").render_as_string()
    with psycopg.connect(plain) as connection:
        connection.execute(TABLES)
        connection.execute(
            "INSERT INTO slots SELECT i, i / 10, i %% 10, 0 FROM generate_series(1, %s) i", (count,)
        )

    def prepare(number: int) -> Callable[[], int]:
        connection = psycopg.connect(plain)
        return lambda: work(connection, number)

    def work(connection: psycopg.Connection[Any], number: int) -> int:
        for told in itertools.count():
            now = time.time()
            found = connection.execute(NEXT).fetchone()
            if found is None:
                return told
            lease = f"{found[0]}-{secrets.token_hex(8)}"
            connection.execute(LEND, (f"w{number}", lease, now + 600, found[0]))
            connection.commit()
            connection.execute(TAKE, (found[0], lease))
            connection.execute(KEEP, (lease, found[0], f"w{number}", now))
            connection.commit()
        raise AssertionError

    told, took = together(workers, prepare)
    assert sum(told) == count, f"{sum(told)} of {count}"
    return count / took


def askfew_rate(url: str, workers: int, count: int) -> float:
    """Answers a second through ask and tell, after checking that none is lost or double."""
    store = Store(url)
    sweep(store, count // 10, 10, name="rate", answers_per_worker_and_cell=count)
    store.close()

    def prepare(number: int) -> Callable[[], int]:
        campaign = Store(url).campaign("rate")
        return lambda: work(campaign, number)

    def work(campaign: Campaign, number: int) -> int:
        for told in itertools.count():
            asked = campaign.ask(f"w{number}")
            if not asked:
                return told
            receipt = campaign.tell(asked[0].id, True)
            assert receipt.status == "accepted", receipt
        raise AssertionError

    told, took = together(workers, prepare)
    store = Store(url)
    with store.database.read() as connection:
        slots = select(answers.c.step, answers.c.slot)
        kept = connection.execute(select(func.count()).select_from(slots.subquery())).scalar_one()
        once = slots.distinct().subquery()
        distinct = connection.execute(select(func.count()).select_from(once)).scalar_one()
    store.close()
    assert sum(told) == kept == distinct == count, (sum(told), kept, distinct, count)
    return count / took


def main() -> None:
    """Measure both, in turn, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--answers", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    for number in range(options.rounds):
        with PrivatePostgres() as server:
            load = (options.workers, options.answers)
            bare = bare_rate(server.create_database(f"bare{number}"), *load)
            ours = askfew_rate(server.create_database(f"ours{number}"), *load)
            log = (server.folder / "log").read_text()
        print(
            f"{options.workers} processes, {options.answers:,} answers: bare {bare:,.0f}/s,"
            f" askfew {ours:,.0f}/s, ratio {ours / bare:.2f},"
            f" no duplicate, {log.count('deadlock')} deadlocks"
        )


if __name__ == "__main__":
    main()
