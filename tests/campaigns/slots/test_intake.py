"""What becomes of answers: a status each, never a traceback. On both stores."""

import math
from collections import Counter

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.slots.intake import Received
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store
from campaign_tools import Clock, answer_all, answers_of, frugal, place, slot, states, sweep

OPEN, LEASED, ANSWERED, EMPTY = SlotState


def test_an_answer_is_kept_with_all_that_is_known_about_it(store: Store, clock: Clock) -> None:
    campaign = sweep(store, price=0.25)
    first, second = campaign.ask("ann", 2)
    clock.pass_seconds(5)
    assert campaign.tell(first.id, "yes", seconds=4.5).ok
    assert campaign.tell(second.id, 0, cost=2.0).ok
    yes, no = answers_of(campaign)
    assert (yes.id, yes.worker, yes.value, yes.raw) == (first.id, "ann", 1.0, "yes")
    assert (yes.seconds, yes.cost, yes.time) == (4.5, 0.25, clock())
    assert (no.value, no.raw, no.seconds, no.cost) == (0.0, "0", None, 2.0)
    assert {row.retracted for row in (yes, no)} == {False}


def test_telling_twice_counts_once(store: Store) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    assert campaign.tell(asked.id, True).status is Received.ACCEPTED
    for answer in (True, False):
        again = campaign.tell(asked.id, answer)
        assert again.status is Received.ALREADY
        assert again.ok
    assert [row.value for row in answers_of(campaign)] == [1.0]
    assert slot(campaign, 0).value == 1.0


def test_telling_again_after_the_step_closed_is_still_fine(store: Store) -> None:
    campaign = sweep(store)
    asked = campaign.ask("ann", 6)
    for each in asked:
        campaign.tell(each.id, True)
    assert campaign.state == "ended"
    assert {campaign.tell(each.id, True).status for each in asked} == {Received.ALREADY}


@pytest.mark.parametrize(
    "lease",
    [
        "",
        "nonsense",
        "1-0-0",
        "1-0-0-",
        "1-0-0-0123456789abcdef-1",
        "1-0-99-0123456789abcdef",
        "1-7-0-0123456789abcdef",
        "2-0-0-0123456789abcdef",
        "1-99999999999999999999-0-0123456789abcdef",
        "1-999999999-999999999-0123456789abcdef",
        "-1-0-0-0123456789abcdef",
        "1-0-0-\0",
        "1-0-0-\ud800",
        "\uff11-0-0-0123456789abcdef",
        "1-0-0-' OR 1 = 1 --",
        "x" * 1_000_000,
        None,
        7,
    ],
    ids=lambda lease: repr(lease)[:30],
)
def test_what_was_never_asked_is_unknown(store: Store, lease: str) -> None:
    campaign = sweep(store)
    assert campaign.id == 1
    campaign.ask("ann", 6)
    for receipt in (
        campaign.tell(lease, True),
        campaign.skip(lease),
        campaign.release(lease),
        campaign.renew(lease),
        campaign.retract(lease, "ann"),
    ):
        assert receipt.status is Received.UNKNOWN
        assert not receipt.ok
    assert set(states(campaign)) == {LEASED}


def test_an_id_with_other_random_digits_is_refused(store: Store) -> None:
    campaign = sweep(store)
    campaign.ask("ann")
    assert campaign.tell(f"{campaign.id}-0-0-0123456789abcdef", True).status is Received.LATE


def test_a_question_of_another_campaign_is_unknown(store: Store) -> None:
    one, two = sweep(store, name="one"), sweep(store, name="two")
    (asked,) = one.ask("ann")
    assert two.tell(asked.id, True).status is Received.UNKNOWN
    assert one.tell(asked.id, True).ok


