"""Outages are waited out, but not for ever."""

import pytest

from askfew.errors import InvalidInput, StoreUnreachable
from askfew.workers.desk import Retry


class Away:
    """Out of reach for so many calls."""

    def __init__(self, times: int) -> None:
        self.left, self.calls = times, 0

    def __call__(self) -> str:
        self.calls += 1
        self.left -= 1
        if self.left >= 0:
            raise StoreUnreachable("a store must answer", "nothing", "wait")
        return "there"


def test_an_outage_is_waited_out() -> None:
    call = Away(4)
    assert Retry(first=0.001, longest=0.002).call(call) == "there"
    assert call.calls == 5


def test_patience_ends() -> None:
    with pytest.raises(StoreUnreachable):
        Retry(seconds=0.01, first=0.004).call(Away(100))


def test_who_hurries_tries_once() -> None:
    retry, call = Retry(first=60.0), Away(100)
    retry.stop_waiting()
    with pytest.raises(StoreUnreachable):
        retry.call(call)
    assert call.calls == 1


def test_other_errors_are_not_waited_out() -> None:
    def refuse() -> None:
        raise InvalidInput("something", "else", "fix it")

    with pytest.raises(InvalidInput):
        Retry(first=60.0).call(refuse)
