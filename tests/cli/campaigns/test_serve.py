"""``askfew serve`` and ``askfew token``, as a terminal would run them."""

import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.server import address, bound, check_host
from server_processes import server_process


def askfew(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "askfew", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def status(url: str, token: str | None) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.get(f"{url}/api/v1/campaigns", headers=headers, trust_env=False).status_code


def test_the_first_start_makes_the_token_and_a_reset_another(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    with server_process(store) as server:
        assert status(server.address, server.owner_token) == 200
        reset = askfew("token", "reset", "--store", store, "--json")
        token = json.loads(reset.stdout)["owner_token"]
        assert status(server.address, server.owner_token) == 401
        assert status(server.address, token) == 200
        assert server.stop() == 0
    with server_process(store) as server:
        assert server.owner_token is None
        assert status(server.address, token) == 200


def test_it_says_where_to_go_and_shows_the_token_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "askfew", "serve", "--port", "0"]
    store = ["--store", f"sqlite:///{tmp_path / 'store.db'}"]
    for lines in (3, 1):
        server = subprocess.Popen([*command, *store], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        said = [server.stdout.readline() for _ in range(lines)]
        assert "/login" in said[-1]
        assert ("token, shown this once: " in said[0]) is (lines == 3)
        page = re.search(r"http://\S+/login", said[-1])
        assert page is not None
        for _ in range(600):  # only a server that runs can be stopped in peace
            with contextlib.suppress(httpx2.TransportError):
                assert httpx2.get(page[0], timeout=10).status_code == 200
                break
            time.sleep(0.1)
        server.send_signal(signal.SIGINT)
        server.stdout.close()
        assert server.wait(timeout=60) == 0


def test_other_machines_are_let_in_only_when_it_is_said_how() -> None:
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        check_host(host, behind_tls=False, without_tls=False)
    for host in ("0.0.0.0", "::", "192.168.1.2", "example.org", ""):
        with pytest.raises(InvalidInput, match="--without-tls"):
            check_host(host, behind_tls=False, without_tls=False)
        check_host(host, behind_tls=True, without_tls=False)
        check_host(host, behind_tls=False, without_tls=True)
    refused = askfew("serve", "--host", "0.0.0.0", "--store", "sqlite:///never.db")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert not Path("never.db").exists()


def test_a_port_that_is_taken_is_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match="choose another port"):
            bound("127.0.0.1", port)
    with pytest.raises(InvalidInput, match="must be free"):
        bound("no such host", 0)


def test_no_response_waits_for_an_acknowledgement() -> None:
    with bound("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_address_is_one_a_browser_can_open() -> None:
    with bound("0.0.0.0", 0) as everywhere:
        assert address(everywhere).startswith("http://127.0.0.1:")


def test_a_server_for_ipv6_alone_is_not_found_by_ipv4() -> None:
    try:
        everywhere = bound("::", 0)
    except InvalidInput:  # a machine without it
        return
    with everywhere:
        assert address(everywhere).startswith("http://[::1]:")
        socket.create_connection(("::1", everywhere.getsockname()[1]), timeout=10).close()


def test_a_token_is_reset_only_where_there_is_a_store(tmp_path: Path) -> None:
    missing = askfew("token", "reset", "--store", f"sqlite:///{tmp_path / 'none.db'}")
    assert missing.returncode == 2
    store = f"sqlite:///{tmp_path / 'store.db'}"
    Store(store).close()
    assert "shown this once" in askfew("token", "reset", "--store", store).stdout
