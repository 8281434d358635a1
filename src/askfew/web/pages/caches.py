"""What pages of one server share: forecasts in the making, and readings a moment old."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import Request

from askfew.campaigns.reading.status import CampaignStatus
from askfew.web.pages.forecasts import Forecasts
from askfew.web.pages.remembered import Remembered

if TYPE_CHECKING:
    from askfew.web.pages.dashboard.standing import Standing
    from askfew.web.pages.dashboard.view import Details

__all__ = ["PageCaches", "caches_of"]


@dataclass(frozen=True)
class PageCaches:
    """One a server."""

    forecasts: Forecasts = field(default_factory=Forecasts)
    statuses: Remembered[CampaignStatus] = field(default_factory=Remembered)
    standings: Remembered[Standing] = field(default_factory=Remembered)
    details: Remembered[Details] = field(default_factory=lambda: Remembered(least_seconds=2.0))


def caches_of(request: Request) -> PageCaches:
    """The app's own."""
    desk: PageCaches = request.app.state.desk
    return desk
