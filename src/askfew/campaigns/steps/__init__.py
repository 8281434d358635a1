"""A step is one Batch and, once all its slots are settled, one frozen Tally."""
