"""Examining a store: every campaign is replayed, every answer is counted again."""
