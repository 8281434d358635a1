"""What is usually done, which certifies nothing, and a yardstick: a certificate told the gap."""

from askfew.algorithms.baselines.adaptive_kmeans import adaptive_kmeans
from askfew.algorithms.baselines.kmeans import kmeans, kmeans10
from askfew.algorithms.baselines.spectral import spectral
from askfew.algorithms.baselines.told_gap import told_gap

__all__ = ["adaptive_kmeans", "kmeans", "kmeans10", "spectral", "told_gap"]
