"""What users do without askfew (no promise), and the yardstick: a certificate told the gap."""

from askfew.algorithms.baselines.adaptive_kmeans import adaptive_kmeans
from askfew.algorithms.baselines.told_gap import told_gap
from askfew.algorithms.baselines.uniform import kmeans, kmeans10, spectral

__all__ = ["adaptive_kmeans", "kmeans", "kmeans10", "spectral", "told_gap"]
