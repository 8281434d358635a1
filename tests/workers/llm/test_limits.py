"""Never more in any sixty seconds, by a clock that the test moves."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from askfew.campaigns.db.queries.calls import Call, shared_calls
from askfew.campaigns.store import Store
from askfew.workers.llm.limits import Limits, calls_in_file

Shared = Callable[[], AbstractContextManager[list[Call]]]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(asyncio, "sleep", made.sleep)
    return made


async def in_turn(clock: Clock, shared: list[Shared]) -> list[tuple[float, int]]:
    """When calls were admitted, by one after another who share the limits."""
    gates = [Limits(requests=10, tokens=1000, clock=clock, shared=each) for each in shared]
    times = []
    for n in range(30):
        ticket = await gates[n % 2].admit(400)
        gates[n % 2].correct(ticket, 90)
        times.append((ticket.time, 1))
    return times


def most_in_a_minute(times: list[tuple[float, int]]) -> int:
    return max(sum(n for t, n in times if start <= t < start + 60) for start, _ in times)


def test_requests_a_minute(clock: Clock) -> None:
    async def work() -> list[tuple[float, int]]:
        gate = Limits(requests=10, clock=clock)
        return [((await gate.admit(5)).time, 1) for _ in range(35)]

    times = asyncio.run(work())
    assert most_in_a_minute(times) == 10
    assert times[-1][0] < 200


def test_tokens_a_minute_as_they_turned_out(clock: Clock) -> None:
    async def work() -> list[tuple[float, int]]:
        gate = Limits(tokens=1000, clock=clock)
        times = []
        for _ in range(60):
            ticket = await gate.admit(400)
            gate.correct(ticket, 100)
            times.append((ticket.time, 100))
        return times

    times = asyncio.run(work())
    assert 700 <= most_in_a_minute(times) <= 1000


def test_processes_that_share_a_file_share_the_limits(clock: Clock, tmp_path: Path) -> None:
    async def work() -> list[tuple[float, int]]:
        shared = tmp_path / "limits"
        shared.write_text("cut sho")  # as a crash may leave it
        return await in_turn(clock, [partial(calls_in_file, shared)] * 2)

    assert 6 <= most_in_a_minute(asyncio.run(work())) <= 10


def test_processes_of_one_store_share_the_limits_on_any_machine(
    clock: Clock, store_url: str
) -> None:
    stores = [Store(store_url), Store(store_url)]

    async def work() -> list[tuple[float, int]]:
        return await in_turn(clock, [partial(shared_calls, each.database) for each in stores])

    assert 6 <= most_in_a_minute(asyncio.run(work())) <= 10
    with shared_calls(stores[0].database) as known:
        assert 0 < len(known) <= 10  # older ones are forgotten
    for each in stores:
        each.close()


def test_a_call_larger_than_the_limit_goes_alone(clock: Clock) -> None:
    async def work() -> float:
        gate = Limits(tokens=100, clock=clock)
        await gate.admit(10_000)
        return (await gate.admit(10_000)).time

    assert asyncio.run(work()) >= 60


def test_without_limits_nobody_waits(clock: Clock) -> None:
    async def work() -> None:
        gate = Limits(clock=clock)
        for _ in range(1000):
            await gate.admit(10**9)

    asyncio.run(work())
    assert clock.now == 0
