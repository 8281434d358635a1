"""File formats of answers and results: each in its own small file."""
