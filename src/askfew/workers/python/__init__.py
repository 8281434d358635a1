"""A Python function answers: a model, a script, an instrument."""
