"""What the benchmarks measure at length, in short and without a watch: many processes at once, and
plans that look up instead of searching. On both databases.
"""

import fcntl
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Executable

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.handout import _OVERDUE_SLOTS, LEND_FIRST, STAGES
from askfew.campaigns.db.queries.leases import _TAKE, TAKE_AND_KEEP
from askfew.campaigns.db.queries.slots import _WAITING
from askfew.campaigns.db.queries.workers import _ARRIVAL
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.store import Store
from campaign_tools import answers_of, sweep
from processes import together

PROCESSES = 12
STATEMENTS: dict[str, Executable] = {
    "arrival": _ARRIVAL,
    "overdue": _OVERDUE_SLOTS,
    "take": _TAKE,
    "take and keep": TAKE_AND_KEEP,
    "waiting": _WAITING,
    **{f"lend, stage {number}": each for number, each in enumerate(LEND_FIRST)},
    **{f"pick, stage {number}": each for number, each in enumerate(STAGES)},
}
PARAMETERS: dict[str, object] = {
    "this_campaign": 1,
    "this_step": 0,
    "this_worker": "ann",
    "from_number": 3,
    "below_number": 2**31 - 1,
    "this_lease": "1-0-3-ab",
    "at_step": 0,
    "at_number": 3,
    "per_cell": 1,
    "role": False,
    "most": 5,
    "now": 1e9,
    "until": 1e9,
    "answer": 1.0,
    "lease_begins": "1-0-",
    "lease_ends": "-ab",
    "keep_id": "1-0-3-ab",
    "keep_campaign": 1,
    "keep_step": 0,
    "keep_slot": 3,
    "keep_value": 1.0,
    "keep_raw": "1",
    "keep_seconds": None,
    "keep_cost": None,
    "keep_time": 1e9,
    "keep_retracted": False,
}


def test_many_processes_answer_every_question_once(store_url: str) -> None:
    store = Store(store_url)
    sweep(store, rows=20, columns=3, each=4, answers_per_worker_and_cell=4)
    store.close()

    def prepare(number: int) -> Callable[[], list[str]]:
        campaign = Store(store_url).campaign("sweep")
        return lambda: work(campaign, f"w{number}")

    def work(campaign: Campaign, worker: str) -> list[str]:
        told = []
        while asked := campaign.ask(worker):
            receipt = campaign.tell(asked[0].id, True)
            assert receipt.status == "accepted", receipt
            told.append(asked[0].id)
        return told

    came, _ = together(PROCESSES, prepare)
    store = Store(store_url)
    campaign = store.campaign("sweep")
    kept = [row.id for row in answers_of(campaign)]
    assert len(kept) == 20 * 3 * 4
    assert Counter(kept) == Counter(each for told in came for each in told)
    assert campaign.state == "ended"
    assert examine_store(store.database).sound
    store.close()


@pytest.fixture
def wide(store_url: str) -> Iterator[Store]:
    """One step of 5,000 slots."""
    opened = Store(store_url)
    sweep(opened, rows=500, columns=10)
    yield opened
    opened.close()


def plan_of(store: Store, statement: Executable) -> str:
    words = (
        "EXPLAIN" if store.database.engine.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"
    )

    def explain(raw: Any) -> str:
        text, constants = store.database.raw.compiled(statement)
        raw._cursor.execute(f"{words} {text}", {**constants, **PARAMETERS})
        return "\n".join(str(row[-1]) for row in raw._cursor.fetchall())

    return store.database.raw_transaction(explain)


@pytest.mark.parametrize("analysed", [False, True])
def test_what_every_question_and_answer_needs_is_looked_up_by_index(
    wide: Store, analysed: bool
) -> None:
    if analysed:  # a planner who knows that nearly all slots are open may think them easy to find
        with wide.database.write() as connection:
            connection.exec_driver_sql("ANALYZE")
    for name, statement in STATEMENTS.items():
        if statement is TAKE_AND_KEEP and wide.database.engine.dialect.name == "sqlite":
            continue  # SQLite writes to one table in a statement, and never runs this one
        plan = plan_of(wide, statement)
        assert "slots" in plan
        for searched in ("Seq Scan on slots", "SCAN slots", "SCAN held", "SCAN any_open", "SORT"):
            assert searched.lower() not in plan.lower(), f"{name}:\n{plan}"


def test_postgres_never_compiles_a_statement(fresh_database: str) -> None:
    store = Store(fresh_database)
    with store.database.read() as connection:
        assert connection.exec_driver_sql("SHOW jit").scalar_one() == "off"
    store.close()


def test_sqlite_writers_queue_on_a_file_lock(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    campaign = sweep(store)
    lock = os.open(tmp_path / "store.db.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(campaign.ask, "ann")
        with pytest.raises(NotYet):
            asking.result(timeout=0.2)
        os.close(lock)
        assert len(asking.result()) == 1
    store.close()
