"""Plans in the store: the race for a step is decided whole, and another guess may take over."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from askfew import Rule
from askfew.algorithms import CLAIM_VERSIONS
from askfew.algorithms.rule.guess.choose import Chooser
from askfew.algorithms.rule.guess.learn import Learner
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.steps import read_plans
from askfew.campaigns.db.schema import campaigns, slots, steps
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange.moving import export_campaign, import_campaign
from askfew.campaigns.settings import Settings
from askfew.campaigns.steps.log import read_log
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, ReplayMismatch
from askfew.plans import Plan
from campaign_tools import (
    Clock,
    answer_all,
    answer_by_fresh_processes,
    by_rule,
    frugal,
    items,
    log_of,
    place,
    questions,
    states,
    told_apart,
)
from campaign_workers import die_between_plan_and_slots, forked


@pytest.fixture
def another_guess() -> Iterator[pytest.MonkeyPatch]:
    """Bets of half the size, and items screened in another order."""
    with pytest.MonkeyPatch.context() as patch:
        guess_otherwise(patch)
        yield patch


def guess_otherwise(patch: pytest.MonkeyPatch) -> None:
    bets, order = Chooser._bets, Learner.order
    assert isinstance(order, property)
    getter = order.fget
    assert getter is not None

    def halved(self: Chooser, *which: Any) -> Any:
        return tuple(each / 2 for each in bets(self, *which))

    patch.setattr(Chooser, "_bets", halved)
    patch.setattr(Learner, "order", property(lambda self: getter(self)[::-1]))


def plans_of(campaign: Campaign) -> list[tuple[Plan, ...]]:
    """Of every step, and those after the last."""
    with campaign.database.read() as connection:
        rows = connection.execute(
            select(steps.c.plans).where(steps.c.campaign == campaign.id).order_by(steps.c.number)
        ).scalars()
        closing = select(campaigns.c.closing).where(campaigns.c.id == campaign.id)
        return [read_plans(each) for each in [*rows, connection.execute(closing).scalar_one()]]


def kinds(campaign: Campaign) -> list[list[str]]:
    return [[plan.kind for plan in plans] for plans in plans_of(campaign)]


def sound(store: Store) -> bool:
    examination = examine_store(store.database)
    assert examination.sound, examination
    return True


def answer_to_the_last(campaign: Campaign) -> tuple[str, bool]:
    """Answer the open step but for one slot; that slot, and what to say to it."""
    *others, last = campaign.ask("ann", 1000)
    for asked in others:
        assert campaign.tell(asked.id, told_apart(asked)).ok
    return last.id, told_apart(last)


def test_every_step_keeps_its_plans_and_seals_them(store: Store) -> None:
    campaign = by_rule(store)
    answer_all(campaign, answer=told_apart)
    found = kinds(campaign)
    assert found[0] == ["screen"]
    assert sum(each == ["freeze", "round"] for each in found) == 1
    assert found[-1] == ["round"]  # the last plan asks nobody: that is the end
    assert campaign.state == "ended"
    with campaign.database.read() as connection:
        log = read_log(connection, campaign.id, campaign.problem)
    for number in range(len(log)):
        log.verify(number)
    assert sound(store)


def test_a_fresh_process_at_every_answer_goes_by_the_same_plans(
    store: Store, store_url: str, clock: Clock
) -> None:
    alone = by_rule(store, name="alone")
    answer_all(alone, answer=told_apart)
    by_rule(store, name="restarted")
    answer_by_fresh_processes(store_url, clock, "restarted", 25, told_apart)
    restarted = store.campaign("restarted")
    assert log_of(restarted) == log_of(alone)
    assert restarted.outcome() == alone.outcome()


def test_the_race_for_a_step_is_decided_whole(
    store: Store, second_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step, one with other guesses is overtaken between its guess and its writing."""
    slow, fast = by_rule(store), second_store.campaign("by rule")
    advancer, lost = slow._advancer, []
    original = type(advancer)._write

    def overtaken(self: Any, live: Any, number: int, now: float) -> bool:
        if self is advancer:
            fast._advancer.advance(fast.clock())
        won = original(self, live, number, now)
        if self is advancer:
            assert not won
            lost.append(number)
        return won

    monkeypatch.setattr(type(advancer), "_write", overtaken)
    session_at = type(advancer)._session_at

    def guessing_otherwise(self: Any, number: int) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            if self is advancer:
                guess_otherwise(patch)
            return session_at(self, number)

    monkeypatch.setattr(type(advancer), "_session_at", guessing_otherwise)
    answer_all(slow, answer=told_apart, n=100)
    assert slow.state == "ended"
    assert len(lost) == len(log_of(slow))  # every step but the first, and the end
    assert sound(store)
    alone = by_rule(store, name="alone")
    answer_all(second_store.campaign("alone"), answer=told_apart, n=100)
    assert log_of(slow) == log_of(alone)
    assert slow.outcome() == alone.outcome()


