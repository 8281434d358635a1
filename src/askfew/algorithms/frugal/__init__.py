"""The frugal method: search, hunt, label."""

from askfew.algorithms.frugal.method import frugal, goes_by_panels

__all__ = ["frugal", "goes_by_panels"]
