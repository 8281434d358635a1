"""How busy does a language model's worker keep its concurrency slots?

    python benchmarks/llm_throughput.py [--slots 16] [--latency 0.2] [--answers 1600]

A local endpoint, in a process of its own, takes the given time for every answer and counts how
many calls it has in hand. The share is what it had in hand between its first call and the moment
from which fewer questions than slots were left, by the slots: time in which the worker was
busy with anything but waiting for the model is missing from it.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.store import Store
from askfew.workers.llm.config import Config
from askfew.workers.llm.endpoint import Endpoint
from askfew.workers.llm.exchanges import ExchangeLog
from askfew.workers.llm.judge import Judge, Office
from askfew.workers.llm.ledger import Ledger
from askfew.workers.llm.limits import Limits
from askfew.workers.llm.prompt import Prompts
from askfew.workers.pictures import Pictures
from askfew.workers.shift import Shift
from askfew.workers.store_desk import StoreDesk
from campaign_tools import sweep
from fake_endpoint import FakeEndpoint


def yes(_: dict[str, Any]) -> str:
    """An easy judge."""
    return '{"answer": "yes"}'


def endpoint_process(latency: float, pipe: Connection) -> None:
    """Serve until told to stop; then say when every call began and ended."""
    endpoint = FakeEndpoint(yes, "key", latency=latency)
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


async def work(
    store: Store, url: str, slots: int, answers: int, folder: Path
) -> tuple[float, float]:
    """Let one worker answer a campaign of one big step; how long it took, and of the processor."""
    campaign = sweep(store, rows=answers // 8, columns=8)
    desk = StoreDesk(campaign, "model")
    kind = campaign.settings.answers
    config = Config(models=("model",), concurrency=slots)
    log = ExchangeLog(folder / "log.jsonl", "key")
    office = Office(config, Endpoint(url, "key", 60.0), Ledger(), Limits(), log)
    pictures = Pictures(desk)
    judge = Judge(office, "model", "model", kind, Prompts(kind, ""), pictures)
    began, cpu = time.perf_counter(), time.process_time()
    await Shift(desk, judge, slots).run()
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    await office.endpoint.close()
    pictures.close()
    log.close()
    return took, cpu


def main() -> None:
    """Run it once and print the share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--answers", type=int, default=1600)
    wanted = parser.parse_args()
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=endpoint_process, args=(wanted.latency, there), daemon=True
    )
    process.start()
    url = here.recv()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/store.db")
        took, cpu = asyncio.run(work(store, url, wanted.slots, wanted.answers, Path(folder)))
        store.close()
    here.send("stop")
    calls = here.recv()
    process.join()
    share = busy_share(calls, wanted.slots)
    print(
        f"{len(calls)} calls of {wanted.latency * 1000:.0f} ms in {took:.1f} s"
        f" by {wanted.slots} slots: {share:.1%} busy"
        f" (and {1000 * cpu / len(calls):.1f} ms of the processor for each call)"
    )


if __name__ == "__main__":
    main()
