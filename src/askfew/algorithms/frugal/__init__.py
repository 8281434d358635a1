"""The frugal method, for the promise "groups"."""

from askfew.algorithms.frugal.method import frugal, goes_by_panels

__all__ = ["frugal", "goes_by_panels"]
