"""Money is set aside before a call, and never more than there is."""

import asyncio

import pytest

from askfew.workers.desk import Enough
from askfew.workers.llm.config import Price
from askfew.workers.llm.ledger import Ledger

PRICES = {"m": Price(1.0, 10.0)}


def test_calls_are_booked_by_usage_reservation_or_nothing() -> None:
    async def work() -> Ledger:
        ledger = Ledger(PRICES)
        reserved = [await ledger.reserve("m", 1000, 100) for _ in range(3)]
        assert ledger.reserved == pytest.approx(3 * 0.002)
        assert ledger.settle(reserved[0], (300, 20), by="usage").cost == pytest.approx(0.0005)
        assert ledger.settle(reserved[1], None, by="reservation").cost == pytest.approx(0.002)
        assert ledger.settle(reserved[2], None, by="nothing").cost == 0
        return ledger

    ledger = asyncio.run(work())
    assert (ledger.calls, ledger.prompt_tokens, ledger.completion_tokens) == (3, 300, 20)
    assert (ledger.unknown, ledger.reserved) == (1, 0.0)
    assert ledger.spent == pytest.approx(0.0025)


def test_spent_and_reserved_never_exceed_the_limit() -> None:
    async def call(ledger: Ledger, seen: list[float]) -> None:
        while True:
            reserved = await ledger.reserve("m", 1000, 100)
            seen.append(ledger.spent + ledger.reserved)
            await asyncio.sleep(0)
            ledger.settle(reserved, (500, 50), by="usage")
            await ledger.wake()

    async def work() -> tuple[Ledger, list[float]]:
        ledger, seen = Ledger(PRICES, max_cost=0.1), list[float]()
        calls = (call(ledger, seen) for _ in range(16))
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(each, Enough) for each in ended)
        return ledger, seen

    ledger, seen = asyncio.run(work())
    assert max(seen) <= 0.1
    assert 0.1 - 0.002 <= ledger.spent <= 0.1


def test_earlier_runs_count() -> None:
    with pytest.raises(Enough, match=r"0\.099000 of at most 0\.1 are spent"):
        asyncio.run(Ledger(PRICES, max_cost=0.1, spent=0.099).reserve("m", 1000, 100))


def test_what_others_spend_of_the_same_money_counts() -> None:
    async def work() -> float:
        one, other = Ledger(PRICES, max_cost=0.1), Ledger(PRICES, max_cost=0.1)
        one.elsewhere, other.elsewhere = lambda: other.spent, lambda: one.spent
        for _ in range(20):
            for ledger in (one, other):
                ledger.settle(await ledger.reserve("m", 1000, 100), None, by="reservation")
        one.spent += 0.019
        with pytest.raises(Enough, match=r"0\.099000 of at most 0\.1 are spent"):
            await other.reserve("m", 1000, 100)
        return other.spent

    assert asyncio.run(work()) == pytest.approx(0.04)
