"""How many files of askfew, and how many of its functions, one thing passes through.

    python benchmarks/roads.py [--files]

A road is all code of ours that runs between the call and its end: a ``tell`` by Python that closes
a step, the same by HTTP, one answer of a language model, and ``cluster(f)``. It is a measure of how
much a newcomer must read to follow one thing, and is meant to be compared with an earlier version.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.testclient import TestClient

import askfew
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store

_HOME = str(Path(askfew.__file__).parent) + os.sep
_BIRDS, _QUESTIONS = ("owl", "duck", "hen", "swan"), ("swims", "flies", "hunts")


class Road:
    """Traces every thread until its block ends."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str, int]] = set()

    def __enter__(self) -> Road:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Importing a file is not running it: bodies of modules and classes do not count.
        function = code.co_flags & inspect.CO_OPTIMIZED
        if event == "call" and function and code.co_filename.startswith(_HOME):
            self.functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    @property
    def files(self) -> list[str]:
        """In which a function ran."""
        return sorted({name.removeprefix(_HOME) for name, _, _ in self.functions})


def _campaign(store: Store, name: str) -> Campaign:
    """Sorts four birds; a step closes with its last answer."""
    settings = Settings(name=name, max_answers=2000, answers_per_worker_and_cell=1000)
    return store.create(
        settings,
        [Item(bird) for bird in _BIRDS],
        [Question(each, f"{each}?") for each in _QUESTIONS],
    )


def tell(store: Store) -> Road:
    """A process that has just opened the store tells the last answer of a step."""
    *_, last = _all_but_last(_campaign(store, "told"))
    with Road() as road:
        assert store.campaign("told").tell(last, True).ok
    return road


def _all_but_last(campaign: Campaign) -> list[str]:
    asked = [each.id for each in campaign.ask("ann", 1000)]
    for lease in asked[:-1]:
        assert campaign.tell(lease, True).ok
    return asked


def http_tell(store: Store) -> Road:
    """The same by HTTP."""
    from askfew.web.access.tokens import reset_token
    from askfew.web.app import create_app

    *_, last = _all_but_last(_campaign(store, "posted"))
    headers = {"Authorization": f"Bearer {reset_token(store)}"}
    client = TestClient(create_app(store, secure_cookies=False), headers=headers)
    with Road() as road:
        told = client.post("/api/v1/campaigns/posted/tell", json={"id": last, "answer": True})
    assert told.status_code == 200, told.text
    return road


class _Model(BaseHTTPRequestHandler):
    """An endpoint that always says yes."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        said = {"choices": [{"message": {"content": '{"answer": "yes"}'}, "finish_reason": "stop"}]}
        content = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def llm_answer(store: Store, folder: Path) -> Road:
    """``askfew work llm`` answers, until a second has passed without a question."""
    from askfew.cli import main

    campaign = _campaign(store, "judged")
    for lease in [each.id for each in campaign.ask("ann", 1000)][1:]:
        campaign.release(lease)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["OPENAI_API_KEY"] = "any"
    url = f"http://127.0.0.1:{server.server_port}/v1"
    sys.argv = ["askfew", "work", "llm", "judged", "--model", "m", "--base-url", url]
    sys.argv += ["--store", str(store.database.engine.url), "--log", str(folder / "log.jsonl")]
    sys.argv += ["--idle", "0.2"]
    with Road() as road:
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
    server.shutdown()
    return road


def cluster() -> Road:
    """``cluster(f)`` on four birds."""
    with Road() as road:
        askfew.cluster(
            lambda item, _: item in ("owl", "hen"),
            list(_BIRDS),
            list(_QUESTIONS),
            rng=0,
            max_answers=2000,
        )
    return road


def main() -> None:
    """Print a table."""
    each_file = "--files" in sys.argv  # one of the roads replaces sys.argv
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Store(f"sqlite:///{folder / 'store.db'}")
        roads: dict[str, Callable[[], Road]] = {
            "tell": lambda: tell(store),
            "HTTP tell": lambda: http_tell(store),
            "LLM answers": lambda: llm_answer(store, folder),
            "cluster(f)": cluster,
        }
        for what, walk in roads.items():
            road = walk()
            print(f"{what:12}{len(road.files):5} files {len(road.functions):5} functions")
            if each_file:
                print("   ", "\n    ".join(road.files))
        store.close()


if __name__ == "__main__":
    main()
