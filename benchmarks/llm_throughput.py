"""How busy does a language model's worker keep its concurrency slots?

    python benchmarks/llm_throughput.py [--slots 16] [--latency 0.2] [--answers 1200]

A local endpoint, in a process of its own, takes the given time for every answer and counts how
many calls it has in hand. The share is what it had in hand between its first and its last call,
by the slots: all the time in which a slot did anything but wait for the model is missing from it.

Beside it, in the same run: a bare loop over the same client, which asks nobody and tells nobody.
What it misses is the machine's and the client's; the rest is the worker's.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import tempfile
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.db.queries.calls import CallLimits
from askfew.campaigns.store import Store
from askfew.workers.desk import Pictures, StoreDesk
from askfew.workers.llm.answerer import ModelAnswerer, RunContext
from askfew.workers.llm.config import Config
from askfew.workers.llm.endpoint import Endpoint, Secret
from askfew.workers.llm.ledger import ExchangeLog, Ledger
from askfew.workers.llm.limits import Limits
from askfew.workers.llm.prompt import Prompts
from askfew.workers.shift import Shift
from campaign_tools import sweep
from fake_endpoint import FakeEndpoint

SECRET = Secret("key")


def yes(_: dict[str, Any]) -> str:
    """An easy judge."""
    return '{"answer": "yes"}'


def endpoint_process(latency: float, pipe: Connection) -> None:
    """Serve until told to stop; then say when every call began and ended."""
    endpoint = FakeEndpoint(yes, SECRET.key, latency=latency)
    with endpoint.running():
        pipe.send(endpoint.url)
        pipe.recv()
    pipe.send([(call.began, call.ended) for call in endpoint.calls])


def busy_share(calls: list[tuple[float, float]], slots: int) -> float:
    """Calls in hand, by slots, while there were questions for all of them."""
    began = sorted(start for start, _ in calls)
    first, last = began[0], began[-1]
    in_hand = sum(min(end, last) - min(start, last) for start, end in calls)
    return in_hand / (slots * (last - first))


REQUEST = {"model": "model", "messages": [{"role": "user", "content": "Is it?"}]}


async def bare(url: str, slots: int, answers: int) -> None:
    """As many calls by as many loops, and nothing else."""
    endpoint = Endpoint(url, SECRET, 60.0)
    left = iter(range(answers))

    async def loop() -> None:
        for _ in left:
            await endpoint.complete(REQUEST)

    await asyncio.gather(*(loop() for _ in range(slots)))
    await endpoint.close()


async def work(url: str, slots: int, answers: int) -> None:
    """One worker answers a campaign of one big step."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/store.db")
        campaign = sweep(store, rows=answers // 8, columns=8)
        desk = StoreDesk(campaign, "model")
        kind = campaign.settings.answers
        config = Config(models=("model",), concurrency=slots)
        log = ExchangeLog(Path(folder, "log.jsonl"), SECRET)
        limits = Limits(CallLimits(), desk.admit_call)
        context = RunContext(config, Endpoint(url, SECRET, 60.0), Ledger(), limits, log, SECRET)
        pictures = Pictures(desk)
        judge = ModelAnswerer(context, "model", "model", kind, Prompts(kind, ""), pictures)
        await Shift(desk, judge, slots).run()
        await context.endpoint.close()
        pictures.close()
        log.close()
        store.close()


def measured(
    run: Callable[[str, int, int], Coroutine[Any, Any, None]], wanted: argparse.Namespace
) -> float:
    """The busy share that an endpoint of its own saw."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=endpoint_process, args=(wanted.latency, there), daemon=True
    )
    process.start()
    url = here.recv()
    asyncio.run(run(url, wanted.slots, wanted.answers))
    here.send("stop")
    calls = here.recv()
    process.join()
    return busy_share(calls, wanted.slots)


def main() -> None:
    """Measure the bare loop and the worker, and print their shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--answers", type=int, default=1200)
    wanted = parser.parse_args()
    most, share = measured(bare, wanted), measured(work, wanted)
    print(f"{wanted.slots} slots, {wanted.answers} answers of {wanted.latency * 1000:.0f} ms each")
    print(f"bare loop   {most:6.1%} busy")
    print(f"worker      {share:6.1%} busy, {share / most:.1%} of the bare loop")


if __name__ == "__main__":
    main()
