"""Methods of other authors, written from their papers. None is the authors' own code.

Each file says what is theirs and what is ours.
"""

from askfew.algorithms.peers.acb import acb
from askfew.algorithms.peers.ariu import ariu
from askfew.algorithms.peers.boc import boc
from askfew.algorithms.peers.same_cluster import same_cluster

__all__ = ["acb", "ariu", "boc", "same_cluster"]
