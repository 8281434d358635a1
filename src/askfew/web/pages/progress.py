"""How far a campaign is: a share for a bar, and a sentence for whoever answers."""

from __future__ import annotations

from dataclasses import dataclass

from askfew.campaigns.reading.status import CampaignStatus
from askfew.wording import counted

__all__ = ["Progress", "progress_of"]


@dataclass(frozen=True)
class Progress:
    """A share between 0 and 1, and words."""

    share: float
    text: str


def progress_of(status: CampaignStatus, usual: float) -> Progress:
    """``usual`` is how many answers a campaign like this may need, for as long as its method does
    not say what it still expects.
    """
    answers = counted(status.answers, "answer")
    if status.state in ("ended", "closed"):
        return Progress(1.0, f"{status.decided:,} of {status.items:,} sorted, {answers}")
    if status.expected is not None:
        share = status.answers / max(status.answers + status.expected, 1.0)
        return Progress(share, f"{status.decided:,} of {status.items:,} sorted, {answers}")
    # Nothing is sorted before two items are found that differ: the bar grows ever more slowly.
    return Progress(status.answers / max(status.answers + usual, 1.0), f"{answers} so far")
