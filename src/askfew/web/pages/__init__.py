"""Pages for people: answering, the dashboard, a new campaign."""

from __future__ import annotations

from fastapi import APIRouter

__all__ = ["router"]

router = APIRouter()
