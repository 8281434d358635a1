r"""The paper's lower bounds: Theorem 4.1 for the $(1-\delta)$-quantile, Lemma D.2 for the mean.

Both compare the labels with those in which one item has changed sides (*flipping*), and Theorem
4.1 also compares the world with one in which nothing differs (*finding*). The paper states them
for normal answers; the proofs use only divergences, so they are written with those here.
"""

from __future__ import annotations

import math
from dataclasses import replace

from numpy.typing import ArrayLike

from askfew.theory.bound import (
    Bound,
    check_delta,
    check_divergence,
    check_items,
    check_share,
    one_answer_is_proof,
    too_few_items,
)
from askfew.theory.divergence import normal_divergence, normal_information
from askfew.theory.gaps import ordered_gaps

__all__ = [
    "finding_quantile",
    "flipping_mean",
    "flipping_quantile",
    "theorem_4_1",
    "why_no_labelling",
]

_ANY_LABELS = "for each label vector, if the method errs at most delta on all of them"


def flipping_mean(items: int, divergence: float, delta: float) -> Bound:
    r"""$E[T] \ge \frac{n-2}{D} \log\frac{1}{2.4\,\delta}$, for any label vector (Lemma D.2).

    With normal answers $1/D = 2 \sigma^2 / \Delta_{(1)}^2$.

    >>> print(flipping_mean(items=20, divergence=normal_divergence(gap=2.0), delta=0.05))
    Lemma D.2: mean answers >= 19.08
    >>> print(flipping_mean(items=20, divergence=normal_divergence(gap=2.0), delta=0.8))
    Lemma D.2: void at this delta: log(1/(2.4 delta)) is negative
    """
    void = why_no_labelling(items, divergence, delta) or _negative("2.4", delta)
    return Bound(
        name="Lemma D.2",
        kind="lower",
        value=0.0 if void else (items - 2) / divergence * math.log(1 / (2.4 * delta)),
        of="mean answers",
        when=_ANY_LABELS,
        formula="(n-2)/D log(1/(2.4 delta))",
        reference="paper, Lemma D.2",
        void=void,
    )


def flipping_quantile(items: int, divergence: float, delta: float) -> Bound:
    r"""The $(1-\delta)$-quantile is $\ge \frac{n-2}{D} \log\frac{1}{4.8\,\delta}$ (Theorem 4.1).

    The paper stops the method at the bound x and applies Lemma D.2 to the stopped method, which
    need not be 2 delta-PAC once an item has changed sides. The statement is right all the same:
    "says g before x" has a chance above $1 - 2\delta$ under g and at most $\delta$ under g with
    one item flipped, and $\mathrm{kl}(1-2\delta, \delta) \ge \log\frac{1}{4.8\,\delta}$.

    >>> print(flipping_quantile(items=20, divergence=normal_divergence(gap=2.0), delta=0.05))
    Theorem 4.1, labelling: (1 - delta)-quantile of answers >= 12.84
    """
    void = why_no_labelling(items, divergence, delta) or _negative("4.8", delta)
    return Bound(
        name="Theorem 4.1, labelling",
        kind="lower",
        value=0.0 if void else (items - 2) / divergence * math.log(1 / (4.8 * delta)),
        of="(1 - delta)-quantile of answers",
        when=_ANY_LABELS,
        formula="(n-2)/D log(1/(4.8 delta))",
        reference="paper, Theorem 4.1 and Lemma D.2",
        void=void,
    )


def finding_quantile(items: int, information: float, delta: float) -> Bound:
    r"""The $(1-\delta)$-quantile is $\ge \frac1I \log\frac{1}{6\,\delta}$ (Theorem 4.1, Lemma D.1).

    With normal answers $1/I = 2 \sigma^2 d / (\theta \|\Delta\|^2)$. It holds for at least one
    order of the items and questions, and for methods that must be right for every gap, however
    small. It needs two things the paper passes over: a third item (two need no answer), and an
    information counted from one law common to all cells, as ``normal_information`` does: if the
    first group's means vary with the question they can give away which questions are useful.

    >>> found = normal_information([2.0] * 53 + [0.0] * 947, share=0.5)
    >>> print(finding_quantile(items=20, information=found, delta=0.05))
    Theorem 4.1, finding: (1 - delta)-quantile of answers >= 22.72
    """
    check_items(items)
    check_delta(delta)
    check_divergence(information, "information")
    void = one_answer_is_proof(information) or too_few_items(items) or _negative("6", delta)
    return Bound(
        name="Theorem 4.1, finding",
        kind="lower",
        value=0.0 if void else math.log(1 / (6 * delta)) / information,
        of="(1 - delta)-quantile of answers",
        when="gaps unknown to the method; worst order of items and questions;"
        " information counted from one law common to all cells",
        formula="1/I log(1/(6 delta))",
        reference="paper, Theorem 4.1 and Lemma D.1",
        void=void,
    )


def theorem_4_1(
    gaps: ArrayLike, items: int, share: float, delta: float, sigma: float = 1.0
) -> Bound:
    r"""The larger of labelling and finding, for normal answers (Theorem 4.1).

    $$\max\Big(\frac{2\sigma^2 (n-2)}{\Delta_{(1)}^2} \log\frac{1}{4.8\,\delta},\;
    \frac{2\sigma^2 d}{\theta \|\Delta\|^2} \log\frac{1}{6\,\delta}\Big)$$

    ``share`` (theta) is the part of the group that is off by ``gaps`` from a mean common to all
    other cells.

    >>> print(theorem_4_1([2.0] * 53 + [0.0] * 947, items=20, share=0.5, delta=0.05))
    Theorem 4.1: (1 - delta)-quantile of answers >= 22.72
    """
    check_share(share, items)
    labelling = flipping_quantile(items, normal_divergence(ordered_gaps(gaps)[0], sigma), delta)
    finding = finding_quantile(items, normal_information(gaps, share, sigma), delta)
    larger = finding if finding.value > labelling.value else labelling
    return replace(
        larger,
        name="Theorem 4.1",
        when=finding.when,
        formula="max((n-2)/D log(1/(4.8 delta)), 1/I log(1/(6 delta)))",
        reference="paper, Theorem 4.1",
    )


def why_no_labelling(items: int, divergence: float, delta: float) -> str | None:
    """Check the inputs; return why a bound on labelling is void, if it is."""
    check_items(items)
    check_delta(delta)
    check_divergence(divergence, "divergence")
    return too_few_items(items) or one_answer_is_proof(divergence)


def _negative(factor: str, delta: float) -> str | None:
    if float(factor) * delta < 1:
        return None
    return f"void at this delta: log(1/({factor} delta)) is negative"
