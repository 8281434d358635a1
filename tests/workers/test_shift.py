"""Shifts on a real store: nothing is lost, and nothing is kept."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from askfew.answer_warnings import REPEATS, sentence
from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.queries.slots import leases_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, StoreUnreachable, WorkerStopped
from askfew.workers.desk import (
    Answer,
    HandBack,
    Handout,
    NoAnswer,
    Reply,
    Retry,
    StopAnswering,
    StoreDesk,
)
from askfew.workers.shift import Shift
from campaign_tools import Clock, answers_of, fixed_answer, frugal, log_of, sweep


async def truthfully(plate: Sequence[Assignment]) -> list[Reply]:
    return [Answer(float(fixed_answer(each)), cost=0.5) for each in plate]


def nothing_is_leased(campaign: Campaign) -> bool:
    return status_of(campaign).leased == 0


@pytest.mark.parametrize(("slots", "plate"), [(1, 1), (4, 1), (2, 7)])
def test_a_shift_answers_until_the_campaign_is_over(store: Store, slots: int, plate: int) -> None:
    campaign, alone = frugal(store), frugal(store, name="alone")
    worked = asyncio.run(Shift(StoreDesk(campaign, "ann"), truthfully, slots, plate).run())
    asyncio.run(Shift(StoreDesk(alone, "bob"), truthfully).run())
    assert campaign.state == "ended"
    assert log_of(campaign) == log_of(alone)
    assert worked.answered == len(answers_of(campaign))
    assert worked.ended == "the campaign is over"
    assert {row.cost for row in answers_of(campaign)} == {0.5}


def test_many_slots_answer_at_once(store: Store) -> None:
    campaign = sweep(store, rows=8, columns=4)
    together = asyncio.Barrier(16)

    async def wait_for_all(plate: Sequence[Assignment]) -> list[Reply]:
        await asyncio.wait_for(together.wait(), 30)
        return [Answer(1.0) for _ in plate]

    worked = asyncio.run(Shift(StoreDesk(campaign, "ann"), wait_for_all, 16).run())
    assert worked.answered == 32


def test_who_is_stopped_hands_in_answers_and_hands_back_the_rest(store: Store) -> None:
    campaign = sweep(store, rows=10, columns=4)
    answered = asyncio.Event()
    count = 0

    async def then_never(plate: Sequence[Assignment]) -> list[Reply]:
        nonlocal count
        count += 1
        if count > 5:
            answered.set()
            await asyncio.sleep(3600)
        return [Answer(1.0) for _ in plate]

    async def stop() -> None:
        task = asyncio.create_task(Shift(StoreDesk(campaign, "ann"), then_never, 4).run())
        await answered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stop())
    assert len(answers_of(campaign)) == 5
    assert nothing_is_leased(campaign)
    assert len(campaign.ask("bob", 100)) == 35


def test_who_can_only_wait_for_others_says_so_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("askfew.workers.shift._SAY_WAITING_AFTER", 0.1)
    caplog.set_level("INFO", "askfew.workers")

    async def garbage(plate: Sequence[Assignment]) -> list[Reply]:
        return [NoAnswer("garbage") for _ in plate]

    worked = asyncio.run(Shift(StoreDesk(sweep(store), "ann"), garbage, idle=0.6).run())
    assert worked.ended == "no question for 0.6 seconds"
    (said,) = (each for each in caplog.messages if "waiting" in each)
    assert said.startswith("ann: ")
    assert "skipped here and is for another worker" in said


def test_leases_asked_for_while_stopping_are_handed_back(store: Store) -> None:
    campaign = sweep(store)
    asking, go_on = threading.Event(), threading.Event()

    class Slow(StoreDesk):
        def ask(self, n: int, *, per_item: int = 1) -> Handout:
            asking.set()
            go_on.wait(30)
            return super().ask(n)

    async def stop() -> None:
        task = asyncio.create_task(Shift(Slow(campaign, "ann"), truthfully, 4).run())
        await asyncio.to_thread(asking.wait, 30)
        task.cancel()
        threading.Timer(0.05, go_on.set).start()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stop())
    assert nothing_is_leased(campaign)


def test_no_answer_counts_a_failure_and_handing_back_does_not(store: Store) -> None:
    campaign = sweep(store, rows=2, columns=2)
    seen: list[str] = []

    async def moody(plate: Sequence[Assignment]) -> list[Reply]:
        replies: list[Reply] = []
        for each in plate:
            cell = f"{each.item.id} {each.question.id}"
            first = cell not in seen
            seen.append(cell)
            if cell == "i0 q0":
                replies.append(NoAnswer("cannot say"))
            else:
                replies.append(HandBack("not now") if cell == "i1 q1" and first else Answer(1.0))
        return replies

    worked = asyncio.run(Shift(StoreDesk(campaign, "ann"), moody, idle=0.1).run())
    assert (worked.answered, worked.skipped, worked.handed_back) == (3, 1, 1)
    assert worked.ended == "no question for 0.1 seconds"
    asyncio.run(Shift(StoreDesk(campaign, "bob"), truthfully).run())
    assert campaign.state == "ended"


def test_long_answers_keep_their_leases(store: Store, clock: Clock) -> None:
    """However long an answer takes: the store's clock goes on by less than a lease at a time."""
    store.clock = clock
    campaign = sweep(store, rows=2, columns=2, lease_seconds=0.4)

    def left() -> list[float]:
        with campaign.database.read() as connection:
            leases = leases_of(connection, campaign.id, "ann")
        return [expires - clock() for _, _, _, expires in leases]

    async def slowly(plate: Sequence[Assignment]) -> list[Reply]:
        assert len(plate) == 4
        for _ in range(4):
            clock.pass_seconds(0.3)
            while min(left()) < 0.3:  # until all are renewed
                await asyncio.sleep(0.01)
        assert campaign.ask("bob", 10) == []
        return [Answer(1.0) for _ in plate]

    worked = asyncio.run(Shift(StoreDesk(campaign, "ann"), slowly, plate=4).run())
    assert (worked.answered, worked.refused) == (4, 0)


