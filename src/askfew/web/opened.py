"""Campaigns that this process has opened. They are kept: opening one reads all its items."""

from __future__ import annotations

import unicodedata
from threading import Lock
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.setting_values import read_setting
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, StoreUnreachable
from askfew.web.problems import Refused

__all__ = ["Opened", "OpenedCampaigns", "opened"]


class OpenedCampaigns:
    """Campaign objects by name, each opened once; any number of threads may use one."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: dict[str, Campaign] = {}
        self._turn = Lock()

    def known(self, name: str) -> Campaign | None:
        """The campaign of that name, if it is open already."""
        return self._known.get(name)

    def get(self, name: str) -> Campaign:
        """The campaign of that name, or Refused (404)."""
        known = self.known(name)
        if known is not None:
            return known
        try:
            proper = read_setting("name", unicodedata.normalize("NFC", name))
            found = self.store.campaign(proper)
        except StoreUnreachable:
            raise
        except InvalidInput:
            raise Refused(404, "there is no campaign of this name: check it") from None
        with self._turn:
            return self._known.setdefault(found.settings.name, found)


async def opened(request: Request, name: str) -> Campaign:
    """The campaign of the path. Only opening it the first time takes a thread."""
    campaigns: OpenedCampaigns = request.app.state.campaigns
    known = campaigns.known(name)
    return await run_in_threadpool(campaigns.get, name) if known is None else known


Opened = Annotated[Campaign, Depends(opened)]
