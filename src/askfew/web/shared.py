"""What all processes of one ``askfew serve`` share: wrong tokens, forecasts, the owner's changes.

With one process these are plain objects. With several they live in the parent process, and each
server process calls them there: all of these calls are rare, and none is part of asking or telling.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from multiprocessing.managers import BaseManager
from threading import Thread
from typing import Any

from askfew.web.access.authenticator import TokenThrottle
from askfew.web.pages.caches import Changes
from askfew.web.pages.forecasts import Forecasts

__all__ = ["Shared", "SharedAddress", "connect_shared", "offer_shared"]


@dataclass(frozen=True)
class Shared:
    """The objects, or stand-ins that call those of the parent process."""

    throttle: TokenThrottle = field(default_factory=lambda: TokenThrottle(time.monotonic))
    forecasts: Forecasts = field(default_factory=Forecasts)
    changes: Changes = field(default_factory=Changes)


@dataclass(frozen=True)
class SharedAddress:
    """Where the parent process offers its objects, and the secret key for it."""

    place: str
    key: bytes


class _Manager(BaseManager):
    """Calls by a local socket; only those who know the key get through."""


def offer_shared(shared: Shared) -> SharedAddress:
    """Answer calls in threads of this process, for as long as it lives."""

    class Offering(_Manager):
        """A manager of its own, because the registry belongs to the class."""

    Offering.register("throttle", callable=lambda: shared.throttle, exposed=("wrong",))
    Offering.register("forecasts", callable=lambda: shared.forecasts, exposed=("get", "made"))
    Offering.register("changes", callable=lambda: shared.changes, exposed=("count", "add"))
    key = secrets.token_bytes(32)
    server = Offering(authkey=key).get_server()
    Thread(target=server.serve_forever, daemon=True).start()
    return SharedAddress(str(server.address), key)


def connect_shared(address: SharedAddress) -> Shared:
    """Stand-ins for the objects that another process offers."""
    manager: Any = _Manager(address.place, address.key)
    manager.connect()
    return Shared(manager.throttle(), manager.forecasts(), manager.changes())


for _name in ("throttle", "forecasts", "changes"):
    _Manager.register(_name)
