"""A shift: one worker at one desk, many questions at a time, until there is no more to do.

A fixed number of slots answer. None of them ever waits for the desk: a fetcher keeps a question
ready for each, and tellers hand in what they leave behind; both call the desk in threads. A keeper
renews what is still in hand. However a shift ends, what was answered is handed in first and the
rest is handed back; a worker that is killed leaves leases that expire.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock
from typing import TypeVar

from askfew.answer_warnings import AnswerWarning, sentence
from askfew.campaigns.campaign import Assignment
from askfew.campaigns.slots.intake import Receipt
from askfew.campaigns.slots.paces import SHORTEST
from askfew.errors import AskfewError, StoreUnreachable, WorkerStopped
from askfew.workers.desk import (
    MOST_AT_ONCE,
    OVER,
    Answer,
    Answerer,
    Desk,
    Enough,
    HandBack,
    Handed,
    NoAnswer,
    Reply,
)

__all__ = ["Patience", "Shift", "Worked", "run_shifts"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


@dataclass
class Patience:
    """Repeats calls that fail with StoreUnreachable, ever more slowly, for ``seconds`` in all.

    >>> Patience().insist(lambda: "there")
    'there'
    """

    seconds: float = 300.0
    first: float = 0.1
    longest: float = 10.0
    _hurry: Event = field(default_factory=Event)

    def insist(self, call: Callable[[], T]) -> T:
        """What the call returns in the end, or its last failure."""
        pause, waited = self.first, 0.0
        while True:
            try:
                return call()
            except StoreUnreachable as error:
                wait = max(pause, error.retry_after or 0.0)
                if not waited:
                    logger.warning("waiting: %s", error)
                if waited + wait > self.seconds or self._hurry.wait(wait):
                    raise
            waited += wait
            pause = min(2 * pause, self.longest)

    def hurry(self) -> None:
        """From now on give up at the first failure, also where a call waits at the moment."""
        self._hurry.set()


_TELLERS = 4
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.02, 2.0
"""Seconds between two looks for questions where there were none."""
_LOOK_FOR_WARNINGS = 60.0
_STUCK = 60.0
"""Seconds without a question before a worker that is ``stuck`` stops. A round number."""
_SAY_WAITING = 5.0
"""Seconds without a question before it is said why."""
_WAITING = (
    "what is open is with others, or was answered or skipped here and is for another worker:"
    " start one, or wait until it closes without an answer after the campaign's step_timeout",
    "the campaign is paused",
)
_BACKLOG = 4
"""Replies waiting for each slot, beyond which no more questions are fetched."""


@dataclass
class Worked:
    """What a shift has done."""

    worker: str
    answered: int = 0
    skipped: int = 0
    handed_back: int = 0
    refused: int = 0
    """Answers that came too late, or that the campaign did not take."""
    busy_seconds: float = 0.0
    """Spent answering, added up over all slots."""
    ended: str = ""
    """Why."""
    warnings: tuple[AnswerWarning, ...] = ()


@dataclass(frozen=True)
class _Held:
    """A question in hand: since when by our own clock, and how long it is kept."""

    since: float
    seconds: float


@dataclass(eq=False)
class Shift:
    """Let ``answer`` reply to the desk's questions, ``plate`` at a time in each of ``slots``.

    ``idle`` seconds without any question end it; by default only the campaign's end does.
    ``plates`` says which questions are answered together. A shift ``after`` others takes only
    what they have no question for. ``stuck`` says why waiting is in vain, if it is.
    """

    desk: Desk
    answer: Answerer
    slots: int = 1
    plate: int = 1
    idle: float = float("inf")
    patience: Patience = field(default_factory=Patience)
    plates: Callable[[Sequence[Assignment]], list[list[Assignment]]] | None = None
    after: Sequence[Shift] = ()
    stuck: Callable[[], WorkerStopped | None] = lambda: None
    starving: bool = field(init=False, default=False)
    """Whether it was handed nothing when it asked last, and has nothing in hand."""
    _over: bool = field(init=False, default=False)
    _moved: asyncio.Event | None = field(init=False, default=None)

    async def run(self) -> Worked:
        """Work until the campaign is over, or enough is enough; see ``Worked.ended``."""
        self._worked = Worked(self.desk.worker)
        self._lease_seconds = self.desk.describe().lease_seconds
        self._worked.worker = self.desk.worker
        self._held: dict[str, _Held] = {}
        self._jobs: asyncio.Queue[list[Assignment] | None] = asyncio.Queue()
        self._replies: asyncio.Queue[tuple[Assignment, Reply, float]] = asyncio.Queue()
        # Whoever stops the shift may cancel a teller between the queue and its thread.
        self._untold: dict[str, tuple[Assignment, Reply, float]] = {}
        self._moved, self._counting, self._enough = asyncio.Event(), Lock(), ""
        self._threads = ThreadPoolExecutor(_TELLERS + 2, thread_name_prefix="askfew-desk")
        try:
            self._worked.ended = await self._work()
            self._warn()
        finally:
            self._leave()
            self.starving = self._over = True
        return self._worked

    async def _work(self) -> str:
        try:
            async with asyncio.TaskGroup() as tasks:
                helpers = [tasks.create_task(self._tell()) for _ in range(_TELLERS)]
                helpers.append(tasks.create_task(self._keep()))
                slots = [tasks.create_task(self._fill_slot()) for _ in range(self.slots)]
                ended = await self._fetch()
                for _ in slots:
                    self._jobs.put_nowait(None)
                await asyncio.gather(*slots)
                await self._replies.join()
                for helper in helpers:
                    helper.cancel()
        except BaseExceptionGroup as group:
            raise _first_error(group) from None
        return self._enough or ended

    async def _fetch(self) -> str:
        """Keep a plate ready for every slot; returns why there are no more."""
        pause, idle_since, said = _SHORTEST_PAUSE, time.monotonic(), False
        while not self._enough:
            room = self.slots - self._jobs.qsize()
            if 2 * room < self.slots or self._replies.qsize() > _BACKLOG * self.slots:
                await self._move(_LONGEST_PAUSE)
                continue
            if self.after and not await self._is_left_over():
                idle_since, said = time.monotonic(), False
                continue
            handed = await self._at_desk(partial(self._ask, room * self.plate))
            for plate in self._in_plates(handed.questions):
                self._jobs.put_nowait(plate)
            self.starving = not handed.questions and not self._held
            if handed.questions:
                pause, idle_since, said = _SHORTEST_PAUSE, time.monotonic(), False
                continue
            if handed.state in OVER:
                return f"the campaign is {'over' if handed.state == 'ended' else 'closed'}"
            if self._held:
                idle_since, said = time.monotonic(), False
            elif (waited := time.monotonic() - idle_since) > self.idle:
                return f"no question for {self.idle:g} seconds"
            elif waited > _STUCK and (error := self.stuck()) is not None:
                raise error
            elif waited > _SAY_WAITING and not said:
                said = True
                logger.info("%s: waiting; %s", self.desk.worker, _WAITING[handed.state == "paused"])
            await self._move(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return self._enough

    async def _is_left_over(self) -> bool:
        """Wait until the shifts before this one have asked anew and were handed nothing.

        Not while anything is in hand here: its answer may open a step, which is theirs first.
        """
        if self._held:
            await self._move(_LONGEST_PAUSE)
            return False
        for each in self.after:
            each.look_again()
        while not all(each.starving for each in self.after):
            await asyncio.sleep(_SHORTEST_PAUSE)
        return True

    def look_again(self) -> None:
        """Ask the desk now, if this shift has room, and say anew whether there was anything."""
        if not self._over:
            self.starving = False
            self._wake()

    def _wake(self) -> None:
        if self._moved is not None:
            self._moved.set()

    def _in_plates(self, questions: Sequence[Assignment]) -> list[list[Assignment]]:
        if self.plates is not None:
            return self.plates(questions)
        starts = range(0, len(questions), self.plate)
        return [list(questions[start : start + self.plate]) for start in starts]

    async def _move(self, longest: float) -> None:
        """Wait until a slot has taken a plate or a teller has told, but not too long."""
        assert self._moved is not None
        self._moved.clear()
        # Not wait_for, which before Python 3.12 may overlook that it was cancelled.
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                await self._moved.wait()

    def _ask(self, n: int) -> Handed:
        per_item = 1 if self.plates is None else self.plate
        handed = self.desk.ask(min(n, MOST_AT_ONCE), per_item=per_item)
        # In this thread: whoever stops the shift meanwhile must find them, to hand them back.
        now = time.monotonic()
        self._held.update((each.id, _Held(now, each.seconds)) for each in handed.questions)
        return handed

    async def _fill_slot(self) -> None:
        while (plate := await self._jobs.get()) is not None:
            self._wake()
            began = time.perf_counter()
            try:
                replies = await self.answer(plate)
            except Enough as enough:
                self._enough = str(enough)
                replies = [HandBack(self._enough)] * len(plate)
            took = time.perf_counter() - began
            self._worked.busy_seconds += took
            for asked, reply in zip(plate, replies, strict=True):
                self._untold[asked.id] = (asked, reply, took / len(plate))
                self._replies.put_nowait(self._untold[asked.id])

    async def _tell(self) -> None:
        while True:
            asked, reply, seconds = await self._replies.get()
            await self._at_desk(partial(self._hand_in, asked, reply, seconds))
            self._replies.task_done()
            self._wake()

    def _hand_in(self, asked: Assignment, reply: Reply, seconds: float) -> None:
        self._untold.pop(asked.id, None)
        match reply:
            case Answer(value, cost):
                receipt = self.desk.tell(asked.id, value, seconds=seconds, cost=cost)
            case NoAnswer(reason):
                receipt = self.desk.skip(asked.id, reason)
            case HandBack():
                receipt = self.desk.release(asked.id)
        # In this thread, for the same reason as in _ask.
        self._held.pop(asked.id, None)
        with self._counting:
            self._count(asked, reply, receipt)

    def _count(self, asked: Assignment, reply: Reply, receipt: Receipt) -> None:
        where = f"{asked.item.id} / {asked.question.id}"
        if not receipt.ok:
            self._worked.refused += 1
            logger.info("%s: not taken: %s", where, receipt.message)
            return
        match reply:
            case Answer():
                self._worked.answered += 1
            case NoAnswer(reason):
                self._worked.skipped += 1
                logger.info("%s: no answer: %s", where, reason)
            case HandBack(reason):
                self._worked.handed_back += 1
                logger.info("%s: handed back: %s", where, reason)

    async def _keep(self) -> None:
        """Renew leases of which less than half is left; look now and then for warnings."""
        look = time.monotonic() + _LOOK_FOR_WARNINGS
        while True:
            await asyncio.sleep(min(self._lease_seconds, SHORTEST) / 4)
            now = time.monotonic()
            for lease, held in list(self._held.items()):
                if now - held.since > held.seconds / 2 and lease in self._held:
                    renewed = await self._at_desk(partial(self.desk.renew, lease))
                    if lease in self._held:
                        self._held[lease] = _Held(now, renewed.seconds or held.seconds)
            if now >= look:
                look = now + _LOOK_FOR_WARNINGS
                await asyncio.get_running_loop().run_in_executor(self._threads, self._warn)

    def _warn(self) -> None:
        """Say what the campaign finds wrong with our answers, each kind once."""
        with suppress(StoreUnreachable):
            said = {each.kind for each in self._worked.warnings}
            self._worked.warnings = self.desk.warnings()
            for each in self._worked.warnings:
                if each.kind not in said:
                    logger.warning("%s", sentence(each))

    async def _at_desk(self, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.patience.insist, call)

    def _leave(self) -> None:
        """Hand in what is answered, hand back the rest; without it, leases would only expire."""
        self.patience.hurry()
        self._threads.shutdown(wait=True)
        try:
            for asked, reply, seconds in list(self._untold.values()):
                self._hand_in(asked, reply, seconds)
            for lease in list(self._held):
                self._worked.handed_back += self.desk.release(lease).ok
                del self._held[lease]
        except AskfewError as error:
            logger.warning("%d questions are not handed back: %s", len(self._held), error)


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The exception that began it, out of nested groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def run_shifts(
    shifts: Sequence[Shift], close: Callable[[], Awaitable[None]] | None = None
) -> list[Worked]:
    """All at once, then ``close``. Ctrl-C or SIGTERM lets them hand back what they hold; then it
    raises CancelledError.
    """
    return asyncio.run(_together(shifts, close))


async def _together(
    shifts: Sequence[Shift], close: Callable[[], Awaitable[None]] | None
) -> list[Worked]:
    try:
        with _stopped_by_signals():
            async with asyncio.TaskGroup() as together:
                tasks = [together.create_task(shift.run()) for shift in shifts]
    except BaseExceptionGroup as group:
        raise _first_error(group) from None
    finally:
        if close is not None:
            await close()
    return [task.result() for task in tasks]


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Cancel the task that runs here on SIGINT or SIGTERM, where signals can be had: only in the
    main thread, and not on Windows.
    """
    own, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert own is not None
    heard = (signal.SIGINT, signal.SIGTERM)
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for each in heard:
            loop.add_signal_handler(each, own.cancel)
    try:
        yield
    finally:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for each in heard:
                loop.remove_signal_handler(each)
