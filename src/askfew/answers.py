"""What an answer is: yes or no, a point on a bounded scale, or a number with known noise.

Each kind knows its bounds and ``sigma``, the subGaussian constant of its noise (for an answer
in [low, high], Hoeffding's lemma gives (high - low) / 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from askfew.errors import InvalidAnswer, InvalidInput

__all__ = ["LARGEST", "AnswerKind", "Number", "Scale", "YesNo"]

LARGEST = 1e50
"""The largest magnitude of an answer: what is larger could not be squared, added up and divided by
the square of a small sigma. Its inverse is the smallest sigma.
"""

_AGAIN = "answer again, or not at all (Python: None)"
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ROUNDING = 1e-9
"""Relative slack for sums of floats: a scale's own bounds must survive being added up."""


@dataclass(frozen=True)
class YesNo:
    """Yes (1) or no (0).

    >>> YesNo().read(True), YesNo().sigma
    (1.0, 0.5)
    """

    low = 0.0
    high = 1.0
    sigma = 0.5

    def read(self, value: object) -> float:
        """One answer as a number; refuses anything but yes/True/1 and no/False/0."""
        word = value.strip().lower() if isinstance(value, str) else ""
        number = _as_number(_WORDS.get(word, value), "yes (True, 1) or no (False, 0)")
        if number not in (0.0, 1.0):
            raise InvalidAnswer("an answer must be yes (True, 1) or no (False, 0)", value, _AGAIN)
        return number

    def allows(self, counts: NDArray[np.int64], sums: NDArray[np.float64]) -> bool:
        """Whether each sum is a possible number of yeses among its count."""
        possible = (sums >= 0) & (sums <= counts) & (sums == np.floor(sums))
        return bool(np.count_nonzero(possible) == len(sums))

    def __str__(self) -> str:
        return "yes/no answers"


@dataclass(frozen=True)
class Scale:
    """Any value between ``low`` and ``high``, both included.

    >>> Scale(1, 5).sigma
    2.0
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        within = all(_finite(end) and abs(end) <= LARGEST for end in (self.low, self.high))
        if not (within and self.low < self.high):
            raise InvalidInput(
                f"a scale needs two ends, low < high, from {-LARGEST:g} to {LARGEST:g}",
                f"Scale({self.low!r}, {self.high!r})",
                "write for example Scale(1, 5)",
            )

    @property
    def sigma(self) -> float:
        """Half the width."""
        return (self.high - self.low) / 2

    def read(self, value: object) -> float:
        """One answer as a number; refuses what lies outside the scale."""
        expected = f"a number from {self.low:g} to {self.high:g}"
        number = _as_number(value, expected)
        if not self.low <= number <= self.high:
            raise InvalidAnswer(f"an answer must be {expected}", value, _AGAIN)
        return number

    def allows(self, counts: NDArray[np.int64], sums: NDArray[np.float64]) -> bool:
        """Whether each sum lies between count x low and count x high."""
        slack = _ROUNDING * max(abs(self.low), abs(self.high)) * counts
        possible = (sums >= self.low * counts - slack) & (sums <= self.high * counts + slack)
        return bool(np.count_nonzero(possible) == len(sums))

    def __str__(self) -> str:
        return f"answers on a scale from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Number:
    """Any number, with ``sigma``-subGaussian noise (a normal with that spread, for one).

    >>> Number(sigma=2.0).read("3.5")
    3.5
    """

    sigma: float = 1.0

    low = -math.inf
    high = math.inf

    def __post_init__(self) -> None:
        if not (_finite(self.sigma) and 1 / LARGEST <= self.sigma <= LARGEST):
            raise InvalidInput(
                f"sigma must be a positive number, from {1 / LARGEST:g} to {LARGEST:g}",
                repr(self.sigma),
                "pass the noise's spread",
            )

    def read(self, value: object) -> float:
        """One answer as a number; refuses NaN and what is larger than LARGEST."""
        expected = f"a number from {-LARGEST:g} to {LARGEST:g}"
        number = _as_number(value, expected)
        if not abs(number) <= LARGEST:
            raise InvalidAnswer(f"an answer must be {expected}", repr(value), _AGAIN)
        return number

    def allows(self, counts: NDArray[np.int64], sums: NDArray[np.float64]) -> bool:
        """Whether each sum lies within count x LARGEST, so that no answers add up to nothing."""
        possible = np.abs(sums) <= (1 + _ROUNDING) * LARGEST * counts
        return bool(np.count_nonzero(possible) == len(sums))

    def __str__(self) -> str:
        return f"numbers with noise of spread {self.sigma:g}"


AnswerKind = YesNo | Scale | Number


def _finite(value: object) -> bool:
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number larger than any float
        return False


def _as_number(value: object, expected: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidAnswer(
            f"an answer must be {expected}",
            repr(value),
            _AGAIN,
        )
    return number
