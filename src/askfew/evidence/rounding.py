"""Scores as decisions see them: nine digits, the same on every processor.

NumPy's log and exp differ in the last bit between CPU generations. A decision that compared raw
scores could fall differently on another machine, and a campaign resumed there would not replay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.records import Floats

__all__ = ["nine_digits"]

_STEPS = 2.0**30  # a little more than nine decimal digits


def nine_digits(values: ArrayLike) -> Floats:
    """The values rounded to nine significant digits (thirty bits, so that rounding is exact).

    >>> bool(nine_digits(0.1 + 0.2) == nine_digits(0.3))
    True
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.asarray(np.ldexp(np.rint(mantissa * _STEPS) / _STEPS, exponent))[()]
