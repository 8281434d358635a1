"""Who gets which question, on both stores."""

from collections import Counter
from itertools import pairwise

import pytest
from sqlalchemy import insert, select, update

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import slots, workers
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from campaign_tools import (
    Clock,
    answer_all,
    answers_of,
    fixed_answer,
    frugal,
    items,
    place,
    questions,
    slot,
    states,
    sweep,
)

OPEN, LEASED, ANSWERED, EMPTY = SlotState


def make_references(campaign: Campaign, numbers: list[int]) -> None:
    """As if the items of these slots had their labels already."""
    with campaign.database.write() as connection:
        connection.execute(
            update(slots)
            .where(slots.c.campaign == campaign.id, slots.c.number.in_(numbers))
            .values(reference=True)
        )


def test_items_come_round_in_turn(store: Store) -> None:
    campaign = sweep(store, rows=4, columns=2, each=2)
    asked = campaign.ask("ann", 8)
    assert [each.item.id for each in asked[:4]] == ["i0", "i1", "i2", "i3"]
    assert len({(each.item.id, each.question.id) for each in asked}) == 8


def test_the_question_stays_for_a_run_of_items_while_others_are_at_other_questions(
    store: Store,
) -> None:
    campaign = sweep(store, rows=10, columns=4)
    asked = {name: [campaign.ask(name)[0] for _ in range(9)] for name in ("ann", "bob", "cid")}
    for name, got in asked.items():
        assert len({each.item.id for each in got}) == 9, name  # nobody meets an item twice
        changes = sum(a.question.id != b.question.id for a, b in pairwise(got))
        assert changes <= 1, name
    assert len({got[-1].question.id for got in asked.values()}) == 3


def test_a_worker_goes_on_where_they_were_in_another_process(store: Store) -> None:
    campaign = sweep(store, rows=10, columns=4)
    campaign.ask("ann")
    first = [campaign.ask("bob")[0].question.id for _ in range(3)]
    other = store.campaign("sweep")
    assert [other.ask("bob")[0].question.id for _ in range(3)] == first


def test_questions_about_one_item_come_together_where_that_is_asked_for(store: Store) -> None:
    campaign = sweep(store, rows=100, columns=4, each=2)
    asked = campaign.ask("ann", 30, per_item=3)
    assert Counter(Counter(each.item.id for each in asked).values()) == {3: 10}
    assert len({(each.item.id, each.question.id) for each in asked}) == 30
    rest = campaign.ask("ann", 1000, per_item=4)
    assert Counter(each.item.id for each in rest).most_common(1)[0][1] == 4
    cells = [(each.item.id, each.question.id) for each in [*asked, *rest]]
    assert len(set(cells)) == len(cells)  # answers_per_worker_and_cell is 1


def test_nobody_gets_a_cell_more_often_than_allowed(store: Store) -> None:
    campaign = sweep(store, rows=3, columns=2, each=3)
    assert answer_all(campaign, "ann", n=1) == 6
    assert answer_all(campaign, "bob", n=100) == 6
    assert campaign.ask("ann") == campaign.ask("bob") == []
    assert Counter(states(campaign)) == {ANSWERED: 12, OPEN: 6}


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_the_limit_holds_within_one_request_too(store: Store, n: int) -> None:
    campaign = sweep(store, rows=2, columns=2, each=5, answers_per_worker_and_cell=3)
    got = []
    while asked := campaign.ask("ann", n):
        got += asked
    assert Counter((each.item.id, each.question.id) for each in got) == {
        (item, question): 3 for item in ("i0", "i1") for question in ("q0", "q1")
    }


def test_the_limit_holds_across_steps(store: Store) -> None:
    settings = Settings("steps", method="paper", delta=0.1, max_answers=10**6)
    campaign = store.create(settings, items(4), questions(1))
    for worker in ("w" + str(number) for number in range(20)):
        answer_all(campaign, worker)
    told = Counter((row.worker, row.item, row.question) for row in answers_of(campaign))
    assert {row.step for row in answers_of(campaign)} >= {0, 1}
    assert max(told.values()) == 1


def test_a_plate_of_96_is_handed_out_at_once(store: Store) -> None:
    campaign = sweep(store, rows=40, columns=3)
    plate = campaign.ask("robot", 96)
    assert len({each.id for each in plate}) == 96
    assert Counter(states(campaign)) == {LEASED: 96, OPEN: 24}
    assert len(campaign.ask("robot", 96)) == 24


