"""How much slower is askfew's server than a bare app, with 8, 32 and 128 workers at once?

    python benchmarks/server_load.py [--seconds 4] [--rounds 3] [--out benchmarks/server_load.md]

Workers come by HTTP, with a connection and a token each, from another process: ask, tell, ask,
tell, without a pause. What counts is answers a second.

The bare app is the least that keeps a question from being asked twice and an answer from being
lost: FastAPI on uvicorn, two routes, one write transaction each, by SQLAlchemy's pool and plain
SQL. ``/ask`` leases the first open row, ``/tell`` answers it and keeps the answer. It runs on the
same kind of store with the same promise (SQLite in WAL mode with full sync, its writers one by one
and not polling; PostgreSQL with synchronous commits) and takes and gives the same JSON. It knows
no tokens, no campaigns, no leases that end, no worker twice on a cell, no steps: all that is
askfew's own, and is in the ratio.

Both are measured in turn, for some seconds each, several times in one run; the ratio is that of
the medians. The client writes HTTP by hand: a comfortable one would be what is measured. Fails if
the worst ratio is not above 0.5.

Beside them the same workers come to ``askfew serve --workers 2`` over the same store and campaign.
On two cores, which the client and the database need as well, this says what a second process costs;
what it brings shows only where there are cores left.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sqlalchemy import Engine, create_engine, event, text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from askfew.web.server import address, bound, serve, serve_many
from postgres import PrivatePostgres

WORKERS = (8, 32, 128)
QUESTIONS = 5
"""Fewer than workers, so that nobody has to meet an item twice."""
LEAST = 0.5
PROCESSES = 2
START_SECONDS = 10
"""Until all server processes have begun, also on a busy machine."""
SPAWN = multiprocessing.get_context("spawn")

TABLES = (
    "CREATE TABLE slots (number integer PRIMARY KEY, item text NOT NULL, question text NOT NULL,"
    " state integer NOT NULL, worker text, lease text, expires double precision,"
    " value double precision)",
    "CREATE INDEX slots_open ON slots (number) WHERE state = 0",
    "CREATE TABLE answers (id text PRIMARY KEY, slot integer NOT NULL, worker text NOT NULL,"
    " value double precision NOT NULL, time double precision NOT NULL)",
)
FILL = text("INSERT INTO slots (number, item, question, state) VALUES (:number, :item, :q, 0)")
LEND = (
    "UPDATE slots SET state = 1, worker = :worker, lease = :lease, expires = :expires WHERE number"
    " = (SELECT number FROM slots WHERE state = 0 ORDER BY number LIMIT 1 {lock})"
    " RETURNING number, item, question"
)
TAKE = text(
    "UPDATE slots SET state = 2, value = :value WHERE lease = :lease AND number = :number"
    " AND state = 1 RETURNING worker"
)
KEEP = text("INSERT INTO answers VALUES (:lease, :number, :worker, :value, :time)")


class Ask(BaseModel):
    """Who asks."""

    worker: str


class Tell(BaseModel):
    """An answer to a lease."""

    id: str
    answer: int


def bare_app(engine: Engine) -> FastAPI:
    """One write transaction a request."""
    app, turn = FastAPI(), threading.Lock()
    postgres = engine.dialect.name == "postgresql"
    lend = text(LEND.format(lock="FOR UPDATE SKIP LOCKED" if postgres else ""))

    @contextmanager
    def writing() -> Iterator[Any]:
        if postgres:
            with engine.begin() as connection:
                yield connection
        else:
            with turn, engine.begin() as connection:
                yield connection

    @app.post("/ask")
    def ask(body: Ask) -> dict[str, Any]:
        expires = time.time() + 600
        made = {"worker": body.worker, "lease": secrets.token_hex(8), "expires": expires}
        with writing() as connection:
            row = connection.execute(lend, made).one()
        lease = f"{row.number}-{made['lease']}"
        item, question = {"id": row.item, "text": ""}, {"id": row.question, "text": "?"}
        asked = {"id": lease, "item": item, "question": question, "expires": expires}
        return {"state": "running", "questions": [asked]}

    @app.post("/tell")
    def tell(body: Tell) -> dict[str, Any]:
        number, _, lease = body.id.partition("-")
        told = {"number": int(number), "lease": lease, "value": body.answer, "time": time.time()}
        with writing() as connection:
            worker = connection.execute(TAKE, told).scalar_one()
            connection.execute(KEEP, {**told, "worker": worker})
        return {"status": "accepted", "ok": True, "message": "thank you"}

    return app


def bare_engine(url: str) -> Engine:
    """With the same promises as askfew's."""
    if not url.startswith("sqlite"):
        return create_engine(url, pool_size=10, max_overflow=30)
    engine = create_engine(url, connect_args={"timeout": 60})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def serve_bare(url: str, told: Connection) -> None:
    """The process of the bare app."""
    app = bare_app(bare_engine(url))
    with bound("127.0.0.1", 0) as listening:
        told.send(address(listening))
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[listening])