def test_answers_that_come_too_late_do_not_end_a_worker(store: Store) -> None:
    campaign = sweep(store, rows=2, columns=2)

    async def beaten(plate: Sequence[Assignment]) -> list[Reply]:
        if plate[0].item.id == "i0":
            campaign.release(plate[0].id)
            for other in campaign.ask("bob", 1):
                campaign.tell(other.id, True)
        return [Answer(1.0) for _ in plate]

    worked = asyncio.run(Shift(StoreDesk(campaign, "ann"), beaten).run())
    assert worked.refused > 0
    assert campaign.state == "ended"


def test_enough_is_enough(store: Store) -> None:
    campaign = sweep(store, rows=5, columns=4)
    count = 0

    async def ten(plate: Sequence[Assignment]) -> list[Reply]:
        nonlocal count
        count += 1
        if count > 10:
            raise StopAnswering("ten are enough")
        return [Answer(1.0) for _ in plate]

    worked = asyncio.run(Shift(StoreDesk(campaign, "ann"), ten, 3).run())
    assert (worked.answered, worked.ended) == (10, "ten are enough")
    assert nothing_is_leased(campaign)


def test_an_answerer_that_fails_hands_all_back(store: Store) -> None:
    campaign = sweep(store)

    async def fails(plate: Sequence[Assignment]) -> list[Reply]:
        raise WorkerStopped("it must work", "nothing", "fix it")

    with pytest.raises(WorkerStopped, match="it must work"):
        asyncio.run(Shift(StoreDesk(campaign, "ann"), fails, 3).run())
    assert nothing_is_leased(campaign)


def test_a_worker_that_is_revoked_stops(store: Store) -> None:
    campaign = sweep(store, rows=10, columns=10)

    async def until_revoked(plate: Sequence[Assignment]) -> list[Reply]:
        campaign.revoke("ann")
        return [Answer(1.0) for _ in plate]

    with pytest.raises(InvalidInput, match="revoked"):
        asyncio.run(Shift(StoreDesk(campaign, "ann"), until_revoked, 2).run())
    assert nothing_is_leased(campaign)


def test_a_store_that_goes_away_for_a_while_is_waited_for(store: Store) -> None:
    campaign = frugal(store)
    calls = 0

    class Shaky(StoreDesk):
        def ask(self, n: int, *, per_item: int = 1) -> Handout:
            nonlocal calls
            calls += 1
            if calls % 3 == 0:
                raise StoreUnreachable("a store must answer", "nothing", "wait")
            return super().ask(n)

    retry = Retry(first=0.001)
    asyncio.run(Shift(Shaky(campaign, "ann"), truthfully, 2, retry=retry).run())
    assert campaign.state == "ended"


def test_a_worker_that_repeats_itself_is_told_so(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    campaign = sweep(store, rows=20, columns=6, each=4, answers_per_worker_and_cell=4)

    async def stubborn(plate: Sequence[Assignment]) -> list[Reply]:
        cells = [(int(each.item.id[1:]), int(each.question.id[1:])) for each in plate]
        return [Answer(float((i % 2 == 0) != ((i * 7 + q * 3) % 8 == 0))) for i, q in cells]

    worked = asyncio.run(Shift(StoreDesk(campaign, "ann"), stubborn, 4).run())
    (warning,) = worked.warnings
    assert (warning.kind, warning.fields["worker"]) == (REPEATS, "ann")
    assert sentence(warning) in caplog.text
