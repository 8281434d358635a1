"""Methods of others, from their papers: not the authors' code, and each file says what is ours."""

from askfew.algorithms.peers.acb import acb
from askfew.algorithms.peers.ariu import ariu
from askfew.algorithms.peers.boc import boc
from askfew.algorithms.peers.same_cluster import same_cluster

__all__ = ["acb", "ariu", "boc", "same_cluster"]
