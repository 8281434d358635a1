"""``GET /health``: whether this server can do anything, for those who start it again if not."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from askfew.campaigns.db import migrations
from askfew.campaigns.store import Store

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/health")
def health(request: Request) -> JSONResponse:
    """200 while the store answers; where it does not, the error's own answer is 503."""
    store: Store = request.app.state.store
    with store.database.read() as connection:
        migrations.version_of(connection)
    return JSONResponse({"status": "ok"})
