"""Engines compute many runs: on the cores of this machine, or on a Dask cluster.

An engine maps a function over the indices 0, 1, ..., n - 1 and returns the results in that order.
Each index has its own seed, so results are the same on every engine and any number of workers.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed

from askfew.errors import InvalidInput, MissingExtra
from askfew.extensions import LOADED

__all__ = ["Engine", "dask", "local"]

R = TypeVar("R")

_DASK_SECONDS = 10.0
"""How long a Dask scheduler may take to answer at first. A round number."""


class Engine(Protocol):
    """Maps a picklable function over range(n)."""

    def __call__(self, function: Callable[[int], R], n: int) -> Iterator[R]:
        """The results in order, as they become available."""


def local(jobs: int = 1) -> Engine:
    """Use this machine: ``jobs`` processes, -1 for all cores.

    >>> list(local(1)(abs, 3))
    [0, 1, 2]
    """
    if jobs == 0 or jobs < -1:
        raise InvalidInput(
            "jobs must be at least 1, or -1 for all cores", jobs, "pass for example 2"
        )

    def engine(function: Callable[[int], R], n: int) -> Iterator[R]:
        # A generator, so that a progress bar moves while the runs come in.
        parallel = Parallel(n_jobs=jobs, return_as="generator")
        results: Iterator[R] = parallel(delayed(function)(index) for index in range(n))
        return results

    return engine


def dask(scheduler: str) -> Engine:
    """Use a Dask cluster by its scheduler's address. Dask repeats the work of a lost worker."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra(
            "a Dask cluster needs the package distributed", "none", "pip install 'askfew[dask]'"
        ) from error

    def engine(function: Callable[[int], R], n: int) -> Iterator[R]:
        try:
            client = Client(scheduler, timeout=_DASK_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise InvalidInput(
                "the scheduler must be the address of a running Dask scheduler",
                f"{scheduler!r} ({error})",
                "pass for example tcp://127.0.0.1:8786",
            ) from error
        with client:
            call = partial(_call, _packed(function, LOADED))
            # Not pure: Dask would otherwise give two calls with the same arguments one result.
            for future in client.map(call, range(n), pure=False):
                yield future.result()

    return engine


def _packed(function: Callable[[int], R], modules: Sequence[ModuleType]) -> bytes:
    """Pickle the function with the code of these modules, so that workers need not have them.

    Dask uses cloudpickle only if pickle fails, and pickle does not fail: it writes the name of a
    module that no worker can import.
    """
    import cloudpickle

    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    packed: bytes = cloudpickle.dumps(function)
    return packed


def _call(packed: bytes, index: int) -> Any:
    """Unpickle and call, on a worker. If that fails, the task fails and the caller hears why."""
    return pickle.loads(packed)(index)
