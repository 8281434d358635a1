"""What happens at the same moment. On both stores, with real threads and connections."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange.answer_files import TellRow
from askfew.campaigns.exchange.importing import import_answers
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from campaign_tools import (
    answer_all,
    answers_of,
    fixed_answer,
    frugal,
    log_of,
    place,
    states,
    sweep,
)

T = TypeVar("T")
ROUNDS = range(8)
TURNS = 90


@pytest.fixture
def stores(store_url: str) -> Iterator[list[Store]]:
    """One store as several processes see it."""
    opened = [Store(store_url) for _ in range(4)]
    yield opened
    for each in opened:
        each.close()


def at_once(*actions: Callable[[], T]) -> list[T]:
    """What they return, begun at the same moment."""
    ready = threading.Barrier(len(actions))

    def act(action: Callable[[], T]) -> T:
        ready.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(act, actions))


def everywhere(stores: list[Store], name: str) -> list[Campaign]:
    return [store.campaign(name) for store in stores]


@pytest.mark.parametrize("number", ROUNDS)
def test_the_last_two_answers_at_once_close_the_step(stores: list[Store], number: int) -> None:
    sweep(stores[0], rows=2, columns=1)
    one, two, *_ = everywhere(stores, "sweep")
    first, second = one.ask("ann", 2)
    receipts = at_once(lambda: one.tell(first.id, True), lambda: two.tell(second.id, True))
    assert all(receipt.ok for receipt in receipts)
    assert one.state == "ended"


@pytest.mark.parametrize("number", ROUNDS)
def test_an_answer_is_either_used_or_taken_back(stores: list[Store], number: int) -> None:
    sweep(stores[0], rows=2, columns=1)
    one, two, *_ = everywhere(stores, "sweep")
    first, last = one.ask("ann", 2)
    one.tell(first.id, True)
    taken_back, told = at_once(
        lambda: two.retract(first.id, "ann"), lambda: one.tell(last.id, True)
    )
    assert told.ok
    if taken_back.ok:
        assert one.state == "running"
        assert states(one)[0] == SlotState.LEASED
    else:
        assert one.state == "ended"
    assert examine_store(stores[0].database).sound


@pytest.mark.parametrize("number", ROUNDS)
def test_one_new_worker_in_four_places_at_once(stores: list[Store], number: int) -> None:
    """They are admitted once, and together get no cell more often than one of them would."""
    sweep(stores[0], rows=2, columns=1, each=4)
    asks = [lambda each=each: each.ask("ann", 1) for each in everywhere(stores, "sweep")]
    got = [asked.item.id for batch in at_once(*asks) for asked in batch]
    assert sorted(got) == ["i0", "i1"]


def test_no_slot_is_handed_out_twice(stores: list[Store]) -> None:
    sweep(stores[0], rows=30, columns=1)

    def take_all(campaign: Campaign, worker: str) -> list[Assignment]:
        held: list[Assignment] = []
        while asked := campaign.ask(worker, 2):
            held += asked
        return held

    takers = [
        lambda campaign=campaign, worker=f"w{number}": take_all(campaign, worker)
        for number, campaign in enumerate(everywhere(stores, "sweep"))
    ]
    held = [place(asked.id) for each in at_once(*takers) for asked in each]
    assert sorted(held) == [(0, number) for number in range(30)]


@pytest.mark.parametrize("number", ROUNDS)
def test_a_late_answer_and_the_next_worker_at_once(stores: list[Store], number: int) -> None:
    sweep(stores[0], rows=2, columns=1, lease_seconds=10)
    one, two, *_ = everywhere(stores, "sweep")
    (late,) = one.ask("ann")
    two.clock = lambda: late.expires + 1
    actions: list[Callable[[], Any]] = [
        lambda: one.tell(late.id, True),
        lambda: two.ask("bob", 1),
    ]
    receipt, asked = at_once(*actions)
    assert receipt.ok != any(place(each.id) == place(late.id) for each in asked)


@pytest.mark.parametrize("number", ROUNDS)
def test_giving_up_and_a_new_worker_at_once(stores: list[Store], number: int) -> None:
    sweep(stores[0], rows=2, columns=1, each=2, step_timeout=0)
    one, two, *_ = everywhere(stores, "sweep")
    for asked in one.ask("ann", 2):
        one.tell(asked.id, True)
    _, came = at_once(lambda: one.ask("ann"), lambda: two.ask("bob", 2))
    held = Counter(states(one))
    assert held[SlotState.LEASED] == len(came)
    assert examine_store(stores[0].database).sound


@pytest.mark.parametrize("number", range(12))
def test_answers_from_a_file_and_their_worker_revoked_at_once(
    stores: list[Store], number: int
) -> None:
    sweep(stores[0], rows=40, columns=2, each=2)
    one, two, *_ = everywhere(stores, "sweep")
    one.ask("ann")
    rows = [
        TellRow(f"line {n}", f"i{n % 40}", f"q{n // 40}", "ann", 1, mark=f"{n:x}")
        for n in range(60)
    ]
    actions: list[Callable[[], Any]] = [
        lambda: import_answers(one, rows),
        lambda: two.revoke("ann"),
    ]
    at_once(*actions)
    told = answers_of(one)
    assert len(told) in (0, 60)  # she was revoked before, or after
    assert not any(row.retracted for row in told)
    assert examine_store(stores[0].database).sound


def test_four_advance_one_campaign_and_ask_what_one_alone_asks(stores: list[Store]) -> None:
    alone = frugal(stores[0], name="alone")
    answer_all(alone)
    frugal(stores[0], name="together")

    def work(campaign: Campaign, worker: str) -> None:
        while campaign.state == "running":
            for asked in campaign.ask(worker, 3):
                assert campaign.tell(asked.id, fixed_answer(asked)).ok

    at_once(
        *(
            lambda campaign=campaign, worker=f"w{number}": work(campaign, worker)
            for number, campaign in enumerate(everywhere(stores, "together"))
        )
    )
    assert log_of(stores[0].campaign("together")) == log_of(alone)


def test_everything_at_once_for_a_while(stores: list[Store]) -> None:
    """No deadlock, no error, nothing inconsistent; whoever was revoked is told so."""
    frugal(stores[0], lease_seconds=0.05, answers_per_worker_and_cell=3, step_timeout=0.3)

    def misbehave(campaign: Campaign, seed: int) -> int:
        rng = random.Random(seed)
        done, told = 0, [""]
        for turn in range(TURNS):
            worker = f"w{rng.randrange(6)}.{turn * 3 // TURNS}"  # others come later
            try:
                held = campaign.ask(worker, rng.choice([1, 1, 5, 20]))
            except InvalidInput:
                continue
            for asked in held:
                action = rng.randrange(10)
                if action < 5:
                    campaign.tell(asked.id, fixed_answer(asked))
                    told.append(asked.id)
                elif action < 6:
                    campaign.skip(asked.id)
                elif action < 7:
                    campaign.release(asked.id)
                elif action < 8:
                    campaign.renew(asked.id)
                elif action < 9:
                    campaign.retract(rng.choice(told), worker)
                elif rng.random() < 0.05:
                    campaign.revoke(worker)
                done += 1
        return done

    campaigns = everywhere(stores, "frugal")
    done = at_once(
        *(lambda each=each, seed=seed: misbehave(each, seed) for seed, each in enumerate(campaigns))
    )
    assert sum(done) > 0
    examination = examine_store(stores[0].database)
    assert examination.sound, examination
    kept = Counter(
        (row.worker, row.item, row.question)
        for row in answers_of(campaigns[0])
        if not row.retracted
    )
    assert max(kept.values()) <= 3


@pytest.mark.parametrize("number", ROUNDS)
def test_a_step_and_its_campaign_are_closed_at_once(stores: list[Store], number: int) -> None:
    """Either the step counts in the outcome, or it stays open."""
    frugal(stores[0])
    one, two, *_ = everywhere(stores, "frugal")
    *asked, last = one.ask("ann", 1000)
    for each in asked:
        one.tell(each.id, fixed_answer(each))
    actions: list[Callable[[], Any]] = [
        lambda: one.tell(last.id, fixed_answer(last)),
        two.close,
    ]
    at_once(*actions)
    outcome = one.outcome()
    assert outcome is not None
    assert outcome.status == "closed"
    assert outcome.answers in (0, len(asked) + 1)
    assert examine_store(stores[0].database).sound