def test_a_robot_may_fill_a_plate_with_repeats(store: Store) -> None:
    campaign = sweep(store, rows=2, columns=2, each=24, answers_per_worker_and_cell=1000)
    assert len(campaign.ask("robot", 96)) == 96


def test_new_items_come_first_then_others(store: Store) -> None:
    campaign = sweep(store, rows=3, columns=3, answers_per_worker_and_cell=10)
    first = [campaign.ask("ann")[0].item.id for _ in range(3)]
    assert sorted(first) == ["i0", "i1", "i2"]
    assert len(campaign.ask("ann", 100)) == 6


def test_a_worker_keeps_to_references_or_to_the_others_while_there_are_some(store: Store) -> None:
    campaign = sweep(store, rows=6, columns=1)
    make_references(campaign, [1, 3, 5])
    assert [place(campaign.ask("ann")[0].id)[1] for _ in range(3)] == [0, 2, 4]
    assert [place(campaign.ask("bob")[0].id)[1] for _ in range(2)] == [1, 3]
    # Nothing of ann's kind is left, and ann may have the rest.
    assert place(campaign.ask("ann")[0].id)[1] == 5


def test_a_request_for_many_keeps_to_one_kind_first(store: Store) -> None:
    campaign = sweep(store, rows=6, columns=1)
    make_references(campaign, [1, 3, 5])
    assert [place(each.id)[1] for each in campaign.ask("ann", 4)] == [0, 2, 4, 1]


def test_who_refused_a_slot_never_gets_it_again(store: Store) -> None:
    campaign = sweep(store, rows=2, columns=1)
    (asked,) = campaign.ask("ann")
    campaign.skip(asked.id)
    assert [place(each.id)[1] for each in campaign.ask("ann", 10)] == [1]
    assert campaign.ask("ann", 10) == []
    assert [place(each.id)[1] for each in campaign.ask("bob", 10)] == [0]


def test_a_released_question_may_come_back_to_the_same_worker(store: Store) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    assert campaign.release(asked.id).ok
    (again,) = campaign.ask("ann")
    assert place(again.id) == place(asked.id)
    assert again.id != asked.id


def test_a_lease_that_ran_out_goes_to_someone_else(store: Store, clock: Clock) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    assert asked.expires == clock() + 600
    clock.pass_seconds(600)
    assert place(campaign.ask("bob")[0].id) != place(asked.id)
    clock.pass_seconds(1)
    assert place(campaign.ask("cid")[0].id) == place(asked.id)


def test_a_renewed_lease_lasts_longer(store: Store, clock: Clock) -> None:
    campaign = sweep(store)
    (asked,) = campaign.ask("ann")
    clock.pass_seconds(500)
    assert campaign.renew(asked.id).ok
    clock.pass_seconds(500)
    assert place(asked.id) not in {place(each.id) for each in campaign.ask("bob", 100)}


def test_who_is_late_cannot_answer_one_cell_twice_that_way(store: Store, clock: Clock) -> None:
    campaign = sweep(store, rows=2, columns=1, each=2)
    late = campaign.ask("ann", 2)
    clock.pass_seconds(601)
    again = campaign.ask("ann", 100)
    for each in late + again:
        campaign.tell(each.id, True)
    told = Counter((row.worker, row.item) for row in answers_of(campaign))
    assert max(told.values()) == 1


def test_revoking_takes_the_leases_and_no_answer(store: Store) -> None:
    """An owner who could take out answers of the open step would choose the data."""
    campaign = sweep(store)
    first, second = campaign.ask("ann", 2)
    assert campaign.tell(first.id, True).ok
    campaign.revoke("ann")
    with pytest.raises(InvalidInput, match="'ann', who was revoked"):
        campaign.ask("ann")
    assert campaign.tell(second.id, True).status == "late"
    assert Counter(states(campaign)) == {ANSWERED: 1, OPEN: 5}
    assert [row.retracted for row in answers_of(campaign)] == [False]
    assert answer_all(campaign, "bob") == 5
    assert campaign.state == "ended"


