"""Evidence: logarithms of e-processes against "this item and that reference have the same mean".

An e-process starts at 1 and, if its null hypothesis holds, has conditional expectation at most 1
at each step, whatever rule picked the step; by Ville's inequality it ever reaches 1/alpha with
probability at most alpha. One *block* is ``a`` fresh answers of an item with sum ``X`` and ``b``
fresh answers of the reference with sum ``R``; sizes and bets are fixed before they are asked.
"""

from askfew.evidence import mixture
from askfew.evidence.blocks import log_evidence
from askfew.evidence.bounded import bounded_block
from askfew.evidence.number import best_bet, number_block
from askfew.evidence.rounding import nine_digits
from askfew.evidence.tolerance import bounded_beyond, number_beyond

__all__ = [
    "best_bet",
    "bounded_beyond",
    "bounded_block",
    "log_evidence",
    "mixture",
    "nine_digits",
    "number_beyond",
    "number_block",
]