def test_who_would_end_it_loses_to_who_opened_a_step(
    store: Store, second_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One guess gives everybody up, another asks on: one of the two happens, not both."""
    giving_up, going_on = by_rule(store), second_store.campaign("by rule")
    answered = 0
    while ["freeze", "round"] not in kinds(giving_up):
        lease, said = answer_to_the_last(giving_up)
        giving_up.tell(lease, said)
        answered += 1
    lease, said = answer_to_the_last(giving_up)
    advancer = giving_up._advancer
    session_at = type(advancer)._session_at

    def hopeless(self: Any, number: int) -> Any:
        if self is not advancer:
            return session_at(self, number)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                Chooser, "_hopeless", lambda _, some, *__: [(int(i), "between") for i in some]
            )
            live = session_at(self, number)
        assert live.ask() is None
        going_on._advancer.advance(going_on.clock())
        return live

    with monkeypatch.context() as patch:
        patch.setattr(type(advancer), "_session_at", hopeless)
        giving_up.tell(lease, said)
    assert giving_up.state == "running"
    assert sound(store)
    answer_all(giving_up, answer=told_apart)
    assert giving_up.state == "ended"
    assert sound(store)


def test_another_guess_takes_over_a_campaign(store: Store, store_url: str, clock: Clock) -> None:
    campaign = by_rule(store)
    for _ in range(3):
        lease, said = answer_to_the_last(campaign)
        campaign.tell(lease, said)
    before = log_of(campaign)
    process = Store(store_url, clock=clock)
    with pytest.MonkeyPatch.context() as patch:
        guess_otherwise(patch)
        again = process.campaign("by rule")
        answer_all(again, answer=told_apart)
        assert again.state == "ended"
        assert log_of(again)[:3] == before[:3]
    process.close()
    assert log_of(campaign)[3][4] == before[3][4]  # the open step kept the plan it was asked by
    assert sound(store)  # replayed with the guess of old
    outcome = campaign.outcome()
    assert outcome is not None
    assert outcome.labels == [0, 1] * 4


def test_another_claim_is_refused(
    store: Store, store_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = by_rule(store)
    lease, said = answer_to_the_last(campaign)
    monkeypatch.setitem(CLAIM_VERSIONS, "rule", 2)
    process = Store(store_url, clock=clock)
    again = process.campaign("by rule")
    with pytest.raises(ReplayMismatch) as refused:
        again.tell(lease, said)
    sentence = str(refused.value)
    assert sentence.startswith("campaign 'by rule', written with askfew ")
    assert "step 1 must go on with the claim version it began with (1)" in sentence
    assert ", got 2: " in sentence
    assert "'askfew create DIR --reuse 'by rule''" in sentence
    (verdict,) = examine_store(process.database).campaigns
    assert "claim version" in verdict.problems[0]
    process.close()


@pytest.mark.parametrize("edit", ["plan", "pending", "closing"])
def test_a_plan_that_was_edited_is_found(store: Store, edit: str) -> None:
    campaign = by_rule(store)
    if edit == "closing":
        answer_all(campaign, answer=told_apart)
        forged = json.dumps([Plan("round").to_dict()]).encode()
        change = update(campaigns).values(closing=forged)
    else:
        for _ in range(2 if edit == "plan" else 1):
            lease, said = answer_to_the_last(campaign)
            campaign.tell(lease, said)
        stored = plan_text(campaign, 1)
        forged = re.sub(rb'"items": \["i", "....', b'"items": ["i", "AwAA', stored)
        assert forged != stored
        change = update(steps).where(steps.c.number == 1).values(plans=forged)
    with store.database.write() as connection:
        connection.execute(change)
    (verdict,) = examine_store(store.database).campaigns
    assert verdict.problems


def plan_text(campaign: Campaign, number: int) -> bytes:
    with campaign.database.read() as connection:
        here = (steps.c.campaign == campaign.id, steps.c.number == number)
        return bytes(connection.execute(select(steps.c.plans).where(*here)).scalar_one())


def test_a_kill_between_plan_and_slots_leaves_nothing_half_made(
    store: Store, store_url: str
) -> None:
    campaign = by_rule(store)
    lease, said = answer_to_the_last(campaign)
    process = forked(die_between_plan_and_slots, store_url, "by rule", lease, said)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    with store.database.read() as connection:
        newest = connection.execute(select(func.max(steps.c.number))).scalar_one()
        last = connection.execute(select(func.max(slots.c.step))).scalar_one()
    assert (newest, last) == (0, 0)
    assert sound(store)
    (asked,) = campaign.ask("ann")
    assert place(asked.id)[0] == 1
    assert sound(store)


def test_a_campaign_that_moves_keeps_its_plans(
    store: Store, tmp_path: Path, another_guess: pytest.MonkeyPatch
) -> None:
    campaign = by_rule(store)
    for _ in range(2):
        lease, said = answer_to_the_last(campaign)
        campaign.tell(lease, said)
    export_campaign(campaign, tmp_path / "moved.askfew")
    another_guess.undo()
    moved = import_campaign(store, tmp_path / "moved.askfew", "moved")
    assert [row[:-1] for row in log_of(moved)] == [row[:-1] for row in log_of(campaign)]
    answer_all(moved, answer=told_apart)
    assert moved.state == "ended"
    home, away = examine_store(store.database).campaigns
    assert home.sound
    assert away.sound
    assert any("attested by the exporter" in note for note in away.notes)
    assert not home.notes
    export_campaign(moved, tmp_path / "ended.askfew")
    ended = import_campaign(store, tmp_path / "ended.askfew", "ended")
    assert plans_bytes(ended) == plans_bytes(moved)


def plans_bytes(campaign: Campaign) -> list[list[bytes]]:
    return [[plan.to_bytes() for plan in plans] for plans in plans_of(campaign)]


def learnt_rule(campaign: Campaign) -> Rule:
    outcome = campaign.outcome()
    assert outcome is not None
    return Rule.from_dict(outcome.rule)


def test_a_rule_is_not_certified_by_the_answers_that_taught_it(store: Store) -> None:
    """Neither directly, nor by way of a campaign that reused them."""
    old = by_rule(store)
    answer_all(old, answer=told_apart)
    rule = learnt_rule(old)
    seals = {row[-1] for row in log_of(old)}
    assert rule.learnt_from
    assert seals.issuperset(rule.learnt_from)
    settings = {"delta": 0.1, "answers_per_worker_and_cell": 10_000}
    store.create(
        Settings.from_dict({"name": "middle", **settings}), items(8), questions(6), reuse="by rule"
    )
    for reused in ("by rule", "middle"):
        with pytest.raises(InvalidInput, match="not learnt from") as refused:
            store.create(
                Settings.from_dict({"name": "new", "rule": rule, **settings}),
                items(8),
                questions(6),
                reuse=reused,
            )
        assert repr(reused) in str(refused.value)
    other = frugal(store, rows=8, columns=6)
    answer_all(other)
    applied = store.create(
        Settings.from_dict({"name": "applied", "rule": rule.to_dict(), **settings}),
        items(8),
        questions(6),
        reuse="frugal",
    )
    answer_all(applied, answer=told_apart)
    assert kinds(applied)[0] == ["round"]  # no pilot
    outcome = applied.outcome()
    assert outcome is not None
    assert outcome.status == "done"
    assert learnt_rule(applied) == rule


def test_what_a_reused_campaign_taught_is_known_too(store: Store) -> None:
    """A rule learnt from answers of an older campaign is not certified by that one's."""
    older = by_rule(store, name="older")
    answer_all(older, answer=told_apart)
    settings = {"delta": 0.1, "answers_per_worker_and_cell": 10_000, "seed": 3}
    newer = store.create(
        Settings.from_dict({"name": "newer", **settings}), items(8), questions(6), reuse="older"
    )
    answer_all(newer, answer=told_apart)
    with pytest.raises(InvalidInput, match="not learnt from"):
        store.create(
            Settings.from_dict({"name": "third", "rule": learnt_rule(newer), **settings}),
            items(8),
            questions(6),
            reuse="older",
        )


def second_step(store: Store, clock: Clock, people: int) -> int:
    """How much it asks, with so many people at work."""
    chosen = {"rule": Rule.cut("q0", 0.5), "answers_per_worker_and_cell": 1000}
    settings = Settings.from_dict({"name": f"for {people}", **chosen})
    campaign = store.create(settings, items(4), questions(1))
    for number in range(20):  # they have left long ago
        campaign.release(campaign.ask(f"old {number}")[0].id)
    clock.pass_seconds(1000)
    for number in range(people):
        campaign.release(campaign.ask(f"w{number}")[0].id)
    for each in campaign.ask("w0", 1000):
        assert campaign.tell(each.id, True).ok
    return len(states(campaign, step=1))


def test_steps_are_sized_to_the_people_who_were_seen_lately(store: Store, clock: Clock) -> None:
    assert second_step(store, clock, 1) < second_step(store, clock, 20)
