"""The guesses: which rule to try, whom to ask next, how much to bet.

Anything in here may be changed freely. At worst the method asks more, decides fewer items or finds
another rule. What it claims stays true, because ``claim`` never imports ``guess``.
"""
