"""Baselines: what users do without askfew (no promise), and yardsticks that are told the truth.

``told_gap`` is told how far the groups lie apart, ``told_levels`` every group's mean answers.
"""

from askfew.algorithms.baselines.adaptive_kmeans import adaptive_kmeans
from askfew.algorithms.baselines.aggregate import (
    dawid_skene,
    latent_classes,
    majority_vote,
    naive_bayes,
)
from askfew.algorithms.baselines.told_gap import told_gap
from askfew.algorithms.baselines.told_levels import told_levels
from askfew.algorithms.baselines.uniform import kmeans, kmeans10, spectral

__all__ = [
    "adaptive_kmeans",
    "dawid_skene",
    "kmeans",
    "kmeans10",
    "latent_classes",
    "majority_vote",
    "naive_bayes",
    "spectral",
    "told_gap",
    "told_levels",
]
