"""Is anything lost when servers are killed? Two servers on one store, SIGKILL after SIGKILL.

    python benchmarks/kills.py [--kills 200] > benchmarks/kills.md

Six clients answer one campaign after another by HTTP, each request to either server; one of the
two is killed again and again, mostly while it works, and started again. A client counts an answer
as acknowledged when a server has said so. In the end every campaign is compared with one that
nobody disturbed: an answer's value depends on its slot alone, so the logs must be equal bit for
bit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from askfew.campaigns.campaign import Assignment, Campaign, Shown
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.store import Store
from askfew.web import server
from askfew.web.access.tokens import first_token
from campaign_tools import answer_all, answers_of, fixed_answer, frugal, log_of
from postgres import PrivatePostgres

CLIENTS = 6
LEASE_SECONDS = 1.0
PATIENCE = 300.0

# A process that has imported everything forks the servers: one is back in a moment.
_FORK = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload(
    ["askfew.web.server", "askfew.campaigns.doctor.examine", "psycopg", "httpx2", "scipy.special"]
)


@dataclass(frozen=True)
class Found:
    """What one store went through, and what became of it."""

    kills: int
    broken: int
    """Requests that a kill cut off."""
    campaigns: int
    acknowledged: int
    lost: int
    doubled: int
    sound: bool
    equal: bool
    seconds: float


def _serve(url: str, port: int) -> None:
    server.serve(Store(url), server.bound("127.0.0.1", port))


class Server:
    """One server at a port that stays the same."""

    def __init__(self, url: str) -> None:
        self.url = url
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.start()

    @property
    def address(self) -> str:
        """Where its campaigns are."""
        return f"http://127.0.0.1:{self.port}/api/v1/campaigns"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self._process = _FORK.Process(target=_serve, args=(self.url, self.port), daemon=True)
        self._process.start()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.005)
        raise TimeoutError("a server does not start")

    def kill(self) -> None:
        """SIGKILL: nothing is tidied up."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.join()
        assert self._process.exitcode == -signal.SIGKILL


class Client(threading.Thread):
    """Answers whatever campaign is under way, by either server, until it is told to stop."""

    def __init__(self, number: int, servers: list[Server], token: str) -> None:
        super().__init__(daemon=True)
        self.servers, self.worker = servers, f"worker {number}"
        self.headers = {"Authorization": f"Bearer {token}"}
        self.random = random.Random(number)
        self.campaign = ""
        self.stopped = threading.Event()
        self.acknowledged: list[str] = []
        self.broken = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        """Until it is told to stop, or something is wrong."""
        try:
            with httpx2.Client(headers=self.headers, timeout=30, trust_env=False) as client:
                while not self.stopped.is_set():
                    self._answer_one(client)
        except BaseException as error:
            self.error = error

    def _answer_one(self, client: httpx2.Client) -> None:
        asked = self._post(client, "ask", {"worker": self.worker})
        if not asked["questions"]:
            time.sleep(0.01)
            return
        (question,) = asked["questions"]
        item, about = Shown(**question["item"]), Shown(**question["question"])
        value = fixed_answer(
            Assignment(question["id"], item, about, question["expires"], question["seconds"])
        )
        if self._post(client, "tell", {"id": question["id"], "answer": value})["ok"]:
            self.acknowledged.append(question["id"])

    def _post(self, client: httpx2.Client, what: str, body: object) -> Any:
        """Try until a server answers, as every client must that is not to lose anything."""
        path = f"{self.campaign}/{what}"
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                address = self.random.choice(self.servers).address
                response = client.post(f"{address}/{path}", json=body)
                if response.status_code == 200:
                    return response.json()
                assert response.status_code == 503, response.text
            except httpx2.ConnectError:
                pass
            except httpx2.TransportError:
                self.broken += 1
            time.sleep(0.005)
        raise TimeoutError("no server answers")


def tried(url: str, kills: int) -> Found:
    """Disturb the store so often, and look at what is left."""
    began = time.monotonic()
    store, rng = Store(url), random.Random(7)
    token = first_token(store)
    assert token is not None
    alone = frugal(store, name="alone")
    answer_all(alone)
    servers = [Server(url), Server(url)]
    campaigns = [_next_campaign(store, 0)]
    clients = [Client(number, servers, token) for number in range(CLIENTS)]
    for client in clients:
        client.campaign = campaigns[-1].settings.name
        client.start()
    for _ in range(kills):
        if campaigns[-1].state != "running":
            campaigns.append(_next_campaign(store, len(campaigns)))
            for client in clients:
                client.campaign = campaigns[-1].settings.name
        time.sleep(rng.random() * 0.2)
        chosen = rng.choice(servers)
        chosen.kill()
        chosen.start()
    until = time.monotonic() + PATIENCE
    while any(campaign.state == "running" for campaign in campaigns):
        assert time.monotonic() < until, [client.error for client in clients]
        time.sleep(0.05)
    for client in clients:
        client.stopped.set()
        client.join(timeout=60)
        if client.error is not None:
            raise client.error
    for each in servers:
        each.kill()
    found = _found(store, campaigns, alone, clients, kills, time.monotonic() - began)
    store.close()
    return found


def _next_campaign(store: Store, number: int) -> Campaign:
    return frugal(store, name=f"campaign {number}", lease_seconds=LEASE_SECONDS)


def _found(
    store: Store,
    campaigns: list[Campaign],
    alone: Campaign,
    clients: list[Client],
    kills: int,
    seconds: float,
) -> Found:
    rows = {campaign.id: answers_of(campaign) for campaign in campaigns}
    kept = {row.id for each in rows.values() for row in each if not row.retracted}
    told = [lease for client in clients for lease in client.acknowledged]
    counted = Counter(
        (row.campaign, row.step, row.slot)
        for each in rows.values()
        for row in each
        if not row.retracted
    )
    return Found(
        kills=kills,
        broken=sum(client.broken for client in clients),
        campaigns=len(campaigns),
        acknowledged=len(told),
        lost=len(set(told) - kept),
        doubled=sum(times - 1 for times in counted.values()) + len(told) - len(set(told)),
        sound=examine_store(store.database).sound,
        equal=all(
            log_of(campaign) == log_of(alone) and campaign.outcome() == alone.outcome()
            for campaign in campaigns
        ),
        seconds=seconds,
    )


def main() -> None:
    """Both stores, as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    kills = parser.parse_args().kills
    found: dict[str, Found] = {}
    with tempfile.TemporaryDirectory() as folder:
        found["SQLite"] = tried(f"sqlite:///{folder}/store.db", kills)
    with PrivatePostgres() as postgres:
        found["PostgreSQL"] = tried(postgres.create_database("kills"), kills)
    print("# Two servers on one store, killed again and again\n")
    print(f"`python benchmarks/kills.py --kills {kills}` on Python {platform.python_version()}.")
    print(
        "SIGKILL to one of the two at random moments; the clients ask and tell on at the other.\n"
    )
    columns = "store kills cut-off campaigns acknowledged lost doubled doctor replay-equal seconds"
    print("| " + columns.replace(" ", " | ").replace("-", " ") + " |")
    print("|---" * len(columns.split()) + "|")
    for name, each in found.items():
        verdict = "sound" if each.sound else "WRONG"
        equal = "yes" if each.equal else "NO"
        print(
            f"| {name} | {each.kills} | {each.broken} | {each.campaigns} | {each.acknowledged:,} |"
            f" {each.lost} | {each.doubled} | {verdict} | {equal} | {each.seconds:.0f} |"
        )
    if any(each.lost or each.doubled or not (each.sound and each.equal) for each in found.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