def test_who_is_revoked_in_the_middle_of_an_undo_has_said_what_they_said(store: Store) -> None:
    campaign = sweep(store, rows=2, columns=1)
    one, two = campaign.ask("ann", 2)
    campaign.tell(one.id, True)
    campaign.retract(one.id, "ann")
    campaign.tell(two.id, True)
    assert campaign.state == "running"
    campaign.revoke("ann")
    assert campaign.state == "ended"  # the step was waiting for nothing else
    assert [(row.id, row.retracted) for row in answers_of(campaign)] == [
        (one.id, False),
        (two.id, False),
    ]


def test_what_a_revoked_worker_said_in_closed_steps_stays(store: Store) -> None:
    campaign = sweep(store)
    answer_all(campaign, "ann")
    campaign.revoke("ann")
    assert set(states(campaign)) == {ANSWERED}
    assert not any(row.retracted for row in answers_of(campaign))


def test_with_workers_enough_nobody_answers_twice_about_an_item_but_about_several(
    store: Store,
) -> None:
    """What docs/campaigns.md says of who stands in one item's evidence."""
    campaign = frugal(store, rows=12, columns=1, answers_per_worker_and_cell=1)
    for number in range(2000):
        for each in campaign.ask(f"w{number // 4}", 3):
            campaign.tell(each.id, fixed_answer(each))
        if campaign.state != "running":
            break
    told = answers_of(campaign)
    assert max(Counter((row.worker, row.item) for row in told).values()) == 1
    with store.database.read() as connection:
        asked = connection.execute(select(slots.c.step, slots.c.worker)).all()
    assert max(Counter((row.step, row.worker) for row in asked).values()) > 1


def test_somebody_may_be_revoked_before_they_come(store: Store) -> None:
    campaign = sweep(store)
    campaign.revoke("eve")
    with pytest.raises(InvalidInput, match="who was revoked"):
        campaign.ask("eve")


@pytest.mark.parametrize("name", ["", "x" * 201, "a\0b", "line\nbreak", 7, None])
def test_a_worker_needs_a_name_that_can_be_kept(store: Store, name: str) -> None:
    with pytest.raises(InvalidInput, match="a worker's name must have"):
        sweep(store).ask(name)


@pytest.mark.parametrize("n", [0, -1, 1001, 1.5])
def test_too_many_or_too_few_at_once_are_refused(store: Store, n: int) -> None:
    with pytest.raises(InvalidInput, match="n must be"):
        sweep(store).ask("ann", n)


def test_slots_that_nobody_may_take_are_closed_after_a_while(store: Store, clock: Clock) -> None:
    campaign = sweep(store, rows=3, columns=1, each=2)
    assert answer_all(campaign, "ann") == 3
    clock.pass_seconds(3599)
    assert campaign.ask("ann") == []
    assert campaign.state == "running"
    clock.pass_seconds(1)
    assert campaign.ask("ann") == []
    assert Counter(states(campaign)) == {ANSWERED: 3, EMPTY: 3}
    assert campaign.state == "ended"


def test_slots_wait_for_an_admitted_worker_however_long(store: Store, clock: Clock) -> None:
    campaign = sweep(store, rows=3, columns=1, each=2)
    (asked,) = campaign.ask("bob")
    campaign.release(asked.id)
    assert answer_all(campaign, "ann") == 3
    clock.pass_seconds(10**6)
    assert campaign.ask("ann") == []
    assert Counter(states(campaign)) == {ANSWERED: 3, OPEN: 3}
    campaign.revoke("bob")
    campaign._advancer._look_again = 0.0
    assert campaign.ask("ann") == []
    assert campaign.state == "ended"


def test_closing_never_looks_at_values(store: Store, clock: Clock) -> None:
    """The same slots close, whatever was answered."""
    closed = []
    for name, answer in (("yes", True), ("no", False)):
        campaign = sweep(store, rows=3, columns=1, each=2, name=name)
        answer_all(campaign, "ann", lambda _, answer=answer: answer)  # type: ignore[misc]
        clock.pass_seconds(3601)
        campaign.ask("ann")
        closed.append(states(campaign))
    assert closed[0] == closed[1]


def test_the_same_worker_may_be_admitted_twice(store: Store) -> None:
    """As when two of their requests come first at once."""
    campaign = sweep(store)
    with campaign.database.write() as connection:
        connection.execute(
            insert(workers).values(campaign=campaign.id, name="ann", joined=1.0, seen=1.0)
        )
    assert campaign.ask("ann")
    assert slot(campaign, 0).worker == "ann"
