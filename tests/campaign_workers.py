"""Worker processes that answer campaigns until they are told to stop, or are killed.

They dawdle inside their transactions, so that a kill mostly hits between BEGIN and COMMIT. What
they write down about themselves, a line when an answer has been acknowledged, outlives them.
"""

import multiprocessing
import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from sqlalchemy import event

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import RawTransaction
from askfew.campaigns.steps import log
from askfew.campaigns.store import Store
from askfew.errors import StoreUnreachable
from campaign_tools import fixed_answer

# A clean process that has imported everything forks the workers: quick, and no connection of the
# test's is inherited.
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["campaign_workers"])


PATIENCE = 300.0
"""Seconds until the crew counts as stuck: on a busy machine twenty processes need minutes."""


def forked(target: Callable[..., None], *arguments: object) -> Any:
    """A process that runs the function, started."""
    process = _SERVER.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def die_between_plan_and_slots(url: str, name: str, lease: str, answer: bool) -> None:
    """Give the last answer of a step, and be killed while the next one is opened."""
    store = Store(url)

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with mock.patch.object(log, "insert_slots", die):  # before COPY and INSERT alike
        store.campaign(name).tell(lease, answer)


class Crew:
    """Workers by number, each with a file of what was acknowledged and a file of its errors."""

    def __init__(self, url: str, folder: Path, dawdle: float) -> None:
        self.url, self.folder, self.dawdle = url, folder, dawdle
        self.stop_file = folder / "stop"
        self._rng = random.Random(0)
        self._started = 0
        self._alive: list[Any] = []

    def start(self, count: int) -> None:
        for _ in range(count):
            arguments = (self.url, self._started, self.folder, self.dawdle)
            process = _SERVER.Process(target=_work, args=arguments, daemon=True)
            process.start()
            self._alive.append(process)
            self._started += 1

    def kill_one(self) -> None:
        """SIGKILL to one of them, by a seed: nothing it holds is tidied up."""
        process = self._alive.pop(self._rng.randrange(len(self._alive)))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL

    def wait_for_answers(self, most: int, campaign: Campaign) -> None:
        """Until they have told a few more, 1 to ``most`` by a seed, or the campaign is over."""
        enough = len(self.acknowledged()) + self._rng.randint(1, most)
        until = time.monotonic() + PATIENCE
        while len(self.acknowledged()) < enough and campaign.state == "running":
            assert time.monotonic() < until, "nobody answers any more"
            time.sleep(0.002)

    def dismiss(self) -> None:
        """Let the others finish what they are doing, and go."""
        self.stop_file.touch()
        for process in self._alive:
            process.join(timeout=PATIENCE)
            assert process.exitcode == 0

    def acknowledged(self) -> list[str]:
        """The leases of all answers that some worker was told are accepted."""
        lines = [line for file in self.folder.glob("*.told") for line in _lines(file)]
        return [line for line in lines if line]

    def errors(self) -> list[str]:
        return [file.read_text() for file in self.folder.glob("*.error")]


def _lines(file: Path) -> list[str]:
    """All complete lines: a kill may have cut the last."""
    return file.read_text().split("\n")[:-1]


def _work(url: str, number: int, folder: Path, dawdle: float) -> None:
    rng = random.Random(number)

    def pause() -> None:
        time.sleep(rng.random() * dawdle)

    _dawdle_in_transactions(pause)
    told = os.open(folder / f"{number}.told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    store: Store | None = None
    tests = multiprocessing.parent_process()
    assert tests is not None
    try:
        # Tests that were killed leave no file: their workers must not go on for ever.
        while tests.is_alive() and not (folder / "stop").exists():
            try:
                store = store or _opened(url, pause)
                if not _answer_some(store, f"worker {number}", told):
                    time.sleep(0.02)
            except StoreUnreachable:
                time.sleep(0.02)
    except BaseException:
        (folder / f"{number}.error").write_text(traceback.format_exc())


def _opened(url: str, pause: Callable[[], None]) -> Store:
    store = Store(url)

    @event.listens_for(store.database.engine, "before_cursor_execute")
    def wait(*_: object) -> None:
        pause()

    return store


def _answer_some(store: Store, worker: str, told: int) -> bool:
    """One request to every campaign that is not over; whether there was anything to answer."""
    found = False
    for campaign in _going(store):
        for asked in campaign.ask(worker, 2):
            found = True
            if campaign.tell(asked.id, fixed_answer(asked)).ok:
                os.write(told, f"{asked.id}\n".encode())
    return found


_known: dict[str, Campaign] = {}


def _going(store: Store) -> list[Campaign]:
    for name in store.names():
        if name not in _known:
            _known[name] = store.campaign(name)
    return [campaign for campaign in _known.values() if campaign.state == "running"]


def _dawdle_in_transactions(pause: Callable[[], None]) -> None:
    def slowly(method: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            pause()
            result = method(*arguments)
            pause()
            return result

        return wrapped

    RawTransaction.all = slowly(RawTransaction.all)  # type: ignore[method-assign]
    RawTransaction.run = slowly(RawTransaction.run)  # type: ignore[method-assign]
