"""Experiments: each a frozen configuration, a run, a table and a figure, in one file."""
