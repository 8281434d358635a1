"""How long does the server take for an answer and the next question, with many workers?

    python benchmarks/web_latency.py [--workers 50] [--seconds 60] [--servers 1]

Workers come by HTTP, with a token each, from another process: tell, ask, pause for about a second.
The store is on PostgreSQL. The server's own time is measured in the server, around its whole app,
and what a worker sees is measured there. Beside it, in the same run and under the same load: a
bare FastAPI route that takes and gives the same JSON and does nothing, called twice for the two
requests. Fails if the median is not under 30 ms, or the 95 % quantile not under 100 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from askfew.web.api.bodies import Answer
from askfew.web.api.documents import ReceiptDocument, receipt_document
from askfew.web.app import create_app
from askfew.web.server import address, bound
from postgres import PrivatePostgres

ITEMS, QUESTIONS = 500, 20
MEDIAN_MS, MOST_MS = 30.0, 100.0
SPAWN = multiprocessing.get_context("spawn")


class Timed:
    """Adds to every response how long the app inside took, in milliseconds."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        began = time.perf_counter()

        async def stamped(message: Any) -> None:
            if message["type"] == "http.response.start":
                took = 1000 * (time.perf_counter() - began)
                message["headers"] = [*message["headers"], (b"x-took", f"{took:.3f}".encode())]
            await send(message)

        await self.app(scope, receive, stamped if scope["type"] == "http" else send)


def bare_app() -> FastAPI:
    """One route, of the same kind as ours, that does nothing."""
    from askfew.campaigns.slots.intake import Receipt, Received

    app = FastAPI()

    @app.post("/bare")
    def bare(body: Answer) -> ReceiptDocument:
        return receipt_document(Receipt(Received.ACCEPTED, body.id))

    return app


def serve(url: str, told: Connection) -> None:
    """A server process; it ends when its parent ends it."""
    app = create_app(Store(url))
    app.mount("/beside", bare_app())
    with bound("127.0.0.1", 0) as listening:
        config = uvicorn.Config(Timed(app), log_level="warning", access_log=False)
        told.send(address(listening))
        uvicorn.Server(config).run(sockets=[listening])


async def work(
    base: str, token: str, end: float, seed: int, rows: list[tuple[float, float, float, float]]
) -> None:
    """One worker: (server's, worker's) time of both requests, and the same of the bare route."""
    here, rng = f"{base}/api/v1/campaigns/crowd", random.Random(seed)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as client:
        await asyncio.sleep(rng.random())
        asked = (await client.post(f"{here}/ask", json={})).json()
        while time.monotonic() < end:
            await asyncio.sleep(rng.uniform(0.5, 1.5))
            if not asked["questions"]:  # a step is about to close
                asked = (await client.post(f"{here}/ask", json={})).json()
                continue
            question = asked["questions"][0]
            odd = int(question["item"]["id"]) % 2
            answer = {"id": question["id"], "answer": int(rng.random() < (0.9 if odd else 0.1))}
            ours = await timed(client, (f"{here}/tell", answer), (f"{here}/ask", {}))
            beside = (f"{base}/beside/bare", answer)
            bare = await timed(client, beside, beside)
            rows.append((*ours[0], *bare[0]))
            assert ours[1].json().keys() == {"state", "questions"}, ours[1].text
            asked = ours[1].json()


async def timed(
    client: httpx2.AsyncClient, *requests: tuple[str, object]
) -> tuple[tuple[float, float], httpx2.Response]:
    """Requests one after the other: the server's and the client's milliseconds; the last answer."""
    began, server = time.perf_counter(), 0.0
    for path, body in requests:
        response = await client.post(path, json=body)
        server += float(response.headers["x-took"])
    return (server, 1000 * (time.perf_counter() - began)), response


async def crowd(bases: list[str], tokens: list[str], seconds: float) -> list[Any]:
    """All workers at once; what each took, request after request."""
    rows: list[tuple[float, float, float, float]] = []
    end = time.monotonic() + seconds
    jobs = [
        work(bases[number % len(bases)], token, end, number, rows)
        for number, token in enumerate(tokens)
    ]
    await asyncio.gather(*jobs)
    return rows


def main() -> None:
    """Measure, print, and fail if it is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--workers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--servers", type=int, default=1)
    options = parser.parse_args()
    with PrivatePostgres() as postgres:
        url = postgres.create_database("latency")
        store = Store(url)
        campaign = store.create(
            Settings("crowd", method="spectral", options={"budget": ITEMS * QUESTIONS}),
            [Item(str(number), f"Item {number}") for number in range(ITEMS)],
            [Question(str(number), f"Question {number}?") for number in range(QUESTIONS)],
        )
        tokens = [new_link(campaign, f"worker {number}") for number in range(options.workers)]
        bases, servers = [], []
        for _ in range(options.servers):
            here, there = SPAWN.Pipe(duplex=False)
            server = SPAWN.Process(target=serve, args=(url, there), daemon=True)
            server.start()
            servers.append(server)
            bases.append(here.recv())
        rows = np.array(asyncio.run(crowd(bases, tokens, options.seconds)))
        for server in servers:
            server.terminate()
            server.join()
        store.close()
    sys.exit(report(rows, options.workers, options.seconds))


def report(rows: Any, workers: int, seconds: float) -> int:
    """Print it; 1 if it is too slow."""
    print(
        f"{workers} workers, {seconds:.0f} s, {len(rows):,} answers ({len(rows) / seconds:.0f}/s)"
    )
    print(f"{'milliseconds':32}{'median':>8}{'95 %':>8}{'99 %':>8}{'most':>8}")
    names = ("answer + next question, server", "  as the worker sees it")
    bare = ("bare route twice, server", "  as the worker sees it")
    for name, column in zip((*names, *bare), rows.T, strict=True):
        quantiles = [*np.quantile(column, (0.5, 0.95, 0.99)), column.max()]
        print(f"{name:32}" + "".join(f"{each:8.1f}" for each in quantiles))
    median, most = np.quantile(rows[:, 0], (0.5, 0.95))
    ratio = median / np.median(rows[:, 2])
    print(f"ratio to the bare route (medians of the server's time): {ratio:.1f}")
    good = bool(median < MEDIAN_MS and most < MOST_MS)
    print(f"median under {MEDIAN_MS:.0f} ms and 95 % under {MOST_MS:.0f} ms: {good}")
    return 0 if good else 1


if __name__ == "__main__":
    main()
