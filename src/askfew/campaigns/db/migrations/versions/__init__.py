"""One file for each version of the tables.

A migration imports nothing of askfew: it must do the same for ever, whatever the code becomes.
"""
