"""What a number of errors says about their rate: Clopper and Pearson's limits, 95 % each."""

from scipy.stats import beta


def upper_limit(errors: int, runs: int) -> float:
    """A promise is kept when even this is within it."""
    return float(beta.ppf(0.95, errors + 1, runs - errors)) if errors < runs else 1.0


def lower_limit(errors: int, runs: int) -> float:
    """A cheat is caught when even this exceeds delta."""
    return float(beta.ppf(0.05, errors, runs - errors + 1)) if errors else 0.0
