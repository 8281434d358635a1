"""Global random state, which nothing in askfew may touch."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["no_global_randomness"]


@contextmanager
def no_global_randomness(what: str) -> Iterator[None]:
    """Fail if Python's or NumPy's global generator was seeded or drawn from inside the block."""
    before = random.getstate(), _numpy_state()
    yield
    assert random.getstate() == before[0], f"{what} must leave Python's global random state alone"
    assert _numpy_state() == before[1], f"{what} must leave NumPy's global random state alone"


def _numpy_state() -> str:
    state: Any = np.random.get_state(legacy=True)  # noqa: NPY002
    return f"{state[1].tobytes().hex()} {state[2:]}"