def serve_ours(url: str, told: Connection) -> None:
    """The process of askfew's server, as ``askfew serve`` runs it."""
    with bound("127.0.0.1", 0) as listening:
        told.send(address(listening))
        serve(Store(url), listening)


def serve_several(url: str, told: Connection) -> None:
    """The parent of two of askfew's servers, as ``askfew serve --workers 2`` runs them."""
    with bound("127.0.0.1", 0) as listening:
        told.send(address(listening))
        serve_many(url, listening, PROCESSES)


@contextmanager
def running(target: Callable[[str, Connection], None], url: str) -> Iterator[str]:
    """A server process, by its address."""
    here, there = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=target, args=(url, there))
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


class Client:
    """One connection that is kept; HTTP as our servers speak it."""

    def __init__(self, base: str, token: str) -> None:
        self._host, _, port = base.removeprefix("http://").partition(":")
        self._port = int(port)
        self._head = f"Host: {self._host}:{port}\r\nAuthorization: Bearer {token}\r\n"

    async def open(self) -> None:
        """Connect."""
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)

    async def post(self, path: str, body: object) -> Any:
        """Send JSON, get JSON."""
        content = json.dumps(body)
        self._writer.write(
            f"POST {path} HTTP/1.1\r\n{self._head}Content-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n{content}".encode()
        )
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        answer = json.loads(await self._reader.readexactly(length))
        assert head.startswith("http/1.1 200"), (head, answer)
        return answer

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


async def work(client: Client, path: str, ask: object, end: float) -> list[float]:
    """Ask and tell until the end; how long each pair took."""
    took = []
    await client.open()
    while (began := time.perf_counter()) < end:
        (asked,) = (await client.post(f"{path}/ask", ask))["questions"]
        receipt = await client.post(f"{path}/tell", {"id": asked["id"], "answer": 1})
        assert receipt["ok"], receipt
        took.append(time.perf_counter() - began)
    client.close()
    return took


def crowd(base: str, path: str, who: list[tuple[str, dict[str, str]]], seconds: float) -> list[Any]:
    """All workers at once (in a process of its own); answers a second, and the pairs' times."""

    async def together() -> list[list[float]]:
        end = time.perf_counter() + seconds
        jobs = [work(Client(base, token), path, ask, end) for token, ask in who]
        return await asyncio.gather(*jobs)

    began = time.perf_counter()
    took = sorted(each for rows in asyncio.run(together()) for each in rows)
    lasted = time.perf_counter() - began
    return [len(took) / lasted, took[int(0.95 * len(took))]]


def rounds(
    pool: Any, ours: str, several: str, bare: str, tokens: list[str], name: str, options: Any
) -> dict[str, list[float]]:
    """Rates, and 95 % quantiles in ms, of all in turn."""
    named = [(token, {"worker": f"w{n}"}) for n, token in enumerate(tokens)]
    free: list[tuple[str, dict[str, str]]] = [(token, {}) for token in tokens]
    kinds = {
        "bare": (bare, "", named),
        "askfew": (ours, f"/api/v1/campaigns/{name}", free),
        "several": (several, f"/api/v1/campaigns/{name}", free),
    }
    rates: dict[str, list[float]] = {kind: [] for kind in kinds}
    slowest: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(options.rounds):
        for kind in sorted(kinds, reverse=bool(number % 2)):
            rate, slow = pool.apply(crowd, (*kinds[kind], options.seconds))
            rates[kind].append(rate)
            slowest[kind].append(1000 * slow)
    return {kind: [median(rates[kind]), median(slowest[kind])] for kind in kinds}


