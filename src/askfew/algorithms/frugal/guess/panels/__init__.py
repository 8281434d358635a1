"""Guesses under a small cap: one panel, or panels that cover all (``claim/panel.py``)."""
