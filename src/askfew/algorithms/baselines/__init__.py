"""What is usually done: ask everything equally often, then cluster. No certificate."""

from askfew.algorithms.baselines.kmeans import kmeans, kmeans10
from askfew.algorithms.baselines.spectral import spectral

__all__ = ["kmeans", "kmeans10", "spectral"]
