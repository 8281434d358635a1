"""A worker of your own: a function that answers a campaign's questions.

    cd examples && askfew work python CAMPAIGN own_worker:answer

A package installs it under a name with an entry point of the group askfew.workers.
"""

from __future__ import annotations

import random

from askfew.workers.python import Item, Question

coin = random.Random(3)


def answer(item: Item, question: Question) -> bool:
    """What an instrument or a model would say; None would leave the question to somebody else."""
    if "even" in question.text:
        even = int(item.id.removeprefix("item ")) % 2 == 0
        return even if coin.random() < 0.9 else not even
    return coin.random() < 0.5
