"""The procedures of Graf, Thuot and Verzelen, "Clustering Items through Bandit Feedback" (2025).

Line by line, with the paper's letters: n items, d questions (the paper's features), item 0 the
reference (the paper's item 1), T a budget, L the number of halvings, k the doubling round.
"""

from askfew.algorithms.paper.bandit_clustering import bandit_clustering
from askfew.algorithms.paper.candidate_row import candidate_row
from askfew.algorithms.paper.cluster_by_candidates import cluster_by_candidates
from askfew.algorithms.paper.compare_sequential_halving import compare_sequential_halving

__all__ = [
    "bandit_clustering",
    "candidate_row",
    "cluster_by_candidates",
    "compare_sequential_halving",
]
