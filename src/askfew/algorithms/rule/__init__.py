"""Learn a readable rule, freeze it, certify items against it: nothing is assumed about items."""

from askfew.algorithms.rule.method import rule

__all__ = ["rule"]
