"""Answers and whole campaigns as files: out of a store and into another."""
