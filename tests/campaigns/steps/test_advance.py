"""From step to step: frozen tallies, replay, several processes. On both stores."""

import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import campaigns, slots, steps
from askfew.campaigns.db.schema import questions as questions_table
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.settings import Settings
from askfew.campaigns.steps.advance import Advancer
from askfew.campaigns.steps.log import read_log
from askfew.campaigns.store import Store
from askfew.errors import ReplayMismatch
from askfew.log import Log, origin, seal
from askfew.sessions import Session, session
from campaign_tools import (
    Clock,
    answer_all,
    answer_by_fresh_processes,
    fixed_answer,
    frugal,
    items,
    log_of,
    questions,
    sweep,
)


def stored_log(campaign: Campaign) -> Log:
    with campaign.database.read() as connection:
        return read_log(connection, campaign.id, campaign.problem)


def change(campaign: Campaign, **values: object) -> None:
    """Edit the campaign's row behind its back."""
    with campaign.database.write() as connection:
        connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(**values))


def change_step(campaign: Campaign, number: int, **values: object) -> None:
    with campaign.database.write() as connection:
        connection.execute(
            update(steps)
            .where(steps.c.campaign == campaign.id, steps.c.number == number)
            .values(**values)
        )


def answer_steps(campaign: Campaign, count: int) -> None:
    """Answer until so many steps have closed and the next is open."""
    while status_of(campaign).steps <= count:
        held = campaign.ask("ann", 1000)
        assert held
        for asked in held:
            campaign.tell(asked.id, fixed_answer(asked))


def test_a_campaign_runs_to_its_end(store: Store) -> None:
    campaign = frugal(store)
    told = answer_all(campaign)
    assert campaign.state == "ended"
    outcome = campaign.outcome()
    assert outcome is not None
    assert (outcome.status, outcome.answers) == ("done", told)
    assert outcome.labels == [0, 1, 0, 1, 0, 1]
    assert campaign.ask("ann") == []


def test_it_asks_what_a_session_asks_and_finds_the_same(store: Store) -> None:
    """The store adds nothing to the method, and takes nothing away."""
    campaign = frugal(store)
    answer_all(campaign)
    log = stored_log(campaign)
    talk = session(
        campaign.problem.items, campaign.problem.questions, delta=0.1, method="frugal", rng=3
    )
    for step in log:
        batch = talk.ask()
        assert batch is not None
        assert batch.asks_the_same_as(step.batch)
        talk.tell(step.tally.counts, step.tally.sums, step.tally.squares)
    outcome, stored = talk.outcome, campaign.outcome()
    assert outcome is not None
    assert stored is not None
    assert outcome.labels.tolist() == stored.labels


def test_the_tally_is_the_exact_sum_of_the_slots_in_their_order(store: Store) -> None:
    campaign = sweep(
        store,
        rows=3,
        columns=2,
        each=4,
        answers={"number": {"sigma": 1.0}},
        answers_per_worker_and_cell=10,
    )
    # Seven values for six cells: every row gets different ones.
    values = itertools.cycle([0.1, 1e16, -1e16, 0.2, 3e-17, 7.0, 0.3])
    asked = campaign.ask("ann", 24)
    for each in reversed(asked):
        campaign.tell(each.id, next(values))
    (step,) = stored_log(campaign)
    with campaign.database.read() as connection:
        rows = connection.execute(select(slots.c.row, slots.c.value).order_by(slots.c.number)).all()
    for row in range(6):
        told = [value for number, value in rows if number == row]
        assert step.tally.counts[row] == len(told) == 4
        assert step.tally.sums[row] == math.fsum(told)
        assert step.tally.squares is not None
        assert step.tally.squares[row] == math.fsum(value * value for value in told)


def test_every_step_is_sealed_with_all_before_it(store: Store) -> None:
    campaign = frugal(store)
    answer_steps(campaign, 3)
    log = stored_log(campaign)
    before = origin(campaign.problem, log.recipe)
    for step in log:
        assert step.seal == seal(before, step.batch, step.tally, step.plans)
        before = step.seal


def test_skipped_slots_leave_their_row_with_fewer_answers(store: Store) -> None:
    campaign = sweep(store, rows=2, columns=1)
    for worker in ("ann", "bob", "cid"):
        (asked,) = campaign.ask(worker)
        campaign.skip(asked.id)
    answer_all(campaign, "ann", lambda _: True)
    (step,) = stored_log(campaign)
    assert step.tally.counts.tolist() == [0, 1]
    assert step.tally.sums.tolist() == [0.0, 1.0]


