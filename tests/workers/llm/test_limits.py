"""Never more in any sixty seconds, by a clock that the test moves."""

import asyncio
from pathlib import Path

import pytest

from askfew.campaigns.db.queries.calls import Call, CallLimits, add_call, shared_calls
from askfew.campaigns.store import Store
from askfew.errors import StoreUnreachable
from askfew.web.access.invitations import new_link
from askfew.workers.desk import StoreDesk
from askfew.workers.llm.limits import Admit, Limits
from askfew.workers.server_desk import ServerDesk
from campaign_tools import sweep
from servers import serving


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


def alone(clock: Clock) -> Admit:
    """A desk that knows of no other calls."""
    known: list[Call] = []
    return lambda call, tokens, most: add_call(known, Call(clock(), tokens, call), most)


async def admitted(gate: Limits, clock: Clock, tokens: int, used: int = 0) -> float:
    """When a call was let in."""
    ticket = await gate.admit(tokens)
    if used:
        await gate.correct(ticket, used)
    return clock()


async def in_turn(clock: Clock, desks: list[Admit]) -> list[tuple[float, int]]:
    """When calls were admitted, by one after another who share the limits."""
    gates = [Limits(CallLimits(10, 1000), each) for each in desks]
    return [(await admitted(gates[n % 2], clock, 400, 90), 1) for n in range(30)]


def most_in_a_minute(times: list[tuple[float, int]]) -> int:
    return max(sum(n for t, n in times if start <= t < start + 60) for start, _ in times)


def test_requests_a_minute(clock: Clock) -> None:
    async def work() -> list[tuple[float, int]]:
        gate = Limits(CallLimits(requests=10), alone(clock))
        return [(await admitted(gate, clock, 5), 1) for _ in range(35)]

    times = asyncio.run(work())
    assert most_in_a_minute(times) == 10
    assert times[-1][0] < 200


def test_tokens_a_minute_as_they_turned_out(clock: Clock) -> None:
    async def work() -> list[tuple[float, int]]:
        gate = Limits(CallLimits(tokens=1000), alone(clock))
        return [(await admitted(gate, clock, 400, 100), 100) for _ in range(60)]

    times = asyncio.run(work())
    assert 700 <= most_in_a_minute(times) <= 1000


def test_processes_of_one_store_share_the_limits_on_any_machine(
    clock: Clock, store_url: str
) -> None:
    stores = [Store(store_url, clock=clock), Store(store_url, clock=clock)]
    sweep(stores[0])
    desks = [StoreDesk(each.campaign("sweep"), "model") for each in stores]

    async def work() -> list[tuple[float, int]]:
        return await in_turn(clock, [each.admit_call for each in desks])

    assert 6 <= most_in_a_minute(asyncio.run(work())) <= 10
    with shared_calls(stores[0].database) as known:
        assert 0 < len(known) <= 10  # older ones are forgotten
    for each in stores:
        each.close()


def test_who_works_for_a_server_shares_the_limits_of_its_store(tmp_path: Path) -> None:
    """But for those who were invited: they have an endpoint of their own."""
    store = Store(f"sqlite:///{tmp_path}/store.db")
    campaign, most = sweep(store), CallLimits(2, 1000)
    with serving(store) as served:
        server = ServerDesk(served.url, served.owner, "sweep", "model")
        invited = ServerDesk(served.url, new_link(campaign, "ann"), "sweep")
        for desk in (server, invited):
            desk.describe()
        assert StoreDesk(campaign, "other").admit_call("a", 300, most) == 0
        assert server.admit_call("b", 900, most) > 0  # too many tokens
        assert server.admit_call("b", 300, most) == 0
        assert server.admit_call("b", 100, most) == 0  # corrected
        assert server.admit_call("c", 10, most) > 0
        assert invited.admit_call("c", 10, most) == 0
        with shared_calls(store.database) as known:
            assert {each.id: each.tokens for each in known} == {"a": 300, "b": 100}
        for desk in (server, invited):
            desk.close()
    store.close()


def test_a_server_that_is_away_is_waited_for(clock: Clock) -> None:
    there, answers = alone(clock), [False, False, True, False]

    def shaky(call: str, tokens: int, most: CallLimits) -> float:
        if not answers.pop(0):
            raise StoreUnreachable("the server must answer", "nothing", "wait")
        return there(call, tokens, most)

    async def work() -> float:
        gate = Limits(CallLimits(tokens=1000), shaky)
        return await admitted(gate, clock, 400, 90)  # a correction that is lost is no failure

    assert asyncio.run(work()) == 2
    assert answers == []


def test_a_call_larger_than_the_limit_goes_alone(clock: Clock) -> None:
    async def work() -> float:
        gate = Limits(CallLimits(tokens=100), alone(clock))
        await gate.admit(10_000)
        return await admitted(gate, clock, 10_000)

    assert asyncio.run(work()) >= 60


def test_without_limits_nobody_waits(clock: Clock) -> None:
    async def work() -> None:
        gate = Limits(CallLimits(), alone(clock))
        for _ in range(1000):
            await gate.admit(10**9)

    asyncio.run(work())
    assert clock.now == 0
