"""How a curve grows: the exponent of a power law through its means, to compare with a claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from askfew.experiments.study import GrowthClaim, Line, Measured

__all__ = ["Growth", "Slope", "growth", "power_law"]


@dataclass(frozen=True)
class Slope:
    """The exponent of a fitted power law, with its 95 % interval."""

    exponent: float
    low: float
    high: float


@dataclass(frozen=True)
class Growth:
    """The measured growth of a curve: its exponent, and the factors by which x and the means grow.

    ``published`` is the exponent of the authors' own points, if they are given.
    """

    curve: str
    slope: Slope
    x_factor: float
    mean_factor: float
    published: Slope | None


def growth(
    claim: GrowthClaim, measured: Sequence[Measured], points: Sequence[Line]
) -> Growth | None:
    """The growth of the claim's curve, measured and published; None with fewer than 3 points."""
    cells = [(c.x, c.summary.mean_answers) for c in measured if c.curve == claim.curve]
    x, y = _from(claim.least_x, [(at, mean) for at, mean in cells if mean])
    slope = power_law(x, y)
    if slope is None:
        return None
    theirs = [line for line in points if line.name == f"{claim.curve}, published"]
    published = [power_law(*_from(claim.least_x, zip(p.x, p.y, strict=True))) for p in theirs]
    return Growth(claim.curve, slope, max(x) / min(x), max(y) / min(y), next(iter(published), None))


def _from(least_x: float, points: Iterable[tuple[float, float]]) -> tuple[list[float], list[float]]:
    kept = [(x, y) for x, y in points if x >= least_x]
    return [x for x, _ in kept], [y for _, y in kept]


def power_law(x: Sequence[float], y: Sequence[float]) -> Slope | None:
    """Slope of log y on log x by least squares; None with fewer than three points.

    >>> round(power_law([1, 2, 4], [3, 12, 48]).exponent, 6)
    2.0
    """
    if len(x) < 3:
        return None
    log_x, log_y = np.log(np.array([x, y], dtype=np.float64))
    log_x -= log_x.mean()
    exponent = float(log_x @ log_y / (log_x @ log_x))
    residuals = log_y - log_y.mean() - exponent * log_x
    freedom = len(x) - 2
    error = np.sqrt(residuals @ residuals / freedom / (log_x @ log_x))
    half = float(stdtrit(freedom, 0.975) * error)
    return Slope(exponent, exponent - half, exponent + half)
