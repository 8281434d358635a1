"""What users do without askfew (no promise), and yardsticks: told the gap, told all levels."""

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
