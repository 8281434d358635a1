"""The life of a slot, transition by transition, on both stores."""

from collections.abc import Callable

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.handout import give_up_unanswerable
from askfew.campaigns.db.queries.slots import becomes, may
from askfew.campaigns.slots.handout import expire_leases
from askfew.campaigns.slots.lease import SHORTEST
from askfew.campaigns.slots.states import TRANSITIONS, SlotEvent, SlotState
from askfew.campaigns.store import Store
from campaign_tools import Clock, slot, sweep

OPEN, LEASED, ANSWERED, EMPTY = SlotState
Prepare = Callable[[Campaign, Clock], str]


def never_leased(campaign: Campaign, clock: Clock) -> str:
    return f"{campaign.id}-0-0-0123456789abcdef"


def leased(campaign: Campaign, clock: Clock) -> str:
    (asked,) = campaign.ask("ann")
    return asked.id


def run_out(campaign: Campaign, clock: Clock) -> str:
    lease = leased(campaign, clock)
    clock.pass_seconds(601)
    campaign.database.raw_transaction(lambda raw: expire_leases(raw, campaign.id, clock()))
    return lease


def answered(campaign: Campaign, clock: Clock) -> str:
    lease = leased(campaign, clock)
    assert campaign.tell(lease, True).ok
    return lease


def taken_back(campaign: Campaign, clock: Clock) -> str:
    again = campaign.retract(answered(campaign, clock), "ann").lease
    assert again is not None
    return again


def empty(campaign: Campaign, clock: Clock) -> str:
    lease = ""
    for worker in ("ann", "bob", "cid"):
        (asked,) = campaign.ask(worker)
        lease = asked.id
        campaign.skip(lease)
    return lease


def ask(campaign: Campaign, lease: str, clock: Clock) -> None:
    campaign.ask("zoe", 1000)


def tell(campaign: Campaign, lease: str, clock: Clock) -> None:
    campaign.tell(lease, False)


def skip(campaign: Campaign, lease: str, clock: Clock) -> None:
    campaign.skip(lease)


def release(campaign: Campaign, lease: str, clock: Clock) -> None:
    campaign.release(lease)


def renew(campaign: Campaign, lease: str, clock: Clock) -> None:
    campaign.renew(lease)


def retract(campaign: Campaign, lease: str, clock: Clock) -> None:
    campaign.retract(lease, "ann")


def let_time_pass(campaign: Campaign, lease: str, clock: Clock) -> None:
    clock.pass_seconds(601)
    campaign.database.raw_transaction(lambda raw: expire_leases(raw, campaign.id, clock()))


def give_up(campaign: Campaign, lease: str, clock: Clock) -> None:
    with campaign.database.write() as connection:
        give_up_unanswerable(connection, campaign.id, 0, per_cell=0)


EVENTS = {
    ask: {SlotEvent.LENT},
    tell: {SlotEvent.ANSWERED},
    skip: {SlotEvent.REFUSED, SlotEvent.EMPTIED},
    release: {SlotEvent.RETURNED, SlotEvent.STANDS},
    let_time_pass: {SlotEvent.RETURNED, SlotEvent.STANDS},
    renew: {SlotEvent.RENEWED},
    retract: {SlotEvent.RETRACTED},
    give_up: {SlotEvent.GIVEN_UP},
}
LIFE: dict[Prepare, tuple[SlotState, dict[Callable[..., None], SlotState]]] = {
    never_leased: (OPEN, {ask: LEASED, give_up: EMPTY}),
    leased: (LEASED, {tell: ANSWERED, skip: OPEN, release: OPEN, let_time_pass: OPEN}),
    run_out: (OPEN, {ask: LEASED, tell: ANSWERED, renew: LEASED, give_up: EMPTY}),
    answered: (ANSWERED, {retract: LEASED}),
    taken_back: (
        LEASED,
        {tell: ANSWERED, skip: EMPTY, release: ANSWERED, let_time_pass: ANSWERED},
    ),
    empty: (EMPTY, {}),
}
"""The state in which each leaves slot 0, and what changes it from there. All else does not."""


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
@pytest.mark.parametrize("before", LIFE, ids=lambda before: before.__name__)
def test_a_slot_goes_where_the_table_says_and_nowhere_else(
    store: Store, clock: Clock, before: Prepare, event: Callable[..., None]
) -> None:
    campaign = sweep(store)
    lease = before(campaign, clock)
    state, changes = LIFE[before]
    assert slot(campaign, 0).state == state
    event(campaign, lease, clock)
    after = SlotState(slot(campaign, 0).state)
    assert after == changes.get(event, state)
    if after != state:
        assert after in {
            leads_to
            for before_it, leads_to in (TRANSITIONS[each] for each in EVENTS[event])
            if state in before_it
        }


def test_the_third_skip_closes_a_slot_for_good(store: Store) -> None:
    campaign = sweep(store)
    for worker, state in (("ann", OPEN), ("bob", OPEN), ("cid", EMPTY)):
        (asked,) = campaign.ask(worker)
        assert campaign.skip(asked.id, "unclear").ok
        assert slot(campaign, 0).state == state
    assert slot(campaign, 0).failures == 3
    assert 0 not in {int(asked.id.split("-")[2]) for asked in campaign.ask("dan", 100)}


def test_a_late_skip_counts_as_a_skip(store: Store, clock: Clock) -> None:
    campaign = sweep(store)
    lease = run_out(campaign, clock)
    assert campaign.skip(lease).ok
    assert slot(campaign, 0).failures == 1
    assert slot(campaign, 0).worker is None


def test_every_event_of_the_table_is_among_those_tested() -> None:
    tested = {
        name
        for state, changes in LIFE.values()
        for event, after in changes.items()
        for name in EVENTS[event]
        if state in TRANSITIONS[name][0] and after == TRANSITIONS[name][1]
    }
    assert tested == set(SlotEvent) - {SlotEvent.VOIDED}  # test_impossible


def test_statements_take_their_states_from_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is what runs: where nothing may be answered, nothing is."""
    monkeypatch.setitem(TRANSITIONS, SlotEvent.ANSWERED, ((EMPTY,), EMPTY))
    text = str(may(SlotEvent.ANSWERED).compile(compile_kwargs={"literal_binds": True}))
    assert text == "slots.state = 3"
    assert becomes(SlotEvent.ANSWERED) == EMPTY


def test_what_a_slot_holds_fits_its_state(store: Store, clock: Clock) -> None:
    campaign = sweep(store)
    lease = leased(campaign, clock)
    row = slot(campaign, 0)
    assert (row.worker, row.lease, row.expires, row.value) == ("ann", lease, clock() + 600, None)
    campaign.tell(lease, True)
    row = slot(campaign, 0)
    assert (row.worker, row.lease, row.expires, row.value) == ("ann", lease, None, 1.0)
    again = campaign.retract(lease, "ann").lease
    row = slot(campaign, 0)
    assert (row.worker, row.lease, row.expires, row.value) == (
        "ann",
        again,
        clock() + SHORTEST,
        1.0,
    )
    clock.pass_seconds(601)
    campaign.database.raw_transaction(lambda raw: expire_leases(raw, campaign.id, clock()))
    row = slot(campaign, 0)
    assert (row.worker, row.lease, row.expires, row.value) == ("ann", lease, None, 1.0)
