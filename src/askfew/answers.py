"""The kinds of answers: yes or no, a point on a bounded scale, or a number with known noise.

Each kind knows its bounds and ``sigma``, the subGaussian constant of its noise (for an answer in
[low, high], Hoeffding's lemma gives (high - low) / 2). It also says how answers are written, shown,
read and simulated; settings, forms, prompts, exports and simulated workers use that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from statistics import NormalDist
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from askfew.errors import InvalidAnswer, InvalidInput

__all__ = ["KINDS", "LARGEST", "PLAIN_KINDS", "AnswerKind", "Number", "Scale", "YesNo"]

LARGEST = 1e50
"""The largest magnitude of an answer. Larger ones could overflow when they are squared, added up
and divided by the square of a small sigma. Its inverse is the smallest sigma.
"""

_AGAIN = "answer again, or not at all (Python: None)"
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ROUNDING = 1e-9
"""Relative slack for sums of floats: answers at a scale's ends must be allowed after rounding."""
_MOST_CHOICES = 11
"""The most points of a scale that are shown as buttons: 0 to 10. A plain choice; on a finer scale a
number is typed."""
_POINTS = 4
"""Steps of a simulated scale, which so has five points, the usual number in questionnaires."""


@dataclass(frozen=True)
class YesNo:
    """Yes (1) or no (0).

    >>> YesNo().read(True), YesNo().sigma
    (1.0, 0.5)
    """

    low = 0.0
    high = 1.0
    sigma = 0.5
    name = "yes-no"
    written = '"yes-no"'
    form = '"yes" or "no"; if you are not sure, what seems more likely'
    choices = (("yes", 1.0), ("no", 0.0))
    in_words = True

    @classmethod
    def from_setting(cls, value: object) -> YesNo | None:
        """As ``setting`` writes it; None if it is something else."""
        return cls() if value == cls.name else None

    @property
    def setting(self) -> str:
        """As campaign.toml has it."""
        return self.name

    def spoken(self, value: float) -> str:
        """An answer as a person gave it."""
        return "yes" if value > 0 else "no"

    def draw(self, rng: np.random.Generator, chance: float) -> float:
        """A simulated answer: it says yes with this chance."""
        return float(rng.random() < chance)

    def read(self, value: object) -> float:
        """One answer as a number; refuses anything but yes/True/1 and no/False/0."""
        word = value.strip().lower() if isinstance(value, str) else ""
        number = _as_number(_WORDS.get(word, value), "yes (True, 1) or no (False, 0)")
        if number not in (0.0, 1.0):
            raise InvalidAnswer("an answer must be yes (True, 1) or no (False, 0)", value, _AGAIN)
        return number

    def allows(self, counts: NDArray[np.int64], sums: NDArray[np.float64]) -> bool:
        """Whether each sum is a possible number of yeses among its count."""
        # Exact: sums of ones are whole numbers in floats, too, so no slack is needed.
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

    name = "scale"
    written = "{ scale = [low, high] }"
    in_words = False

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

    @classmethod
    def from_setting(cls, value: object) -> Scale | None:
        """As ``setting`` writes it; None if it is something else."""
        ends = value.get(cls.name) if isinstance(value, Mapping) and len(value) == 1 else None
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            return None
        right = all(_is_number(end) for end in ends) and ends[0] < ends[1]
        return cls(float(ends[0]), float(ends[1])) if right else None

    @property
    def setting(self) -> dict[str, object]:
        """As campaign.toml has it."""
        return {self.name: [float(self.low), float(self.high)]}

    @property
    def form(self) -> str:
        """What an answer looks like, in the words of a prompt."""
        return f"a number on a scale from {self.low:g} to {self.high:g}"

    @property
    def choices(self) -> tuple[tuple[str, float], ...]:
        """The choices to show, or none if a number is to be typed."""
        whole = float(self.low).is_integer() and float(self.high).is_integer()
        if not whole or not 2 <= self.high - self.low < _MOST_CHOICES:
            return ()
        return tuple((f"{v}", float(v)) for v in range(int(self.low), int(self.high) + 1))

    def spoken(self, value: float) -> str:
        """An answer as a person gave it."""
        return f"{value:g}"

    def draw(self, rng: np.random.Generator, chance: float) -> float:
        """A simulated answer, one of five points; on average at this share of the scale."""
        return self.low + (self.high - self.low) * float(rng.binomial(_POINTS, chance)) / _POINTS

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
    name = "number"
    written = "{ number = { sigma = spread } }"
    form = "a number, your best estimate"
    choices = ()
    in_words = False

    def __post_init__(self) -> None:
        if not (_finite(self.sigma) and 1 / LARGEST <= self.sigma <= LARGEST):
            raise InvalidInput(
                f"sigma must be a positive number, from {1 / LARGEST:g} to {LARGEST:g}",
                repr(self.sigma),
                "pass the noise's spread",
            )

    @classmethod
    def from_setting(cls, value: object) -> Number | None:
        """As ``setting`` writes it; None if it is something else."""
        inner = value.get(cls.name) if isinstance(value, Mapping) and len(value) == 1 else None
        if not isinstance(inner, Mapping) or inner.keys() != {"sigma"}:
            return None
        sigma = inner["sigma"]
        return cls(float(sigma)) if _is_number(sigma) and sigma > 0 else None

    @property
    def setting(self) -> dict[str, object]:
        """As campaign.toml has it."""
        return {self.name: {"sigma": float(self.sigma)}}

    def spoken(self, value: float) -> str:
        """An answer as a person gave it."""
        return f"{value:g}"

    def draw(self, rng: np.random.Generator, chance: float) -> float:
        """A simulated answer: above 0 with this chance."""
        return self.sigma * (NormalDist().inv_cdf(chance) + float(rng.normal()))

    def read(self, value: object) -> float:
        """One answer as a number; refuses NaN and what is larger than LARGEST."""
        expected = f"a number from {-LARGEST:g} to {LARGEST:g}"
        number = _as_number(value, expected)
        if not abs(number) <= LARGEST:
            raise InvalidAnswer(f"an answer must be {expected}", repr(value), _AGAIN)
        return number

    def allows(self, counts: NDArray[np.int64], sums: NDArray[np.float64]) -> bool:
        """Whether each sum lies within count x LARGEST; so without answers it must be 0."""
        possible = np.abs(sums) <= (1 + _ROUNDING) * LARGEST * counts
        return bool(np.count_nonzero(possible) == len(sums))

    def __str__(self) -> str:
        return f"numbers with noise of spread {self.sigma:g}"


AnswerKind = YesNo | Scale | Number
KINDS: tuple[type[AnswerKind], ...] = get_args(AnswerKind)
"""The kinds in the order in which they are offered."""
PLAIN_KINDS: dict[str, AnswerKind] = {
    kind.name: kind()  # type: ignore[call-arg]
    for kind in KINDS
    if not fields(kind)
}
"""The kinds without parameters: their name alone is the setting."""


def _finite(value: object) -> bool:
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number larger than any float
        return False


def _is_number(value: object) -> bool:
    """Whether a setting is a finite number; true and false are not."""
    return _finite(value) and not isinstance(value, bool)


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
