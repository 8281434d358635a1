"""What server processes share: the same objects for all, and only for those with the key."""

import time
from multiprocessing import AuthenticationError

import pytest

from askfew.web.access.authenticator import TokenThrottle
from askfew.web.pages.caches import TimedCache
from askfew.web.shared import Shared, SharedAddress, connect_shared, offer_shared


def shared_objects() -> Shared:
    return Shared(TokenThrottle(time.monotonic))


def test_two_processes_count_wrong_tokens_together() -> None:
    address = offer_shared(shared_objects())
    one, other = connect_shared(address), connect_shared(address)
    waits = [(one if n % 2 else other).throttle.wrong("10.0.0.1", f"token {n}") for n in range(21)]
    assert waits[:20] == [0] * 20
    assert 0 < waits[20] <= 60
    assert one.throttle.wrong("10.0.0.2", "token") == 0


def test_a_change_in_one_process_makes_the_other_read_again() -> None:
    address = offer_shared(shared_objects())
    one, other = connect_shared(address), connect_shared(address)
    cache: TimedCache[int] = TimedCache(other.changes, least_seconds=1000)
    values = iter(range(10))
    assert [cache.get("birds", lambda: next(values)) for _ in range(2)] == [0, 0]
    one.changes.add("owls")
    assert cache.get("birds", lambda: next(values)) == 0
    one.changes.add("birds")
    assert [cache.get("birds", lambda: next(values)) for _ in range(2)] == [1, 1]


def test_a_value_that_was_begun_before_a_change_is_not_kept() -> None:
    shared = shared_objects()
    cache: TimedCache[str] = TimedCache(shared.changes, least_seconds=1000)

    def read_too_early() -> str:
        shared.changes.add("birds")
        return "old"

    assert cache.get("birds", read_too_early) == "old"
    assert cache.get("birds", lambda: "new") == "new"


def test_what_was_read_before_a_campaign_ended_is_not_shown_after() -> None:
    cache: TimedCache[str] = TimedCache(least_seconds=1000)
    assert cache.get("birds", lambda: "running") == "running"
    assert cache.get("birds", lambda: "later") == "running"
    assert cache.get("birds", lambda: "ended", over=True) == "ended"
    assert cache.get("birds", lambda: "later", over=True) == "ended"


def test_without_the_key_nobody_comes_in() -> None:
    address = offer_shared(shared_objects())
    with pytest.raises(AuthenticationError):
        connect_shared(SharedAddress(address.place, b"a guess"))
