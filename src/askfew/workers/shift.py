"""A shift: one worker at one desk, many questions at a time, until there is no more to do.

A fixed number of slots answer questions and never wait for the desk. ``_fetch`` keeps questions
ready for them, ``_tell`` hands in their replies and ``_keep`` renews leases; all three call the
desk in threads. However a shift ends, it hands in what was answered and hands back the rest. The
leases of a worker that is killed expire.
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
from threading import Lock
from typing import TypeVar

from askfew.answer_warnings import AnswerWarning, sentence
from askfew.campaigns.campaign import Assignment
from askfew.campaigns.slots.intake import Receipt
from askfew.campaigns.slots.lease import SHORTEST
from askfew.errors import AskfewError, StoreUnreachable, WorkerStopped
from askfew.wording import counted
from askfew.workers.desk import (
    MOST_AT_ONCE,
    OVER,
    Answer,
    Answerer,
    Desk,
    HandBack,
    Handout,
    NoAnswer,
    Reply,
    Retry,
    StopAnswering,
)

__all__ = ["Shift", "ShiftReport", "run_shifts"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


_TELLERS = 4
"""Threads that hand in replies. With four, a worker keeps 16 slots as busy as a bare loop of calls
does: 64.3 % against 63.9 % in one run of ``benchmarks/llm_throughput.py`` on two busy cores."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.02, 2.0
"""Seconds between two requests when there was no question. They double from the first to the
second. Plain choices: 20 ms is about what a request takes, and nobody notices two seconds."""
_WARNING_INTERVAL = 60.0
"""Seconds between two looks at the campaign's warnings. A plain choice: nothing depends on it."""
_STUCK_AFTER = 60.0
"""Seconds without a question before ``stuck`` is asked. A plain choice: a step of other workers may
take that long, and a worker that stops too early can be started again."""
_SAY_WAITING_AFTER = 5.0
"""Seconds without a question before the log says why. A plain choice."""
_WAITING = (
    "what is open is with others, or was answered or skipped here and is for another worker:"
    " start one, or wait until it closes without an answer after the campaign's step_timeout",
    "the campaign is paused",
)
_BACKLOG = 4
"""Replies per slot that may wait to be handed in before no more questions are fetched. A plain
choice: a lease must not run out while its reply waits."""


@dataclass
class ShiftReport:
    """What a shift did."""

    worker: str
    answered: int = 0
    skipped: int = 0
    handed_back: int = 0
    refused: int = 0
    """Answers that came too late, or that the campaign refused."""
    busy_seconds: float = 0.0
    """Time spent answering, added up over all slots."""
    ended: str = ""
    """Why the shift ended."""
    warnings: tuple[AnswerWarning, ...] = ()


@dataclass(frozen=True)
class _Held:
    """A leased question: when it was leased, by our own clock, and for how long."""

    since: float
    seconds: float


