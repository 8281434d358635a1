"""A Python function as a worker: it is found by its name and called for each question or batch."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import multiprocessing
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment
from askfew.errors import InvalidAnswer, InvalidInput, WorkerStopped
from askfew.extensions import find, installed
from askfew.wording import counted
from askfew.workers.desk import Answer, Desk, HandBack, NoAnswer, Pictures, Reply
from askfew.workers.shift import Shift, ShiftReport, run_shifts

__all__ = [
    "USUAL_PLATE",
    "Cell",
    "Function",
    "FunctionAnswerer",
    "Item",
    "Question",
    "check_use",
    "load_function",
    "run",
]


_RELEASES = 2
"""How often a question is handed back if the function raises for it; after that it is skipped. A
plain choice: an accident does not happen three times."""
_IN_A_ROW = 20
"""Calls that raise in a row before the worker stops, or values that are no answers. A plain choice:
then the function is at fault, not a question, and what was held is handed back."""
_PAUSE = 0.05
"""Seconds of a pause after an exception, for each exception in a row. A plain choice: it keeps a
broken function from taking and returning all questions at full speed."""
USUAL_PLATE = 100
"""Questions in a batch, if nothing is said. A plain choice that ``--plate`` changes."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Item:
    """An item as a function sees it; ``image`` is the file of its picture, if it has one."""

    id: str
    text: str
    image: Path | None = None


@dataclass(frozen=True)
class Question:
    """A question as a function sees it."""

    id: str
    text: str


@dataclass(frozen=True)
class Cell:
    """One entry of a batch. ``id`` is different for each time the same cell is asked."""

    id: str
    item: Item
    question: Question


@dataclass(frozen=True)
class Function:
    """``f(item, question)``, or ``f(batch)`` with a list of cells; sync or async."""

    name: str
    call: Callable[..., Any]
    batched: bool
    is_async: bool


def load_function(name: str) -> Function:
    """Load ``module:function``, or an installed function (entry point ``askfew.workers``).

    Modules in the current folder are found, too.

    >>> load_function("operator:add").batched
    False
    """
    found = find("askfew.workers", name)
    if found is None:
        known = ", ".join(installed("askfew.workers"))
        others = f", or be one of {known}" if known else ""
        raise InvalidInput(
            f"a function must be written module:function{others}",
            repr(name),
            "write for example judge:answer",
        )
    return Function(name, found, _takes_batch(name, found), _is_async(found))


