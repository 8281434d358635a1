"""The claim: evidence, labels and the certificate, about a rule that was frozen beforehand.

Given the rule, "this item lies on that side" is a statement about the item's own mean answers. It
is tested by complete rounds of fresh answers whose bets were fixed before they came (the plan).
Nothing in here may import ``guess``: a heuristic can make the method ask more, never make it wrong.
A change in here needs the proofs in docs/rule.md, the guarantee tests and a new ``VERSION``.
"""

VERSION = 1
"""The version of the claim. A log that was written with another one is not replayed."""
