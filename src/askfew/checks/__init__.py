"""Checks beside every certificate: which questions carry the split, and do the assumptions hold?

Pure functions of what was answered (counts, sums and squares of cells) and of the groups.
"""

from askfew.checks.checks import Checks, Promise, check

__all__ = ["Checks", "Promise", "check"]