@pytest.mark.parametrize("answer", ["maybe", 2, None, math.nan, [], "\0", object()])
def test_an_impossible_answer_is_refused_and_the_question_kept(
    store: Store, answer: object
) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    receipt = campaign.tell(asked.id, answer)
    assert receipt.status is Received.INVALID
    assert "yes (True, 1) or no" in receipt.message
    assert slot(campaign, 0).state == LEASED
    assert campaign.tell(asked.id, True).ok


@pytest.mark.parametrize("field", ["seconds", "cost"])
@pytest.mark.parametrize("amount", [10**400, -1, math.nan, math.inf, "much"])
def test_impossible_seconds_and_costs_are_refused(store: Store, field: str, amount: object) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    told: dict[str, object] = {field: amount}
    receipt = campaign.tell(asked.id, True, **told)  # type: ignore[arg-type]
    assert receipt.status is Received.INVALID
    assert field in receipt.message
    assert answers_of(campaign) == []


def test_a_number_may_come_with_anything_around_it(store: Store) -> None:
    campaign = sweep(store, answers={"number": {"sigma": 1.0}})
    (asked,) = campaign.ask("ann")
    assert campaign.tell(asked.id, " 1.5 ").ok
    assert slot(campaign, 0).value == 1.5


def test_a_late_answer_is_taken_while_nobody_else_has_the_question(
    store: Store, clock: Clock
) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    clock.pass_seconds(10_000)
    assert campaign.tell(asked.id, True).status is Received.ACCEPTED


def test_a_late_answer_to_the_last_open_question_closes_the_step(
    store: Store, clock: Clock
) -> None:
    campaign = sweep(store, rows=2, columns=1, each=2)
    own, others = campaign.ask("ann", 2), campaign.ask("bob", 2)
    for each in (*others, own[0]):
        assert campaign.tell(each.id, True).ok
    clock.pass_seconds(601)
    assert campaign.ask("bob") == []  # it is open again, but not for him
    assert campaign.tell(own[1].id, True).ok
    assert campaign.state == "ended"


def test_a_late_answer_is_refused_politely_once_someone_else_has_the_question(
    store: Store, clock: Clock
) -> None:
    campaign = sweep(store)
    (late,) = campaign.ask("ann")
    clock.pass_seconds(601)
    (other,) = campaign.ask("bob")
    assert place(other.id) == place(late.id)
    receipt = campaign.tell(late.id, True)
    assert receipt.status is Received.LATE
    assert receipt.message.startswith("thank you")
    assert campaign.tell(other.id, False).ok
    assert campaign.tell(late.id, True).status is Received.LATE
    for action in (campaign.skip, campaign.release, campaign.renew):
        assert action(late.id).status is Received.LATE
    assert [row.worker for row in answers_of(campaign)] == ["bob"]


def test_reasons_are_kept_as_far_as_a_store_can(store: Store) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    assert campaign.skip(asked.id, "a\0b\ud800" + "x" * 10_000).ok


def test_an_answer_is_taken_back_until_its_step_closes(store: Store) -> None:
    campaign = sweep(store)
    asked = campaign.ask("ann", 5)
    for each in asked:
        campaign.tell(each.id, True)
    first = asked[0].id
    assert campaign.retract(first, "bob").status is Received.UNKNOWN
    undone = campaign.retract(first, "ann")
    assert undone.status is Received.ACCEPTED
    assert undone.lease is not None
    again = campaign.retract(first, "ann")
    assert (again.status, again.lease) == (Received.ALREADY, undone.lease)
    assert campaign.tell(first, True).status is Received.LATE
    assert Counter(states(campaign)) == {ANSWERED: 4, LEASED: 1, OPEN: 1}
    assert campaign.tell(undone.lease, False).ok
    assert answer_all(campaign, "ann", lambda _: False) == 1
    assert campaign.state == "ended"
    used = campaign.retract(asked[1].id, "ann")
    assert used.status is Received.LATE
    assert "has been used" in used.message
    kept = [(row.value, row.retracted) for row in answers_of(campaign) if row.slot == 0]
    assert sorted(kept) == [(0.0, False), (1.0, True)]


