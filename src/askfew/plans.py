"""Plans: what a guess decided before the answers came.

A method that learns as it goes has two parts. The *guess* decides whom to ask next, how much to bet
and which rule to try. The *claim* computes evidence and labels from what was fixed beforehand. Each
decision of the guess is a Plan. The driver writes it into the log with the Batch it led to, and a
replay hands it back instead of guessing again. So a campaign can go on after the heuristics
changed, and on any processor.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askfew.errors import InvalidInput, InvalidPlan

__all__ = ["Guess", "Plan"]

_TYPES = {"i": "<i8", "f": "<f8"}


@dataclass(frozen=True, eq=False)
class Plan:
    """One decision: its ``kind``, JSON-ready ``facts`` and ``columns`` of whole numbers or floats.

    A plan never carries thresholds, parts of delta, counts of restarts or labels. Those belong to
    the claim, which checks every plan before it acts on it; so a wrong plan cannot make a wrong
    promise.

    >>> plan = Plan("round", {"node": 0}, {"items": np.array([3, 5]), "bets": np.array([0.5, 1.0])})
    >>> Plan.from_bytes(plan.to_bytes()).floats("bets", 2)
    array([0.5, 1. ])
    """

    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def ints(self, name: str) -> NDArray[np.int64]:
        """A column of whole numbers, or InvalidPlan."""
        return self._column(name, "i").astype(np.int64, copy=False)

    def floats(self, name: str, size: int) -> NDArray[np.float64]:
        """A column of ``size`` finite floats, or InvalidPlan."""
        column = self._column(name, "f").astype(np.float64, copy=False)
        if column.shape != (size,) or not np.isfinite(column).all():
            raise InvalidPlan(
                f"the plan's {name} must be {size} finite numbers",
                f"shape {column.shape}",
                "fix the guess that made it",
            )
        return column

    def _column(self, name: str, kind: str) -> NDArray[Any]:
        column = self.columns.get(name)
        if column is None or column.ndim != 1 or column.dtype.kind != kind:
            raise InvalidPlan(
                f"a plan {self.kind!r} needs a column {name} of type {_TYPES[kind]}",
                "none" if column is None else f"{column.dtype} in {column.ndim} dimensions",
                "fix the guess that made it",
            )
        return column

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values, bit for bit."""
        return {
            "kind": self.kind,
            "facts": dict(self.facts),
            "columns": {
                # Bytes, not decimal numbers: a replay must get exactly the floats that were
                # planned.
                name: [column.dtype.kind, b64encode(_bytes(column)).decode()]
                for name, column in self.columns.items()
            },
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Plan:
        """The inverse of ``to_dict``."""
        try:
            columns = {
                str(name): np.frombuffer(b64decode(data, validate=True), dtype=_TYPES[kind])
                for name, (kind, data) in values["columns"].items()
            }
            return cls(str(values["kind"]), dict(values["facts"]), columns)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidInput(
                "a plan must have what Plan.to_dict() writes", repr(error), "save the log again"
            ) from error

    def to_bytes(self) -> bytes:
        """The plan as bytes, for stores and seals; the same plan always gives the same bytes."""
        # Sorted, because the seal of a step covers these bytes.
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Plan:
        """The inverse of ``to_bytes``."""
        return cls.from_dict(json.loads(data))

    def __repr__(self) -> str:
        return f"Plan({self.kind!r}, {len(self.columns)} columns)"


@dataclass(frozen=True)
class Guess:
    """What a procedure yields to get a Plan: the driver calls ``make`` or takes it from the log.

    ``make`` depends only on what was planned and answered so far, so that another version of it can
    take over at any step.
    """

    make: Callable[[], Plan]


def _bytes(column: NDArray[Any]) -> bytes:
    # In one byte order on every machine: a log may be replayed on another.
    return column.astype(_TYPES[column.dtype.kind], copy=False).tobytes()
