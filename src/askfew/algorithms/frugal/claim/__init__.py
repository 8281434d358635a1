"""The claims: evidence, labels and certificates, from fresh answers and what was fixed before."""

VERSION = 1
"""Changes when a log of an earlier claim would no longer replay to the same labels."""

__all__ = ["VERSION"]
