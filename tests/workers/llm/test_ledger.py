"""Money is set aside before a call, and never more than there is."""

import asyncio
import json
from pathlib import Path

import pytest

from askfew.errors import InvalidInput
from askfew.workers.desk import StopAnswering
from askfew.workers.llm.config import Price
from askfew.workers.llm.endpoint import Secret
from askfew.workers.llm.ledger import ExchangeLog, Ledger

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
        assert all(isinstance(each, StopAnswering) for each in ended)
        return ledger, seen

    ledger, seen = asyncio.run(work())
    assert max(seen) <= 0.1
    assert 0.1 - 0.002 <= ledger.spent <= 0.1


def test_earlier_runs_count() -> None:
    with pytest.raises(StopAnswering, match=r"0\.099000 of at most 0\.1 are spent"):
        asyncio.run(Ledger(PRICES, max_cost=0.1, spent=0.099).reserve("m", 1000, 100))


def test_what_others_spend_of_the_same_money_counts() -> None:
    async def work() -> float:
        one, other = Ledger(PRICES, max_cost=0.1), Ledger(PRICES, max_cost=0.1)
        one.elsewhere, other.elsewhere = lambda: other.spent, lambda: one.spent
        for _ in range(20):
            for ledger in (one, other):
                ledger.settle(await ledger.reserve("m", 1000, 100), None, by="reservation")
        one.spent += 0.019
        with pytest.raises(StopAnswering, match=r"0\.099000 of at most 0\.1 are spent"):
            await other.reserve("m", 1000, 100)
        return other.spent

    assert asyncio.run(work()) == pytest.approx(0.04)


def test_the_key_is_struck_out_wherever_it_appears(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    log = ExchangeLog(file, Secret("sk-secret"))
    log.write(error="Bearer sk-secret", request={"messages": [{"content": "sk-secret!"}]}, cost=1)
    log.close()
    (line,) = file.read_text().splitlines()
    assert json.loads(line)["request"] == {"messages": [{"content": "[key]!"}]}
    assert "sk-secret" not in line


def test_what_was_spent_is_read_again_also_after_a_cut_line(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text('{"cost": 0.5}\n{"cost": 0.25}\n{"cost": 100')
    log = ExchangeLog(file, Secret(""))
    assert log.spent == 0.75
    log.write(cost=0.125)
    log.close()
    again = ExchangeLog(file, Secret(""))
    assert again.spent == 0.875
    again.close()


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the log must be a writable file"):
        ExchangeLog(tmp_path, Secret(""))


def test_processes_that_share_a_log_see_what_the_others_spend(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    one, other = ExchangeLog(file, Secret("")), ExchangeLog(file, Secret(""))
    one.write(cost=0.5, response="long" * 10_000)
    other.write(cost=0.25)
    assert (one.spent_elsewhere(), other.spent_elsewhere()) == (0.25, 0.5)
    with file.open("ab") as beside:
        beside.write(b'{"run": "a third", "cost":')
        beside.flush()
        assert one.spent_elsewhere() == 0.25
        beside.write(b" 1}\n")
    assert one.spent_elsewhere() == 1.25
    one.write(cost=4)
    assert (one.spent_elsewhere(), other.spent_elsewhere()) == (1.25, 5.5)
    one.close()
    other.close()
