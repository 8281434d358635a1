"""Pages for people: answering, the dashboard, a new campaign."""

from __future__ import annotations

from fastapi import APIRouter

from askfew.web.pages import answering, home
from askfew.web.pages.dashboard.people import router as inviting
from askfew.web.pages.dashboard.router import router as dashboard
from askfew.web.pages.new.router import router as new

__all__ = ["router"]

router = APIRouter()
for part in (home.router, answering.router, dashboard, inviting, new):
    router.include_router(part)
