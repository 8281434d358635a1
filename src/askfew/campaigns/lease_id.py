"""The id of a lease, and of the answer told by it. Only this file knows how it is written.

An id has four parts: the numbers of campaign, step and slot, and a mark. The mark of a lease is
random, so that nobody can guess the id of another's lease. Answers that were never handed out have
other marks: ``reused``, or the key of the row of a file that they came from.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

__all__ = ["REUSED", "LeaseId", "add_campaign", "slot_part", "strip_campaign"]

REUSED = "reused"
"""The mark of an answer from a reused campaign. Random marks are hexadecimal, so none equals it."""
_NUMBER = r"(0|[1-9]\d{0,8})"
_ID = re.compile(rf"{_NUMBER}-{_NUMBER}-{_NUMBER}-(\w{{1,32}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class LeaseId:
    """The slot that a lease is for, and its mark.

    >>> lease = LeaseId.parse("7-0-12-6f1e")
    >>> lease.campaign, lease.step, lease.slot, str(lease)
    (7, 0, 12, '7-0-12-6f1e')
    >>> LeaseId.parse("seven") is None
    True
    """

    campaign: int
    step: int
    slot: int
    mark: str

    @classmethod
    def parse(cls, text: object) -> LeaseId | None:
        """Read an id; None if the text is not one."""
        found = _ID.fullmatch(text) if isinstance(text, str) else None
        return None if found is None else cls(int(found[1]), int(found[2]), int(found[3]), found[4])

    @classmethod
    def new(cls, campaign: int, step: int, slot: int) -> LeaseId:
        """A fresh id for a slot that is about to be lent."""
        return cls(campaign, step, slot, secrets.token_hex(8))

    @staticmethod
    def around(campaign: int, step: int) -> tuple[str, str]:
        """The text before and after the slot's number, for statements that pick the slot."""
        return f"{campaign}-{step}-", f"-{secrets.token_hex(8)}"

    @property
    def is_reused(self) -> bool:
        """Whether its answer comes from a reused campaign."""
        return self.mark == REUSED

    def is_of(self, campaign: int, step: int, slot: int) -> bool:
        """Whether it is a lease for this slot."""
        return (self.campaign, self.step, self.slot) == (campaign, step, slot)

    def __str__(self) -> str:
        return f"{self.campaign}-{self.step}-{self.slot}-{self.mark}"


def slot_part(lease: str) -> str:
    """An id without its mark: the same for all leases of a slot."""
    return lease.rpartition("-")[0]


def strip_campaign(lease: str) -> str:
    """An id without the campaign's number, which differs in another store."""
    return lease.partition("-")[2]


def add_campaign(campaign: int, rest: str) -> str:
    """The inverse of ``strip_campaign``."""
    return f"{campaign}-{rest}"
