"""Queries on the tables, one module for each noun. Functions take and return records."""
