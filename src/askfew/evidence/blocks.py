"""Block evidence for any kind of answer, in the user's units."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.answers import AnswerKind, Number
from askfew.evidence.bounded import bounded_block
from askfew.evidence.number import best_bet, number_block
from askfew.evidence.tolerance import bounded_beyond, number_beyond
from askfew.records import Floats

__all__ = ["log_evidence"]


def log_evidence(
    answers: AnswerKind,
    guess_x: ArrayLike,
    guess_r: ArrayLike,
    x: ArrayLike,
    a: ArrayLike,
    r: ArrayLike,
    b: ArrayLike,
    tolerance: ArrayLike = 0.0,
) -> Floats:
    """Log evidence that the item's mean is not the reference's, bet on two guessed means.

    The guesses must have been made before the block was asked. With a ``tolerance`` it is evidence
    that the means differ by more than that, in the direction of the guesses.

    >>> from askfew.answers import Scale, YesNo
    >>> log_evidence(YesNo(), 0.9, 0.1, x=5, a=5, r=0, b=5).round(3)
    np.float64(5.878)
    >>> log_evidence(Scale(1, 5), 4.6, 1.4, x=25, a=5, r=5, b=5).round(3)
    np.float64(5.878)
    >>> log_evidence(Scale(1, 5), 4.6, 1.4, x=25, a=5, r=5, b=5, tolerance=0.8).round(3)
    np.float64(4.055)
    """
    exactly = not np.any(tolerance)
    if isinstance(answers, Number):
        if not exactly:
            return number_beyond(guess_x, guess_r, x, a, r, b, answers.sigma, tolerance)[()]
        gap = np.subtract(guess_x, guess_r)
        return number_block(best_bet(gap, a, b, answers.sigma), x, a, r, b, answers.sigma)[()]
    low, width = answers.low, answers.high - answers.low
    block = (
        (np.asarray(guess_x) - low) / width,
        (np.asarray(guess_r) - low) / width,
        (np.asarray(x) - low * np.asarray(a)) / width,
        a,
        (np.asarray(r) - low * np.asarray(b)) / width,
        b,
    )
    if not exactly:
        return bounded_beyond(*block, np.asarray(tolerance) / width)[()]
    return bounded_block(*block)[()]
