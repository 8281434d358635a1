"""The contract of a storage of campaigns, for any database.

It is not among the names of ``askfew.testing``, because it needs the extra ``campaigns``.
"""

from __future__ import annotations

from collections.abc import Callable

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.campaigns import finish, names
from askfew.campaigns.db.queries.slots import slots_by_state
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.intake import Received
from askfew.campaigns.slots.lease import slot_part
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store

__all__ = ["OpenStore", "check_storage"]

OpenStore = Callable[[Callable[[], float]], Store]
"""Opens the same database every time, with the given clock."""

_ITEMS = [Item(f"i{number}") for number in range(4)]
_QUESTIONS = [Question("q0", "Is it?"), Question("q1", "Does it?")]
_LEASE_SECONDS = 60.0


class _Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def check_storage(open_store: OpenStore) -> None:
    """Check an empty storage with two stores on one database, as two processes would have.

    What one store commits the other must see, and a failed transaction must leave nothing. A slot
    belongs to one worker at a time, its answer counts once, and a lease that ran out goes to
    somebody else. A snapshot does not change. If two stores close a step, it is closed once. A
    campaign that is opened again goes on.
    """
    clock = _Clock()
    here, there = open_store(clock), open_store(clock)
    try:
        _check_visibility(here, there)
        _check_leases(here, there, clock)
        _check_steps(here, there)
    finally:
        here.close()
        there.close()
    _check_reopened(open_store(clock))


def _create(store: Store, name: str) -> Campaign:
    """A campaign of one step that asks every cell once."""
    budget = len(_ITEMS) * len(_QUESTIONS)
    settings = Settings(
        name=name,
        method="spectral",
        options={"budget": budget},
        max_answers=budget,
        lease_seconds=_LEASE_SECONDS,
    )
    return store.create(settings, _ITEMS, _QUESTIONS)


def _check_visibility(here: Store, there: Store) -> None:
    with there.database.snapshot() as connection:
        before = names(connection)
        _create(here, "visible")
        assert names(connection) == before, "a snapshot must not move"
    assert "visible" in there.names(), "what one store commits, another must see"
    shown = there.campaign("visible")
    assert [item.id for item in shown.items] == [item.id for item in _ITEMS], "items must be kept"
    try:
        with here.database.write() as connection:
            finish(connection, shown.id, "closed", None, None)
            raise _Interrupted
    except _Interrupted:
        pass
    assert shown.state == "running", "a transaction that fails must leave nothing"


class _Interrupted(Exception):
    """Ends a transaction."""


def _check_leases(here: Store, there: Store, clock: _Clock) -> None:
    _create(here, "leases")
    one, other = here.campaign("leases"), there.campaign("leases")
    (mine,), (theirs,) = one.ask("ann"), other.ask("bob")
    assert mine.id != theirs.id, "a slot must be one worker's at a time"
    assert one.tell(mine.id, True).status is Received.ACCEPTED, "an answer must be taken"
    assert other.tell(mine.id, True).status is Received.ALREADY, "an answer must count once"
    clock.now += _LEASE_SECONDS + 1
    again = {slot_part(asked.id) for asked in one.ask("cid", 100)}
    assert slot_part(theirs.id) in again, "a lease that ran out must go to somebody else"
    assert other.tell(theirs.id, True).status is Received.LATE, "who is late must hear of it"
    undone = other.retract(mine.id, "ann")
    assert undone.status is Received.ACCEPTED, "an answer may be taken back while its step is open"
    assert one.release(str(undone.lease)).ok, "what was taken back may be handed back"
    with there.database.read() as connection:
        states = slots_by_state(connection, one.id, 0)
    assert states.get(SlotState.ANSWERED) == 1, "and then its answer must stand"
    for worker in ("dan", "eve", "fay"):
        clock.now += _LEASE_SECONDS + 1
        for asked in one.ask(worker, 100):
            assert one.skip(asked.id).ok, "a skip must be taken"
    with there.database.read() as connection:
        states = slots_by_state(connection, one.id, 0)
    assert states.get(SlotState.OPEN, 0) == 0, "what three could not answer must not be asked again"


def _check_steps(here: Store, there: Store) -> None:
    _create(here, "steps")
    stores = (here.campaign("steps"), there.campaign("steps"))
    asked = stores[0].ask("ann", 100)
    for number, each in enumerate(asked):
        receipt = stores[number % 2].tell(each.id, number % 2 == 0)
        assert receipt.ok, f"either store must take an answer, got {receipt}"
    assert {campaign.state for campaign in stores} == {"ended"}, "the last answer closes the step"
    assert stores[0].outcome() == stores[1].outcome() is not None, "and one result is kept"


def _check_reopened(store: Store) -> None:
    try:
        found = examine_store(store.database)
        assert found.sound, f"a store must be sound: {found.to_dict()}"
        visible = store.campaign("visible")
        assert visible.ask("ann"), "what was written must go on when it is opened again"
    finally:
        store.close()
