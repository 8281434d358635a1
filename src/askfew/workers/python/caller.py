"""Call a function about questions; what it raises releases them, what it returns is read.

A batch is answered as a whole: where the function raises, nobody knows which question it was, so
none of them is ever counted as skipped; and where the number of answers is not that of the
questions, nobody knows which belongs to which, so none is kept and the worker stops.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment
from askfew.errors import InvalidAnswer, WorkerStopped
from askfew.workers.pictures import Pictures
from askfew.workers.python.function import Function, load_function
from askfew.workers.python.records import Cell, Item, Question
from askfew.workers.replies import Answer, HandBack, NoAnswer, Reply

__all__ = ["FunctionAnswerer"]

_RELEASES = 2
"""So often a question that alone made the function raise is handed back; then it is skipped."""
_IN_A_ROW = 20
"""Calls that raise one after another, before it is the function that is at fault."""
_PAUSE = 0.05

logger = logging.getLogger(__name__)


class FunctionAnswerer:
    """An answerer that asks a Python function, in threads or in processes."""

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

    async def __call__(self, plate: Sequence[Assignment]) -> list[Reply]:
        """One reply for each question."""
        cells = [await self._cell(each) for each in plate]
        try:
            values = await self._values(cells)
        except BrokenProcessPool:
            raise WorkerStopped(
                "processes of the function must live", "one that died", "see what ended it"
            ) from None
        except (Exception, SystemExit) as error:
            return await self._released(plate, error)
        if self._function.batched:
            values = self._listed(values, len(plate))
        self._in_a_row = 0
        return [self._reply(value) for value in values]

    def close(self) -> None:
        """End its threads or processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=not self._processes, cancel_futures=True)

    async def _values(self, cells: list[Cell]) -> Any:
        if self._function.batched:
            return await self._call(cells)
        return [await self._call(each.item, each.question) for each in cells]

    def _listed(self, values: Any, expected: int) -> list[object]:
        """What a batch returned, if it is as many answers as there were questions, in order."""
        came = f"{type(values).__name__} instead of a list"
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
            return await loop.run_in_executor(self._pool, _called, *arguments)
        return await loop.run_in_executor(self._pool, self._function.call, *arguments)

    async def _released(self, plate: Sequence[Assignment], error: BaseException) -> list[Reply]:
        self._in_a_row += 1
        what = f"{self._function.name} raised {type(error).__name__}: {error}"
        logger.warning("%s", what, exc_info=error)
        if self._in_a_row >= _IN_A_ROW:
            raise WorkerStopped(
                f"{self._function.name} must answer",
                f"{_IN_A_ROW} exceptions in a row, the last {type(error).__name__} ({error})",
                "mend the function and start again",
            ) from error
        await asyncio.sleep(min(_PAUSE * self._in_a_row, 1.0))
        replies: list[Reply] = []
        for each in plate:
            cell = (each.item.id, each.question.id)
            self._raised[cell] += 1
            often = self._raised[cell] > _RELEASES and not self._function.batched
            replies.append(NoAnswer(what) if often else HandBack(what))
        return replies

    def _reply(self, value: object) -> Reply:
        if value is None:
            return NoAnswer(f"{self._function.name} returned None")
        try:
            return Answer(self._kind.read(value))
        except InvalidAnswer as error:
            return NoAnswer(str(error))

    async def _cell(self, asked: Assignment) -> Cell:
        image = asked.item.image
        file = None if image is None else await asyncio.to_thread(self._pictures.file, image)
        item = Item(asked.item.id, asked.item.text, file)
        return Cell(asked.id, item, Question(asked.question.id, asked.question.text))


def _pool(name: str, workers: int, processes: bool) -> Executor:
    if not processes:
        return ThreadPoolExecutor(workers, thread_name_prefix="askfew-function")
    # Not fork: this process has threads. The child imports the function again, by its name.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_load, initargs=(name,))


_loaded: list[Function] = []


def _load(name: str) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    _loaded.append(load_function(name))


def _called(*arguments: object) -> Any:
    return _loaded[0].call(*arguments)