def test_a_campaign_that_nobody_can_answer_stalls(store: Store) -> None:
    campaign = frugal(store)
    for _ in range(1000):
        held = [asked for worker in ("a", "b", "c") for asked in campaign.ask(worker, 1000)]
        if not held:
            break
        for asked in held:
            campaign.skip(asked.id)
    outcome = campaign.outcome()
    assert outcome is not None
    assert outcome.status == "stalled"
    assert len(log_of(campaign)) == 3


def test_at_the_cap_a_campaign_ends_with_what_is_known(store: Store) -> None:
    campaign = frugal(store, max_answers=20)
    assert answer_all(campaign) <= 20
    outcome = campaign.outcome()
    assert outcome is not None
    assert (campaign.state, outcome.status) == ("ended", "budget")


def test_a_cap_below_the_first_batch_ends_it_at_once(store: Store) -> None:
    campaign = frugal(store, max_answers=1)
    assert campaign.state == "ended"
    assert campaign.ask("ann") == []


@pytest.mark.parametrize("method", ["frugal", "paper"])
def test_two_items_end_as_they_would_in_a_session(store: Store, method: str) -> None:
    settings = Settings("two", method=method, answers_per_worker_and_cell=10_000, max_answers=200)
    campaign = store.create(settings, items(2), questions(2))
    if session(2, 2, method=method, rng=0).ask() is None:
        assert campaign.state == "ended"
    answer_all(campaign)
    assert campaign.state == "ended"
    assert campaign.outcome() is not None


def test_two_processes_together_ask_what_one_alone_asks(store: Store, second_store: Store) -> None:
    alone = frugal(store, name="alone")
    told = answer_all(alone)
    ours = frugal(store, name="together")
    theirs = second_store.campaign("together")
    count = 0
    for campaign in itertools.cycle((ours, theirs)):
        asked = campaign.ask("ann", 3)
        for each in reversed(asked):
            assert campaign.tell(each.id, fixed_answer(each)).ok
            count += 1
        if campaign.state == "ended":
            break
    assert count == told
    assert log_of(ours) == log_of(alone)
    assert ours.outcome() == alone.outcome()


def test_a_fresh_process_at_every_answer_asks_the_same(
    store: Store, store_url: str, clock: Clock
) -> None:
    alone = frugal(store, name="alone")
    answer_all(alone)
    frugal(store, name="restarted")
    answer_by_fresh_processes(store_url, clock, "restarted", 4, fixed_answer)
    assert log_of(store.campaign("restarted")) == log_of(alone)


