"""What a search must expect: a forecast, not a bound."""

from __future__ import annotations

from askfew.errors import InvalidInput
from askfew.theory.bound import Bound
from askfew.theory.checks import check_share

__all__ = ["random_pairs"]


def random_pairs(items: int, questions: int, useful: int, share: float) -> Bound:
    r"""About $d / (2 \theta (1-\theta) s)$ random pairs of items, each on a random question, until
    one pair differs on its question.

    The mean of a geometric time when the two items are drawn independently; two different items
    differ a little more often (by n/(n-1)), and a deck of questions dealt without replacement
    hits a little sooner. Seeing that they differ costs answers on top.

    >>> print(random_pairs(items=20, questions=1000, useful=53, share=0.5))
    First separating pair: random pairs until one differs about 37.74
    """
    check_share(share, items)
    if not 1 <= useful <= questions:
        raise InvalidInput(
            f"useful questions must be between 1 and all {questions}", useful, "choose how many"
        )
    return Bound(
        name="First separating pair",
        kind="forecast",
        value=questions / (2 * share * (1 - share) * useful),
        of="random pairs until one differs",
        when="a forecast, not a bound",
        formula="d / (2 theta (1-theta) s)",
        reference="a geometric time",
        unit="pairs",
    )
