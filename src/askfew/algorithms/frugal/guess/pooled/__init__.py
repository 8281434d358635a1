"""Guesses for two groups: search a pair, hunt a question, label by it (``claim/pooled.py``)."""
