"""Clients that send half a request, or nothing, or read nothing: real sockets on loopback."""

import fcntl
import logging
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from askfew.campaigns.store import Store
from askfew.web import connections
from askfew.web.connections import RepeatedLines
from servers import Served, serving

HALF = b"GET /login HTTP/1.1\r\nHost: x\r\nX-Slow: "
POST = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
FILES = 1024
"""What most systems allow a process."""


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def hung_up(client: socket.socket, within: float) -> bool:
    """Whether the server ends the connection, whatever it says before."""
    client.settimeout(within)
    end = time.monotonic() + within
    try:
        while client.recv(65536):
            if time.monotonic() > end:
                return False
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


@contextmanager
def own_process(folder: Path) -> Iterator[tuple[int, Path]]:
    """A server with few files, by its port; and its log."""
    log = folder / "log"
    command = [sys.executable, "-m", "askfew", "serve", "--port", "0"]
    command += ["--store", f"sqlite:///{folder}/store.db"]
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        try:
            port = next(
                int(line.partition("127.0.0.1:")[2].partition("/")[0])
                for line in process.stdout
                if line.startswith("Open ")
            )
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
            yield port, log
        finally:
            process.terminate()
            process.stdout.close()
            process.wait(timeout=30)


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_half_sent_requests_keep_nobody_waiting_and_write_no_log(tmp_path: Path) -> None:
    with own_process(tmp_path) as (port, log), ExitStack() as stack:
        slow = []
        for _ in range(1100):
            client = stack.enter_context(connected(port))
            client.sendall(HALF)
            slow.append(client)
        began = time.monotonic()
        for _ in range(20):
            assert httpx2.get(f"http://127.0.0.1:{port}/login", timeout=10).status_code == 200
        assert time.monotonic() - began < 30
        end = time.monotonic() + connections.HEAD_SECONDS + 5
        assert all(hung_up(client, max(end - time.monotonic(), 0.01)) for client in slow)
        assert log.stat().st_size < 10_000


@pytest.mark.usefixtures("many_files")
def test_garbage_floods_no_log(tmp_path: Path) -> None:
    with own_process(tmp_path) as (port, log):
        for _ in range(500):
            with connected(port) as client:
                client.sendall(b"\0\1garbage\r\n\r\n")
                assert hung_up(client, 5)
        assert httpx2.get(f"http://127.0.0.1:{port}/login", timeout=10).status_code == 200
        assert 0 < log.stat().st_size < 10_000


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server that loses its patience sooner."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "STALLED_SECONDS"):
        monkeypatch.setattr(connections, name, 1.0)
    monkeypatch.setattr(connections, "LEAST_RATE", 100.0)
    store = Store(f"sqlite:///{tmp_path}/store.db")
    with serving(store) as server:
        yield server
    store.close()


@pytest.fixture
def port(served: Served) -> int:
    return int(served.url.rpartition(":")[2])


def test_who_says_nothing_or_drips_is_dropped(port: int) -> None:
    with connected(port) as silent, connected(port) as dripping, connected(port) as kept:
        kept.sendall(b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n")
        assert kept.recv(65536).startswith(b"HTTP/1.1 200")
        kept.sendall(HALF)  # the next head, on a connection that was good
        with pytest.raises(OSError):  # noqa: PT012
            for letter in HALF * 10:
                dripping.sendall(bytes([letter]))
                time.sleep(0.1)
        assert hung_up(silent, 1)
        assert hung_up(kept, 1)


def test_a_body_that_does_not_come_is_not_waited_for(port: int) -> None:
    with connected(port) as client:
        client.sendall(POST + b"Content-Length: 1000\r\n\r\ntoken=")
        assert hung_up(client, 4)


def test_a_slow_but_steady_body_is(port: int) -> None:
    with connected(port) as client:
        client.sendall(POST + b"Content-Length: 1500\r\nConnection: close\r\n\r\n")
        for _ in range(15):  # three times as long as a body has, but for its bytes
            time.sleep(0.2)
            client.sendall(b"token=" + b"x" * 94)
        assert client.recv(65536).startswith(b"HTTP/1.1 401")


def test_who_does_not_read_is_dropped(port: int) -> None:
    script = b"GET /static/vendor/swagger-ui/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port))
        client.sendall(script * 5)
        time.sleep(4)
        assert hung_up(client, 5)


def test_what_the_server_itself_takes_has_no_deadline(
    served: Served, port: int, tmp_path: Path
) -> None:
    body = f"token={served.owner}".encode()
    with connected(port) as client, (tmp_path / "store.db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a writer who takes long: the login waits for it
        client.sendall(POST + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(3)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert client.recv(65536).startswith(b"HTTP/1.1 303")


def test_a_new_client_takes_the_place_of_who_waited_longest(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST", 3)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 60.0)
    with ExitStack() as stack:
        clients = []
        for _ in range(4):
            clients.append(stack.enter_context(connected(port)))
            clients[-1].sendall(HALF)
            time.sleep(0.05)
        assert hung_up(clients[0], 2)
        clients[3].sendall(b"fast\r\n\r\n")
        assert clients[3].recv(65536).startswith(b"HTTP/1.1 200")
        assert not hung_up(clients[2], 0.2)


def test_only_the_first_lines_of_a_kind_are_written() -> None:
    now = 0.0
    sparing = RepeatedLines(lambda: now)

    def log(line: int) -> tuple[bool, str]:
        record = logging.LogRecord(
            "uvicorn", logging.ERROR, "file.py", line, "bad %s", ("x",), None
        )
        return sparing.filter(record), record.getMessage()

    written = [log(1) for _ in range(1000)]
    assert [each for each, _ in written] == [True] * 10 + [False] * 990
    assert log(2) == (True, "bad x")
    now = 61.0
    assert log(1) == (True, "bad x (and 990 more like it before)")
    assert log(1) == (True, "bad x")
