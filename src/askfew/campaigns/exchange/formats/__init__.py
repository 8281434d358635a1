"""File formats of answers and results, one in each file."""
