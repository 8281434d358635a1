"""Bounds on the number of answers, as plain functions: lower bounds for any method, and upper
bounds for the paper's method.

The letters are those of the paper: n items, d questions, gaps Delta between the two groups' means,
theta the smaller group's share, delta the allowed probability of any wrong label. Noise is
sigma-subGaussian; the paper's sigma is 1. Nothing in this room asks, simulates or plots.
"""

from askfew.theory.bound import Bound, Kind
from askfew.theory.divergence import (
    binary_kl,
    normal_divergence,
    normal_information,
    yes_no_divergence,
    yes_no_information,
)
from askfew.theory.exclusion import (
    Mix,
    best_mixes,
    groups_forecast,
    groups_mean,
    normal_divergences,
    yes_no_divergences,
)
from askfew.theory.gaps import effective_sparsity, norm_squared, ordered_gaps, random_pairs
from askfew.theory.labelling import (
    everyone_asked,
    labelling_mean,
    labelling_quantile,
    never_asked,
)
from askfew.theory.location import told_gap_mean, untold_gap_mean
from askfew.theory.lower import finding_quantile, flipping_mean, flipping_quantile, theorem_4_1
from askfew.theory.upper import complexity, corollary_3_2, theorem_3_1

__all__ = [
    "Bound",
    "Kind",
    "Mix",
    "best_mixes",
    "binary_kl",
    "complexity",
    "corollary_3_2",
    "effective_sparsity",
    "everyone_asked",
    "finding_quantile",
    "flipping_mean",
    "flipping_quantile",
    "groups_forecast",
    "groups_mean",
    "labelling_mean",
    "labelling_quantile",
    "never_asked",
    "norm_squared",
    "normal_divergence",
    "normal_divergences",
    "normal_information",
    "ordered_gaps",
    "random_pairs",
    "theorem_3_1",
    "theorem_4_1",
    "told_gap_mean",
    "untold_gap_mean",
    "yes_no_divergence",
    "yes_no_divergences",
    "yes_no_information",
]
