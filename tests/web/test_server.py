"""Servers as processes: several on one store, and one that is killed while people answer."""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from askfew.campaigns.campaign import Assignment, Campaign, Shown
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from campaign_tools import answers_of, fixed_answer, frugal, sweep
from server_processes import ServerProcess, post, server_process

WORKERS = 10


class Client(threading.Thread):
    """A worker by HTTP, who asks any of the servers and goes on until the campaign has ended."""

    def __init__(self, servers: list[ServerProcess], campaign: Campaign, number: int) -> None:
        super().__init__(daemon=True)
        name = campaign.settings.name
        self.paths = [f"{server.address}/api/v1/campaigns/{name}" for server in servers]
        self.token = new_link(campaign, f"worker {number}")
        self.random = random.Random(number)
        self.seen: list[str] = []
        self.acknowledged: list[str] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            with httpx2.Client(headers=headers, timeout=30, trust_env=False) as client:
                while self._answer_one(client):
                    pass
        except BaseException as error:
            self.error = error

    def _answer_one(self, client: httpx2.Client) -> bool:
        asked = self._post(client, "ask", {})
        if not asked["questions"]:
            time.sleep(0.02)
            return bool(asked["state"] == "running")
        (question,) = asked["questions"]
        self.seen.append(question["id"])
        told = self._post(client, "tell", {"id": question["id"], "answer": _answer(question)})
        if told["ok"]:
            self.acknowledged.append(question["id"])
        return True

    def _post(self, client: httpx2.Client, what: str, body: object) -> Any:
        response = post(client, f"{self.random.choice(self.paths)}/{what}", body)
        assert response.status_code == 200, response.text
        return response.json()


def _answer(question: Any) -> bool:
    item, asked = Shown(**question["item"]), Shown(**question["question"])
    return fixed_answer(
        Assignment(question["id"], item, asked, question["expires"], question["seconds"])
    )


def finish(clients: list[Client]) -> None:
    for client in clients:
        client.join(timeout=300)
        assert not client.is_alive()
        if client.error is not None:
            raise client.error


def test_several_servers_serve_one_store_and_no_slot_goes_out_twice(fresh_database: str) -> None:
    store = Store(fresh_database)
    campaign = sweep(store, rows=20, columns=5, each=3)
    with server_process(fresh_database) as one, server_process(fresh_database) as two:
        # Of several that start at once one makes the token; whichever it was, both know it.
        assert (one.owner_token is None) != (two.owner_token is None)
        clients = [Client([one, two], campaign, number) for number in range(6)]
        for client in clients:
            client.start()
        finish(clients)
    slots = Counter(lease.rpartition("-")[0] for client in clients for lease in client.seen)
    assert set(slots.values()) == {1}
    told = [lease for client in clients for lease in client.acknowledged]
    assert sorted(told) == sorted(row.id for row in answers_of(campaign))
    assert len(told) == 300
    assert campaign.state == "ended"
    store.close()


def test_a_killed_server_loses_no_acknowledged_answer_and_clients_go_on(store_url: str) -> None:
    store = Store(store_url)
    campaign = frugal(store, rows=10, columns=4, lease_seconds=5)  # some go out unheard
    with server_process(store_url) as server:
        clients = [Client([server], campaign, number) for number in range(WORKERS)]
        for client in clients:
            client.start()
        for _ in range(4):
            before = sum(len(client.acknowledged) for client in clients)
            while any(client.is_alive() for client in clients):
                if sum(len(client.acknowledged) for client in clients) >= before + 15:
                    break
                time.sleep(0.005)
            server.kill()
            server.start()
        finish(clients)
    kept = {row.id: row for row in answers_of(campaign)}
    told = [lease for client in clients for lease in client.acknowledged]
    assert len(told) > 4 * 15
    assert set(told) <= set(kept)
    assert len(told) == len(set(told))
    assert campaign.state == "ended"
    assert examine_store(store.database).sound
    store.close()


def get(address: str, path: str, token: str = "none") -> httpx2.Response:
    """By a connection of its own, so that any of the processes may answer."""
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.get(f"{address}{path}", headers=headers, timeout=60, trust_env=False)


def wait_until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.05)


def test_workers_share_a_store_and_one_that_is_killed_is_replaced(store_url: str) -> None:
    store = Store(store_url)
    campaign = sweep(store, rows=40, columns=5, each=3, lease_seconds=5)  # some go out unheard
    with server_process(store_url, workers=2) as server:
        wait_until(lambda: len(server.children()) == 2, "two processes")
        clients = [Client([server], campaign, number) for number in range(6)]
        for client in clients:
            client.start()
        wait_until(lambda: sum(len(c.acknowledged) for c in clients) >= 50, "answers")
        killed, other = server.children()
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: len({*server.children()} - {killed, other}) == 1, "another process")
        finish(clients)
        assert other in server.children()
        assert get(server.address, "/health").json() == {"status": "ok"}
        children = server.children()
        assert server.stop() == 0
        assert not any(Path(f"/proc/{each}").exists() for each in children)
    told = [lease for client in clients for lease in client.acknowledged]
    kept = [row.id for row in answers_of(campaign)]
    assert len(told) == len(set(told))
    assert set(told) <= set(kept)
    assert len(kept) == 600
    assert campaign.state == "ended"
    assert examine_store(store.database).sound
    store.close()


def test_workers_count_wrong_tokens_together_and_hear_of_changes(fresh_database: str) -> None:
    store = Store(fresh_database)
    sweep(store, rows=4, columns=2, name="shared")
    with server_process(fresh_database, workers=3) as server:
        token = server.owner_token
        assert token is not None
        page = "/campaigns/shared"
        for _ in range(6):  # whichever process has looked before: a change is seen by all
            get(server.address, f"{page}/parts/summary", token)
        for done, word in (("pause", "Paused"), ("resume", "Running")):
            headers = {"Authorization": f"Bearer {token}"}
            httpx2.post(f"{server.address}{page}/{done}", headers=headers, trust_env=False)
            seen = [get(server.address, f"{page}/parts/summary", token).text for _ in range(12)]
            assert all(f">{word}<" in each for each in seen)
        codes = [get(server.address, "/api/v1/campaigns", f"w{n}").status_code for n in range(30)]
    assert codes == [401] * 20 + [429] * 10
    store.close()


def test_ctrl_c_is_for_the_parent_of_workers_alone(tmp_path: Path) -> None:
    """A terminal sends it to all of them, also to those that are still importing."""
    with server_process(f"sqlite:///{tmp_path / 'store.db'}", workers=2) as server:
        wait_until(lambda: len(server.children()) == 2, "two processes")
        for each in server.children():
            status = dict(
                line.split(":", 1) for line in Path(f"/proc/{each}/status").read_text().splitlines()
            )
            assert int(status["SigBlk"], 16) & 1 << signal.SIGINT - 1


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    server = ServerProcess(f"sqlite:///{tmp_path / 'store.db'}", workers=2)
    wait_until(lambda: len(server.children()) == 2, "two processes")
    assert get(server.address, "/health").json() == {"status": "ok"}
    children = server.children()
    server.kill()
    wait_until(lambda: not any(Path(f"/proc/{each}").exists() for each in children), "the end")
