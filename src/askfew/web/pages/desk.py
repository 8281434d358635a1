"""What pages of one server share: forecasts in the making, and readings a moment old."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import Request

from askfew.campaigns.reading.status import Status
from askfew.web.pages.forecasts import Forecasts
from askfew.web.pages.remembered import Remembered

if TYPE_CHECKING:
    from askfew.web.pages.dashboard.standing import Standing
    from askfew.web.pages.dashboard.view import Details

__all__ = ["Desk", "desk_of"]


@dataclass(frozen=True)
class Desk:
    """One a server."""

    forecasts: Forecasts = field(default_factory=Forecasts)
    statuses: Remembered[Status] = field(default_factory=Remembered)
    standings: Remembered[Standing] = field(default_factory=Remembered)
    details: Remembered[Details] = field(default_factory=lambda: Remembered(least_seconds=2.0))


def desk_of(request: Request) -> Desk:
    """The app's own."""
    desk: Desk = request.app.state.desk
    return desk
