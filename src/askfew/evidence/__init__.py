"""Evidence: logarithms of e-processes, as pure functions of counts, sums and bets.

An e-process starts at 1 and, if its null hypothesis holds, has conditional expectation at most 1
at each step, whatever rule picked the step; by Ville's inequality it ever reaches 1/alpha with
probability at most alpha. So evidence may be looked at after every answer. Sizes and bets must be
fixed before the answers come.

- ``blocks``: do an item and its references have different means?
- ``samples``: do all members of a block have the same mean?
- ``sameness``: do all items of a group have the same mean? For the check beside a certificate.
- ``conditional``: of a block's yes/no answers, did one item give the yes too often or too rarely?
- ``line``: does an item's mean score over several questions lie above a line?
- ``mixtures``: gaps of unknown size, and intervals.
- ``margin``: how much may items of a group differ while the labels stay right?
- ``decisions``: the threshold of a label, and rounding before a comparison.
"""

from askfew.evidence.blocks import (
    best_bet,
    bounded_beyond,
    bounded_block,
    log_evidence,
    number_beyond,
    number_block,
)
from askfew.evidence.decisions import nine_digits

__all__ = [
    "best_bet",
    "bounded_beyond",
    "bounded_block",
    "log_evidence",
    "nine_digits",
    "number_beyond",
    "number_block",
]
