"""The HTTP API, version 1: what programs may ask of the campaigns of a store."""

from __future__ import annotations

from fastapi import APIRouter

from askfew.web.api.answering import router as answering
from askfew.web.api.campaigns import router as campaigns
from askfew.web.api.owning import router as owning

__all__ = ["router"]

router = APIRouter()
for each in (campaigns, answering, owning):
    router.include_router(each)
