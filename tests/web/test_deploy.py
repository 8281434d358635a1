"""What runs askfew for others: the container's entry point outside a container, and the files."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from askfew.campaigns.store import Store
from askfew.cli import app
from web_site import Site

DEPLOY = Path(__file__).parents[2] / "deploy"


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    """As the container has it: the command on the PATH, the store in a volume."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **os.environ,
        "PATH": path,
        "ASKFEW_STORE": f"sqlite:///{tmp_path / 'askfew.db'}",
        **more,
    }


def test_the_entry_point_serves_and_is_well_and_runs_other_commands(tmp_path: Path) -> None:
    entry = str(DEPLOY / "entrypoint")
    known = environment(tmp_path, ASKFEW_HOST="127.0.0.1", ASKFEW_PORT="0")
    server = subprocess.Popen(
        [entry, "serve", "--json"], env=known, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        said = ""
        for line in server.stdout:
            said += line
            if line == "}\n":
                break
        address = json.loads(said)["address"]
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"{address}/health", timeout=10) as response:
                    assert json.load(response) == {"status": "ok"}
                break
            except urllib.error.URLError:  # it listens a moment before it answers
                time.sleep(0.1)
        else:
            pytest.fail("it never got well")
    finally:
        server.send_signal(signal.SIGINT)
        assert server.stdout is not None
        server.stdout.close()
        assert server.wait(timeout=60) == 0
    done = subprocess.run(
        [entry, "list", "--json"], env=known, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["campaigns"] == []


def test_without_its_store_a_server_is_not_well(site: Site, store: Store) -> None:
    assert site.nobody.get("/health").json() == {"status": "ok"}
    if store.database.engine.dialect.name == "sqlite":
        file = Path(store.database.engine.url.database or "")
        store.close()
        file.write_bytes(b"this was a database once" * 1000)
        assert site.nobody.get("/health").status_code == 503


def test_the_compose_file_has_what_it_needs() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = composed["services"]
    assert services.keys() == {"database", "askfew", "proxy"}
    for service in services.values():
        assert set(service.get("depends_on", [])) <= services.keys()
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in composed["volumes"]
    assert services["askfew"]["build"]["dockerfile"] == "deploy/Containerfile"
    assert "ports" not in services["askfew"]  # only the proxy is open to the world


def test_the_container_copies_only_what_is_there() -> None:
    for line in (DEPLOY / "Containerfile").read_text().splitlines():
        if line.startswith("COPY") and "--from" not in line:
            *sources, _ = line.split()[1:]
            assert all((DEPLOY.parent / each).exists() for each in sources), line


def test_the_unit_starts_a_command_as_it_is_typed_and_may_write_where_the_store_is() -> None:
    lines = (DEPLOY / "askfew.service").read_text().splitlines()
    unit = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    _, name, *words = unit["ExecStart"].replace("${ASKFEW_WORKERS}", "2").split()
    commands: Any = typer.main.get_command(app)
    given = commands.commands[name].make_context(name, words).params
    assert given["behind_tls"]
    assert given["workers"] == 2
    assert unit["WorkingDirectory"] == f"/var/lib/{unit['StateDirectory']}"
    assert f"Environment=ASKFEW_STORE=sqlite:///{unit['WorkingDirectory']}/askfew.db" in lines