def _takes_batch(name: str, function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some built-in functions have no signature
        return False
    needed = [
        each
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        and each.default is each.empty
    ]
    if len(needed) > 2 or (not needed and not any(p.kind is p.VAR_POSITIONAL for p in parameters)):
        raise InvalidInput(
            f"{name} must take (item, question), or (batch)",
            f"{len(needed)} arguments",
            "write def f(item, question)",
        )
    return len(needed) == 1


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 (it may be async)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


class FunctionAnswerer:
    """An answerer that calls a Python function, in threads or in processes."""

    def __init__(
        self,
        function: Function,
        kind: AnswerKind,
        pictures: Pictures,
        *,
        workers: int = 1,
        processes: bool = False,
    ) -> None:
        self._function, self._kind, self._pictures = function, kind, pictures
        self._pool = None if function.is_async else _pool(function.name, workers, processes)
        self._processes = processes
        self._raised: Counter[tuple[str, str]] = Counter()
        self._in_a_row = 0
        self._last_raised = ""
        self._unusable = 0
        self._last_unusable = ""

    async def __call__(self, plate: Sequence[Assignment]) -> list[Reply]:
        """Return one reply for each question."""
        cells = [await self._cell(each) for each in plate]
        try:
            values = await self._values(cells)
        except BrokenProcessPool:
            raise WorkerStopped(
                "processes of the function must live", "one that died", "see what ended it"
            ) from None
        except KeyboardInterrupt:  # raised by the function; our own Ctrl-C is a signal handler
            raise WorkerStopped(
                f"{self._function.name} must answer",
                "KeyboardInterrupt",
                "start again when it may go on; what it held is handed back",
            ) from None
        except (Exception, SystemExit) as error:
            return await self._after_exception(plate, error)
        if self._function.batched:
            values = self._as_list(values, len(plate))
        self._in_a_row = 0
        return self._replies(values)

    def close(self) -> None:
        """End the threads or processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=not self._processes, cancel_futures=True)

    async def _values(self, cells: list[Cell]) -> Any:
        if self._function.batched:
            return await self._call(cells)
        return [await self._call(each.item, each.question) for each in cells]

    def _as_list(self, values: Any, expected: int) -> list[object]:
        """The answers to a batch as a list; WorkerStopped if they are not one for each question."""
        came = f"{type(values).__name__} instead of a list"
        # These have a length, too, but no order that could belong to the questions.
        if not isinstance(values, str | bytes | Mapping | Set):
            with suppress(TypeError):  # a generator, None, an array without dimensions
                came = str(len(values))
                if len(values) == expected:
                    return list(values)
        raise WorkerStopped(
            f"{self._function.name} must return one answer for each question of a batch"
            f" ({expected})",
            came,
            "return None where there is none; the whole batch is handed back",
        )

    async def _call(self, *arguments: object) -> Any:
        if self._pool is None:
            return await self._function.call(*arguments)
        loop = asyncio.get_running_loop()
        if self._processes:
            return await loop.run_in_executor(self._pool, _call_loaded, *arguments)
        return await loop.run_in_executor(self._pool, self._function.call, *arguments)

    async def _after_exception(
        self, plate: Sequence[Assignment], error: BaseException
    ) -> list[Reply]:
        """Hand the questions back, or skip those that were handed back too often."""
        self._in_a_row += 1
        what = f"{self._function.name} raised {type(error).__name__}: {error}"
        # The same one again is a line: twenty tracebacks would hide what else is said.
        again, self._last_raised = what == self._last_raised, what
        logger.warning("%s", what, exc_info=None if again else _of_function(error))
        if self._in_a_row >= _IN_A_ROW:
            raise WorkerStopped(
                f"{self._function.name} must answer",
                f"{_IN_A_ROW} exceptions in a row, the last {type(error).__name__} ({error})",
                "fix the function and start again",
            ) from error
        await asyncio.sleep(min(_PAUSE * self._in_a_row, 1.0))
        replies: list[Reply] = []
        for each in plate:
            cell = (each.item.id, each.question.id)
            self._raised[cell] += 1
            # In a batch nobody knows which question raised, so none of them is skipped for it.
            often = self._raised[cell] > _RELEASES and not self._function.batched
            replies.append(NoAnswer(what) if often else HandBack(what))
        return replies

    def _replies(self, values: Sequence[object]) -> list[Reply]:
        """Read the values. None skips; what is no answer skips too, but not again and again."""
        replies: list[Reply] = []
        wrong: list[str] = []
        for value in values:
            try:
                if value is None:
                    replies.append(NoAnswer(f"{self._function.name} returned None"))
                else:
                    replies.append(Answer(self._kind.read(value)))
            except InvalidAnswer as error:
                wrong.append(str(error))
                replies.append(NoAnswer(str(error)))
        if len(wrong) < len(replies):
            self._unusable = 0
            return replies
        self._unusable, self._last_unusable = self._unusable + len(wrong), wrong[-1]
        if self._unusable >= _IN_A_ROW and (at_fault := self.stuck()) is not None:
            raise at_fault
        return replies

    def stuck(self) -> WorkerStopped | None:
        """An error if there is no use in waiting: the last values were no answers."""
        if not self._unusable:
            return None
        return WorkerStopped(
            f"{self._function.name} must return answers of this campaign's kind",
            f"{counted(self._unusable, 'value')} in a row that cannot be one"
            f" ({self._last_unusable})",
            "fix the function and start again",
        )

    async def _cell(self, asked: Assignment) -> Cell:
        image = asked.item.image
        file = None if image is None else await asyncio.to_thread(self._pictures.file, image)
        item = Item(asked.item.id, asked.item.text, file)
        return Cell(asked.id, item, Question(asked.question.id, asked.question.text))


def _of_function(error: BaseException) -> tuple[type[BaseException], BaseException, Any]:
    """The exception with the part of its traceback that begins in the function."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(
        ("askfew.", "concurrent.")
    ):
        trace = trace.tb_next
    return type(error), error, trace or error.__traceback__


def _pool(name: str, workers: int, processes: bool) -> Executor:
    if not processes:
        return ThreadPoolExecutor(workers, thread_name_prefix="askfew-function")
    # Not fork, because this process has threads. The child imports the function by its name.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_load, initargs=(name,))


_loaded: list[Function] = []


def _load(name: str) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    _loaded.append(load_function(name))


def _call_loaded(*arguments: object) -> Any:
    return _loaded[0].call(*arguments)


def run(
    desk: Desk,
    function: Function,
    *,
    threads: int = 1,
    processes: int = 0,
    plate: int | None = None,
    idle: float = math.inf,
) -> ShiftReport:
    """Let a function answer at a desk until the campaign is over.

    It also stops after ``idle`` seconds without a question. ``plate`` is the size of a batch, for a
    function of batches.
    """
    check_use(function, processes=processes, plate=plate)
    with closing(Pictures(desk)) as pictures:
        slots, kind = processes or threads, desk.describe().answers
        caller = FunctionAnswerer(
            function, kind, pictures, workers=slots, processes=bool(processes)
        )
        with closing(caller):
            size = (plate or USUAL_PLATE) if function.batched else 1
            shift = Shift(desk, caller, slots, size, idle, stuck=caller.stuck)
            (worked,) = run_shifts([shift])
    return worked


def check_use(function: Function, *, processes: int, plate: int | None) -> None:
    """Raise InvalidInput if the function cannot be called with these settings."""
    if plate is not None and not function.batched:
        raise InvalidInput(
            f"with --plate, {function.name} must take a batch",
            "(item, question)",
            "write def f(batch)",
        )
    if processes and function.is_async:
        raise InvalidInput(
            "a function for --processes must not be async",
            function.name,
            "leave --processes out",
        )
