"""Estimates: what the answers suggest, without a promise.

- ``cells``: answers added up for every (item, question).
- ``classes``: latent classes fitted to them by EM.
- ``separation``: how far the classes lie apart on each question.
- ``guesses``: a group for every item, with its probability.

Methods, checks and outcomes use these. A claim never imports ``classes`` or what rests on it.
"""
