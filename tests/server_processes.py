"""Servers as users start them: ``askfew serve`` in a process of its own, which can be killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2


class ServerProcess:
    """One server of a store, at a port that stays the same when it is started again."""

    def __init__(self, store_url: str, workers: int = 1) -> None:
        self.store_url, self.workers = store_url, workers
        self.port = 0
        self.owner_token: str | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        arguments = ["serve", "--store", self.store_url, "--port", str(self.port), "--json"]
        arguments += ["--workers", str(self.workers)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "askfew", *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        said = ""
        for line in self._process.stdout:
            said += line
            if line == "}\n":
                break
        document = json.loads(said)
        self.port = int(document["address"].rpartition(":")[2])
        self.owner_token = self.owner_token or document["owner_token"]

    def children(self) -> list[int]:
        """The processes that serve, where there are several."""
        pid = self._process.pid
        listed = _read(f"/proc/{pid}/task/{pid}/children").split()
        return [int(each) for each in listed if "spawn_main" in _read(f"/proc/{each}/cmdline")]

    def kill(self) -> None:
        """SIGKILL: nothing is tidied up."""
        self._process.kill()
        assert self.wait() == -signal.SIGKILL

    def stop(self) -> int:
        """As Ctrl-C does; its exit code."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGINT)
        return self.wait()

    def wait(self) -> int:
        assert self._process.stdout is not None
        self._process.stdout.close()
        return self._process.wait(timeout=60)


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError:  # that process has ended
        return ""


@contextmanager
def server_process(store_url: str, workers: int = 1) -> Iterator[ServerProcess]:
    server = ServerProcess(store_url, workers)
    try:
        yield server
    finally:
        server.stop()


def post(client: httpx2.Client, path: str, body: object, give_up: float = 60.0) -> httpx2.Response:
    """Try until the server answers, as every client must that is not to lose anything."""
    end = time.monotonic() + give_up
    while True:
        try:
            response = client.post(path, json=body)
            if response.status_code != 503:
                return response
        except httpx2.TransportError:
            pass
        assert time.monotonic() < end, "the server does not come back"
        time.sleep(0.05)
