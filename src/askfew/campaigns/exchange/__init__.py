"""Exporting and importing answers and whole campaigns as files."""
