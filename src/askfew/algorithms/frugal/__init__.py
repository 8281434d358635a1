"""The frugal method: search, hunt, label."""

from askfew.algorithms.frugal.method import frugal

__all__ = ["frugal"]