def undone(campaign: Campaign) -> tuple[str, str]:
    """The only slot's answer, taken back: its id, and the lease to answer again by."""
    (asked,) = campaign.ask("ann")
    assert campaign.tell(asked.id, True).ok
    again = campaign.retract(asked.id, "ann").lease
    assert again is not None
    return asked.id, again


@pytest.mark.parametrize("how", ["skip", "never", "release", "again"])
def test_after_an_undo_nobody_else_is_asked(store: Store, clock: Clock, how: str) -> None:
    """Whoever undoes has seen what was said: it must not decide who is asked instead."""
    campaign = sweep(store, rows=2, columns=1)
    told, again = undone(campaign)
    (other,) = campaign.ask("bob", 5)  # only the second slot is open
    assert place(other.id) != place(told)
    campaign.tell(other.id, False)
    if how == "skip":
        assert campaign.skip(again).ok
    elif how == "release":
        assert campaign.release(again).ok
    elif how == "again":
        second = campaign.tell(again, False)
        assert second.ok
    else:
        clock.pass_seconds(599)
        assert campaign.ask("cid", 5) == []
        clock.pass_seconds(2)
        assert campaign.ask("cid", 5) == []  # it stands, and that ends the campaign
        assert campaign.tell(again, False).status is Received.LATE
    assert campaign.state == "ended"
    counting = {row.id: row.value for row in answers_of(campaign) if not row.retracted}
    expected = {"skip": {}, "again": {again: 0.0}}.get(how, {told: 1.0})
    assert counting == {**expected, other.id: 0.0}
    assert examine_store(store.database).sound


def test_whoever_undoes_twice_and_leaves_has_said_the_last(store: Store, clock: Clock) -> None:
    campaign = sweep(store)
    _, again = undone(campaign)
    clock.pass_seconds(1)
    assert campaign.tell(again, False).ok
    assert campaign.retract(again, "ann").ok
    clock.pass_seconds(601)
    campaign.ask("bob")
    assert slot(campaign, 0).value == 0.0
    assert [row.id for row in answers_of(campaign) if not row.retracted] == [again]
    assert examine_store(store.database).sound


def test_once_closed_nothing_is_taken_back(store: Store) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    campaign.tell(asked.id, True)
    campaign.close()
    assert campaign.retract(asked.id, "ann").status is Received.CLOSED


def test_while_paused_nothing_is_handed_out_but_answers_are_taken(store: Store) -> None:
    campaign = sweep(store)
    asked = campaign.ask("ann", 2)
    campaign.pause()
    campaign.pause()
    assert campaign.state == "paused"
    assert campaign.ask("bob") == []
    assert campaign.tell(asked[0].id, True).ok
    campaign.resume()
    assert campaign.tell(asked[1].id, True).ok
    assert len(campaign.ask("bob", 10)) == 4


def test_a_step_may_close_while_paused(store: Store) -> None:
    campaign = frugal(store)
    asked = campaign.ask("ann", 1000)
    campaign.pause()
    for each in asked:
        assert campaign.tell(each.id, True).ok
    assert campaign.ask("ann") == []
    campaign.resume()
    assert place(campaign.ask("ann")[0].id)[0] == 1


def test_once_closed_answers_are_refused(store: Store) -> None:
    campaign = sweep(store)
    told, held = campaign.ask("ann", 2)
    campaign.tell(told.id, True)
    campaign.close()
    assert campaign.ask("bob") == []
    assert campaign.tell(told.id, True).status is Received.ALREADY
    for receipt in (
        campaign.tell(held.id, True),
        campaign.skip(held.id),
        campaign.release(held.id),
        campaign.renew(held.id),
    ):
        assert receipt.status is Received.CLOSED
    assert len(answers_of(campaign)) == 1
    assert campaign.state == "closed"
