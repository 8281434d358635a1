"""Guesses for more groups: find one of each, exclude everybody (``claim/exclusion.py``)."""
