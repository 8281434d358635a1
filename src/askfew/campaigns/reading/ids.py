"""What a method says of items and questions by their numbers, said by their ids."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askfew.campaigns.campaign import Campaign, Shown

__all__ = ["in_ids"]

_ITEMS = re.compile(r"(?:(?<=\bitems )|(?<=\bmostly ))\[([\d, ]+)\]")
_ITEM = re.compile(r"(?<=\bitem )\d+")
_QUESTION = re.compile(r"(?<=\bquestion )\d+|(?<=\bbest so far )\d+")


def in_ids(why: str, campaign: Campaign) -> str:
    """The sentence with ids for numbers."""
    several = _ITEMS.sub(lambda found: _named(found[1], campaign.items), why)
    one = _ITEM.sub(lambda found: _named(found[0], campaign.items), several)
    return _QUESTION.sub(lambda found: _named(found[0], campaign.questions), one)


def _named(numbers: str, shown: Sequence[Shown]) -> str:
    ids = [shown[int(n)].id for n in re.findall(r"\d+", numbers) if int(n) < len(shown)]
    return " and ".join(ids) or numbers
