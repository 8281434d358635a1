"""Ranges for what is unknown before a campaign, and the instances that lie in them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import numpy as np

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.errors import InvalidInput
from askfew.records import Problem
from askfew.simulation import Instance, World

__all__ = ["Range", "Unknown"]


@dataclass(frozen=True)
class Range:
    """From ``low`` to ``high``; one number if they are the same.

    >>> Range.read("0.5:0.8"), Range.read("3")
    (Range(low=0.5, high=0.8), Range(low=3.0, high=3.0))
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_ends(self.low, self.high, "a range")

    @classmethod
    def named(cls, name: str, low: float, high: float) -> Range:
        """From ``low`` to ``high``; an error message uses the name."""
        _check_ends(low, high, name)
        return cls(low, high)

    @classmethod
    def read(cls, text: str, name: str = "a range") -> Range:
        """Read 'low:high', or one number."""
        try:
            ends = [float(end) for end in text.split(":", 1)]
        except ValueError:
            raise InvalidInput(
                f"{name} must be a number, or two with a colon", repr(text), "write LOW:HIGH"
            ) from None
        return cls.named(name, ends[0], ends[-1])

    def at(self, share: float) -> float:
        """The point at this share of the range, on a log scale."""
        # A log scale, because a range says by what factor a guess may be wrong.
        return float(self.low * (self.high / self.low) ** share)

    def __str__(self) -> str:
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Unknown:
    """A problem of known size whose gap, share and useful questions are known by ranges only."""

    items: int
    questions: int
    gap: Range
    share: Range
    useful: Range
    noise: str = "yes-no"
    sigma: float = 1.0
    groups: int = 2
    """More than two groups have equal sizes; ``share`` does not matter then."""
    spread: float = 0.0

    def __post_init__(self) -> None:
        Problem(self.items, self.questions)  # raises an error for invalid sizes
        if self.items < 3:
            raise InvalidInput(
                "a plan needs at least 3 items",
                self.items,
                "two items in two groups leave nothing to ask",
            )
        most, ends = self.questions, (self.useful.low, self.useful.high)
        if not all(1 <= end <= most and end == round(end) for end in ends):
            raise InvalidInput(
                f"useful questions must be whole numbers from 1 to all {most}",
                self.useful,
                "say how many may separate the groups",
            )
        # Above one half the other group would be the small one.
        if self.share.high > 0.5:
            raise InvalidInput(
                "the small group's share must be at most 0.5",
                self.share,
                "say how rare it may be",
            )
        for end in (0.0, 1.0):  # both ends of the ranges must be valid instances
            self._instance(end, end, end)

    @classmethod
    def of(
        cls,
        kind: AnswerKind,
        items: int,
        questions: int,
        *,
        gap: Range,
        share: Range,
        useful: Range,
        groups: int = 2,
        spread: float = 0.0,
    ) -> Unknown:
        """For answers of this kind, with the gap in the answers' own units.

        >>> half, one = Range(0.5, 0.5), Range(1, 1)
        >>> Unknown.of(Scale(1, 5), 9, 3, gap=Range(2, 3), share=half, useful=one).gap
        Range(low=0.5, high=0.75)
        """
        noise = _noise(kind)
        width = kind.high - kind.low if noise == "scale" else 1.0
        if gap.high > width and noise == "scale":
            raise InvalidInput(
                f"a gap of {kind} must be at most {width:g}", gap, "give it in the answers' units"
            )
        return cls(
            items,
            questions,
            Range(gap.low / width, gap.high / width),
            share,
            useful,
            noise=noise,
            sigma=kind.sigma,
            groups=groups,
            spread=spread,
        )

    @property
    def kind(self) -> AnswerKind:
        """The kind of answer in a simulated world."""
        if self.noise == "gaussian":
            return Number(self.sigma)
        # As it is simulated: an answer on a scale is the sum of four yes/no answers.
        return YesNo() if self.noise == "yes-no" else Scale(0, 4)

    def draw_instance(self, rng: np.random.Generator) -> Instance:
        """Draw an instance; each unknown is uniform on a log scale."""
        return self._instance(*rng.random(3))

    def draw(self, seed: np.random.SeedSequence) -> World:
        """Draw a world of a random instance."""
        # Two seeds: what a world draws does not depend on what its instance drew.
        for_instance, for_world = seed.spawn(2)
        return self.draw_instance(np.random.default_rng(for_instance)).draw(for_world)

    def hardest(self) -> Instance:
        """The hardest instance: smallest gap, rarest group, fewest useful questions."""
        return self._instance(0.0, 0.0, 0.0)

    def middle(self) -> Instance:
        """The instance in the middle of every range."""
        return self._instance(0.5, 0.5, 0.5)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)

    def _instance(self, gap: float, share: float, useful: float) -> Instance:
        return Instance(
            self.items,
            self.questions,
            round(self.useful.at(useful)),
            self.gap.at(gap),
            self.noise,
            self.sigma,
            self.share.at(share) if self.groups == 2 else 0.5,
            groups=self.groups,
            spread=self.spread,
        )


def _noise(kind: AnswerKind) -> str:
    """The simulated noise for answers of this kind; a bounded kind is simulated as a scale."""
    if isinstance(kind, Number):
        return "gaussian"
    return "yes-no" if isinstance(kind, YesNo) else "scale"


def _check_ends(low: float, high: float, name: str) -> None:
    numbers = isinstance(low, Real) and isinstance(high, Real)
    if not (numbers and math.isfinite(high) and 0 < low <= high):
        raise InvalidInput(
            f"{name} must be a positive number, or two with the lower first",
            repr(low) if low is high else f"{low} to {high}",
            "say what you expect",
        )
