"""Guesses for more groups: find one item of each, then exclude the others
(``claim/exclusion.py``).
"""