def measure(pool: Any, kind: str, make: Callable[[str], str], options: Any) -> Iterator[list[Any]]:
    """A row for each number of workers on one kind of store."""
    ours, bare = make("ours"), make("bare")
    store, engine = Store(ours), bare_engine(bare)
    items = int(options.seconds * options.rounds * 1500 / QUESTIONS)
    fill = [
        {"number": n, "item": f"i{n // QUESTIONS}", "q": f"q{n % QUESTIONS}"}
        for n in range(items * QUESTIONS * len(WORKERS))
    ]
    with engine.begin() as connection:
        for each in TABLES:
            connection.execute(text(each))
        connection.execute(FILL, fill)
    engine.dispose()
    with ExitStack() as stack:
        for_bare = stack.enter_context(running(serve_bare, bare))
        for_ours = stack.enter_context(running(serve_ours, ours))
        for_several = stack.enter_context(running(serve_several, ours))
        time.sleep(START_SECONDS)
        for workers in WORKERS:
            name = f"load{workers}"
            campaign = store.create(
                Settings(
                    name,
                    method="spectral",
                    options={"budget": items * QUESTIONS},
                    max_answers=10**9,
                ),
                [Item(f"i{n}") for n in range(items)],
                [Question(f"q{n}", "?") for n in range(QUESTIONS)],
            )
            tokens = [new_link(campaign, f"w{n}") for n in range(workers)]
            found = rounds(pool, for_ours, for_several, for_bare, tokens, name, options)
            (bare_rate, bare_slow), (rate, slow) = found["bare"], found["askfew"]
            two = found["several"][0]
            yield [kind, workers, bare_rate, rate, rate / bare_rate, bare_slow, slow, two]
    store.close()


def main() -> None:
    """Measure, print, and fail if it is too slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--store", choices=["SQLite", "PostgreSQL"])
    options = parser.parse_args()
    rows = []
    with ExitStack() as stack:
        pool = stack.enter_context(SPAWN.Pool(1))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        kinds: dict[str, Callable[[str], str]] = {
            "SQLite": lambda name: f"sqlite:///{folder}/{name}.db"
        }
        if options.store != "SQLite":
            kinds["PostgreSQL"] = stack.enter_context(PrivatePostgres()).create_database
        for kind, make in kinds.items():
            if options.store in (None, kind):
                for row in measure(pool, kind, make, options):
                    print(_line(row), flush=True)
                    rows.append(row)
    worst = min(row[4] for row in rows)
    print(f"worst ratio: {worst:.2f}")
    if options.out is not None:
        options.out.write_text(_table(rows, worst, options))
    sys.exit(0 if worst > LEAST else 1)


def _line(row: list[Any]) -> str:
    kind, workers, bare, ours, ratio, bare_slow, slow, two = row
    rates = f"{bare:,.0f} | {ours:,.0f} | {ratio:.2f} | {bare_slow:,.0f} | {slow:,.0f}"
    rates += f" | {two:,.0f} | {two / ours:.2f}"
    return f"| {kind} | {workers} | {rates} |"


def _table(rows: list[list[Any]], worst: float, options: Any) -> str:
    command = f"python benchmarks/server_load.py --seconds {options.seconds:g}"
    return "\n".join(
        [
            f"`{command} --rounds {options.rounds}`, on two cores shared with the client, and with",
            "the database where that is PostgreSQL: answers a second, and the milliseconds within",
            "which 95 % of the workers had a question and told its answer. Other work may run",
            "beside it: the ratios count, not the rates.",
            "",
            "| store | workers | bare app | askfew | ratio | bare, ms | askfew, ms"
            " | two processes | to one |",
            "|---|---|---|---|---|---|---|---|---|",
            *map(_line, rows),
            "",
            f"The worst ratio is {worst:.2f}. The last two columns are `askfew serve --workers"
            f" {PROCESSES}`: answers a second, and how many",
            "times those of one process.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