def test_a_slow_process_is_overtaken_without_harm(
    store: Store, second_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one computes the next Batch, another goes on for several steps."""
    alone = frugal(store, name="alone")
    answer_all(alone)
    slow = frugal(store, name="overtaken")
    fast = second_store.campaign("overtaken")
    original = Advancer._session_at

    def overtaken(self: Advancer, number: int) -> Session:
        if self is slow._advancer and number in (1, 4):
            answer_steps(fast, number + 1)
        return original(self, number)

    monkeypatch.setattr(Advancer, "_session_at", overtaken)
    answer_all(slow)
    assert log_of(slow) == log_of(alone)


def test_machines_that_would_ask_differently_are_told_so(
    store: Store, second_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method without plans must ask the same everywhere."""
    slow = frugal(store, method="paper")
    fast = second_store.campaign("frugal")

    def another_session(number: int) -> Session:
        fast._advancer.advance(fast.clock())
        return session(6, 3, delta=0.1, method="paper", rng=99)

    *others, last = slow.ask("ann", 1000)
    for asked in others:
        slow.tell(asked.id, fixed_answer(asked))
    monkeypatch.setattr(slow._advancer, "_session_at", another_session)
    with pytest.raises(ReplayMismatch, match="must be the same on every machine"):
        slow.tell(last.id, fixed_answer(last))


EDITS: dict[str, Callable[[Campaign], None]] = {
    "seed": lambda campaign: _change_settings(campaign, seed=4),
    "delta": lambda campaign: _change_settings(campaign, delta=0.2),
    "method": lambda campaign: _change_settings(campaign, method="paper"),
    "counts": lambda campaign: _flip(campaign, "counts", "<i8"),
    "sums": lambda campaign: _flip(campaign, "sums", "<f8"),
    "squares": lambda campaign: _flip(campaign, "squares", "<f8"),
    "items": lambda campaign: _flip(campaign, "items", "<i8"),
    "seal": lambda campaign: change_step(campaign, 1, seal="0" * 64),
    "recipe": lambda campaign: _change_recipe(campaign, added="later"),
    "texts": lambda campaign: _change_texts(campaign),
}


def _change_settings(campaign: Campaign, **changes: object) -> None:
    changed = Settings.from_dict({**campaign.settings.to_dict(), **changes})
    change(campaign, settings=json.dumps(changed.to_dict()))


def _change_recipe(campaign: Campaign, **changes: object) -> None:
    change(campaign, recipe=json.dumps({**stored_log(campaign).recipe, **changes}))


def _change_texts(campaign: Campaign) -> None:
    with campaign.database.write() as connection:
        connection.execute(update(questions_table).values(text="Another question?"))


def _flip(campaign: Campaign, column: str, kind: str) -> None:
    with campaign.database.read() as connection:
        stored = connection.execute(
            select(steps.c[column]).where(steps.c.campaign == campaign.id, steps.c.number == 1)
        ).scalar_one()
    array = np.frombuffer(stored, dtype=kind).copy()
    array[0] = 1 - array[0]
    change_step(campaign, 1, **{column: array.tobytes()})


@pytest.mark.parametrize("edit", EDITS)
def test_what_was_edited_is_refused(store: Store, store_url: str, clock: Clock, edit: str) -> None:
    campaign = frugal(store)
    answer_steps(campaign, 3)
    EDITS[edit](campaign)
    fresh = Store(store_url, clock=clock)
    again = fresh.campaign("frugal")
    asked = again.ask("ann", 1000)  # of the step that was open already
    *others, last = asked
    assert all(again.tell(each.id, fixed_answer(each)).ok for each in others)
    with pytest.raises(ReplayMismatch) as refused:
        again.tell(last.id, fixed_answer(last))
    said = str(refused.value)
    assert said.startswith("campaign 'frugal', written with askfew ")
    assert "'askfew create DIR --reuse frugal'" in said
    assert len(said) < 700
    with pytest.raises(ReplayMismatch):
        again.ask("ann")
    assert len(log_of(again)) == 4
    fresh.close()


def test_another_version_warns_and_goes_on(
    store: Store, store_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = frugal(store, name="alone")
    answer_all(alone)
    with monkeypatch.context() as patch:
        patch.setattr("askfew.sessions.version", lambda _: "0.0.1")
        campaign = frugal(store)
        answer_steps(campaign, 2)
    fresh = Store(store_url, clock=clock)
    with pytest.warns(UserWarning, match=r"the log was written with .*0\.0\.1"):
        answer_all(fresh.campaign("frugal"))
    # All but the seals, which cover the versions too.
    assert [row[:-1] for row in log_of(campaign)] == [row[:-1] for row in log_of(alone)]
    fresh.close()


def test_several_campaigns_in_one_store_do_not_touch_each_other(store: Store) -> None:
    alone = frugal(store, name="alone")
    answer_all(alone)
    several: list[Campaign] = [frugal(store, name=f"c{number}") for number in range(3)]
    going: list[Any] = list(several)
    while going:
        for campaign in list(going):
            asked = campaign.ask("ann", 2)
            for each in asked:
                campaign.tell(each.id, fixed_answer(each))
            if not asked:
                going.remove(campaign)
    assert all(log_of(campaign) == log_of(alone) for campaign in several)


def test_what_none_of_the_people_may_answer_is_not_waited_for(store: Store) -> None:
    """All who were expected have come: nobody else will take what they skipped."""
    campaign = sweep(store, rows=3, columns=1, people=2)
    for worker in ("ann", "bob"):
        for asked in campaign.ask(worker, 10):
            campaign.skip(asked.id)
    assert campaign.ask("ann") == []
    assert campaign.state == "ended"
    alone = sweep(store, rows=3, columns=1, people=2, name="alone")
    for asked in alone.ask("ann", 10):
        alone.skip(asked.id)
    assert alone.ask("ann") == []
    assert alone.state == "running"  # the other one may still come
