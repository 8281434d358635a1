"""Many processes at once: forked, started together, each result or failure brought back."""

import multiprocessing
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")

_FORK = multiprocessing.get_context("fork")  # imports are there already: a start costs milliseconds


def together(count: int, prepare: Callable[[int], Callable[[], T]]) -> tuple[list[T], float]:
    """The results of ``prepare(0)()`` to ``prepare(count - 1)()``, and how long they took.

    Each is one process. They begin when all have prepared themselves, with connections of their
    own: none may be open when this is called.
    """
    ready = _FORK.Barrier(count + 1)
    pipes, processes = [], []
    for number in range(count):
        here, there = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_run, args=(number, prepare, ready, there))
        process.start()
        there.close()
        pipes.append(here)
        processes.append(process)
    ready.wait()
    began = time.perf_counter()
    came = [pipe.recv() for pipe in pipes]
    took = time.perf_counter() - began
    for process in processes:
        process.join()
    failures = [each for ok, each in came if not ok]
    if failures:
        raise RuntimeError(
            f"{len(failures)} of {count} processes failed, the first:\n{failures[0]}"
        )
    return [each for _, each in came], took


def _run(
    number: int, prepare: Callable[[int], Callable[[], Any]], ready: Any, pipe: Connection
) -> None:
    try:
        try:
            work = prepare(number)
        finally:
            ready.wait()
        pipe.send((True, work()))
    except BaseException:
        pipe.send((False, traceback.format_exc()))
