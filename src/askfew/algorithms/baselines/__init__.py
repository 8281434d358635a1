"""What is usually done, and a yardstick that knows the gap. None of them certifies anything."""

from askfew.algorithms.baselines.adaptive_kmeans import adaptive_kmeans
from askfew.algorithms.baselines.kmeans import kmeans, kmeans10
from askfew.algorithms.baselines.known_gap import known_gap
from askfew.algorithms.baselines.spectral import spectral

__all__ = ["adaptive_kmeans", "kmeans", "kmeans10", "known_gap", "spectral"]