@dataclass(eq=False)
class Shift:
    """Let ``answer`` reply to the desk's questions, ``plate`` questions at a time in each slot.

    It ends with the campaign, or after ``idle`` seconds without a question. ``plates`` says which
    questions are answered together. A shift ``after`` others takes only questions that they cannot
    get. ``stuck`` returns an error if there is no use in waiting.
    """

    desk: Desk
    answer: Answerer
    slots: int = 1
    plate: int = 1
    idle: float = float("inf")
    retry: Retry = field(default_factory=Retry)
    plates: Callable[[Sequence[Assignment]], list[list[Assignment]]] | None = None
    after: Sequence[Shift] = ()
    stuck: Callable[[], WorkerStopped | None] = lambda: None
    starving: bool = field(init=False, default=False)
    """Whether its last request brought no question, and it holds none."""
    _over: bool = field(init=False, default=False)
    _moved: asyncio.Event | None = field(init=False, default=None)

    async def run(self) -> ShiftReport:
        """Work until the campaign is over or the shift ends; ``ShiftReport.ended`` says why."""
        self._worked = ShiftReport(self.desk.worker)
        self._lease_seconds = self.desk.describe().lease_seconds
        # Set again: a server says only in its description which worker a token is for.
        self._worked.worker = self.desk.worker
        self._held: dict[str, _Held] = {}
        self._jobs: asyncio.Queue[list[Assignment] | None] = asyncio.Queue()
        self._replies: asyncio.Queue[tuple[Assignment, Reply, float]] = asyncio.Queue()
        # A cancelled teller may have taken a reply from the queue and not told it yet.
        self._untold: dict[str, tuple[Assignment, Reply, float]] = {}
        self._moved, self._counting, self._enough = asyncio.Event(), Lock(), ""
        # One thread for each teller, one to fetch and one to renew: none waits for another.
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
                # Only now may the tellers stop: a reply in the queue has been paid for.
                await self._replies.join()
                for helper in helpers:
                    helper.cancel()
        except BaseExceptionGroup as group:
            raise _first_error(group) from None
        return self._enough or ended

    async def _fetch(self) -> str:
        """Keep questions ready for every slot; return why there are no more."""
        pause, idle_since, said = _SHORTEST_PAUSE, time.monotonic(), False
        while not self._enough:
            room = self.slots - self._jobs.qsize()
            # Half of the slots at once, so that a request brings several questions and not one.
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
            waited = 0.0 if self._held else time.monotonic() - idle_since
            if waited > _SAY_WAITING_AFTER and not said:
                said = True
                logger.info("%s: waiting; %s", self.desk.worker, _WAITING[handed.state == "paused"])
            if waited > self.idle:
                return f"no question for {self.idle:g} seconds"
            if waited > _STUCK_AFTER and (error := self.stuck()) is not None:
                raise error
            await self._move(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return self._enough

    async def _is_left_over(self) -> bool:
        """Wait until the shifts before this one have asked again and got nothing.

        Return False while this shift holds a question: its answer may open a step, and the other
        shifts come first.
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
        """Ask the desk now, if there is room, and update ``starving``."""
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
        """Wait until a slot takes questions or a reply is told, at most ``longest`` seconds."""
        assert self._moved is not None
        self._moved.clear()
        # Not wait_for: before Python 3.12 it may miss that it was cancelled.
        with suppress(TimeoutError):
            async with asyncio.timeout(longest):
                await self._moved.wait()

    def _ask(self, n: int) -> Handout:
        # Several questions about an item are of use only if one call can ask them together.
        per_item = 1 if self.plates is None else self.plate
        handed = self.desk.ask(min(n, MOST_AT_ONCE), per_item=per_item)
        # Noted in this thread: if the shift is stopped meanwhile, they must still be handed back.
        now = time.monotonic()
        self._held.update((each.id, _Held(now, each.seconds)) for each in handed.questions)
        return handed

    async def _fill_slot(self) -> None:
        while (plate := await self._jobs.get()) is not None:
            self._wake()
            began = time.perf_counter()
            try:
                replies = await self.answer(plate)
            except StopAnswering as enough:
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
        # In this thread too, for the same reason as in _ask.
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
        """Renew leases when less than half is left; look for warnings from time to time."""
        look = time.monotonic() + _WARNING_INTERVAL
        while True:
            await asyncio.sleep(min(self._lease_seconds, SHORTEST) / 4)
            now = time.monotonic()
            for lease, held in list(self._held.items()):
                # Half is left for retries, if the desk cannot be reached just now.
                if now - held.since > held.seconds / 2 and lease in self._held:
                    renewed = await self._at_desk(partial(self.desk.renew, lease))
                    if lease in self._held:
                        self._held[lease] = _Held(now, renewed.seconds or held.seconds)
            if now >= look:
                look = now + _WARNING_INTERVAL
                await asyncio.get_running_loop().run_in_executor(self._threads, self._warn)

    def _warn(self) -> None:
        """Log the campaign's warnings about our answers, each kind once."""
        with suppress(StoreUnreachable):
            said = {each.kind for each in self._worked.warnings}
            self._worked.warnings = self.desk.warnings()
            for each in self._worked.warnings:
                if each.kind not in said:
                    logger.warning("%s", sentence(each))

    async def _at_desk(self, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.retry.call, call)

    def _leave(self) -> None:
        """Hand in what is answered and hand back the rest, so that no lease has to expire."""
        # A shift that ends must not wait minutes for a server that is down.
        self.retry.stop_waiting()
        # A request that is under way may still bring questions, which must be handed back.
        self._threads.shutdown(wait=True)
        try:
            for asked, reply, seconds in list(self._untold.values()):
                self._hand_in(asked, reply, seconds)
            for lease in list(self._held):
                self._worked.handed_back += self.desk.release(lease).ok
                del self._held[lease]
        except AskfewError as error:
            held = counted(len(self._held), "question is", "questions are")
            logger.warning("%s not handed back: %s", held, error)


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception in nested groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def run_shifts(
    shifts: Sequence[Shift], close: Callable[[], Awaitable[None]] | None = None
) -> list[ShiftReport]:
    """Run all shifts at the same time, then call ``close``.

    On Ctrl-C or SIGTERM they hand back what they hold, and CancelledError is raised.
    """
    return asyncio.run(_together(shifts, close))


async def _together(
    shifts: Sequence[Shift], close: Callable[[], Awaitable[None]] | None
) -> list[ShiftReport]:
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
    """Cancel the current task on SIGINT or SIGTERM.

    Without effect on Windows and outside the main thread, where no handler can be set.
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
