import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import answers
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange.exporting import long_rows
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item
from askfew.campaigns.steps.log import open_step
from askfew.campaigns.steps.reuse import fill_step
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from campaign_tools import answers_of, items, questions, sweep
from small_campaigns import ITEMS, QUESTIONS, answer, small_campaign, small_settings, truth

pytestmark = pytest.mark.on_sqlite


def reusing(store: Store, old: str = "small", **changes: object) -> Campaign:
    return store.create(small_settings("new", **changes), ITEMS, QUESTIONS, reuse=old)


def values(campaign: Campaign) -> Counter[tuple[str, str, str, float]]:
    """Of all answers, those of an open step included."""
    names = ([item.id for item in campaign.items], [each.id for each in campaign.questions])
    return Counter(
        (names[0][row.item], names[1][row.question], row.worker, row.value)
        for row in answers_of(campaign)
        if not row.retracted
    )


def test_the_same_campaign_again_costs_nothing(store: Store) -> None:
    old = small_campaign(store)
    answer(old, 10**6)
    new = reusing(store)
    assert new.state == "ended"
    assert new.outcome() == old.outcome()
    assert values(new) == values(old)
    status = status_of(new)
    assert status.cost == 0
    assert {worker.name for worker in status.workers} == {"ann", "bob"}
    assert examine_store(store.database).sound


def test_only_what_is_missing_is_asked(store: Store) -> None:
    old = small_campaign(store)
    spent = answer(old, 10**6)
    new = reusing(store, delta=1e-4)
    taken = status_of(new).answers
    assert 0 < taken <= spent
    asked = answer(new, 10**6, seed=1)
    assert new.state == "ended"
    rows = long_rows(new)
    assert sum(row[5] == 0 for row in rows) + asked == len(rows)
    assert status_of(new).cost == asked * 0.5
    assert Counter(row[:4] for row in rows if row[5] == 0) <= values(old)
    assert examine_store(store.database).sound


def test_each_cell_is_consumed_in_the_order_of_steps_and_slots(store: Store) -> None:
    """Whatever was answered first: those who take longer may well say something else."""
    old, rng = small_campaign(store), np.random.default_rng(7)
    while asked := old.ask("ann", 50):
        for each in reversed(asked):
            old.tell(each.id, truth(each.item.id, each.question.id, rng))
    new = reusing(store, delta=1e-4, seed=8)
    answer(new, 10**6, seed=1)

    def by_cell(campaign: Campaign, *, only_reused: bool) -> dict[tuple[int, int], list[Any]]:
        cells: dict[tuple[int, int], list[Any]] = {}
        with store.database.read() as connection:
            order = (answers.c.step, answers.c.slot)
            for row in connection.execute(
                select(answers).where(answers.c.campaign == campaign.id).order_by(*order)
            ):
                if row.id.endswith("-reused") or not only_reused:
                    told = (row.worker, row.value, row.raw, row.seconds, row.time)
                    cells.setdefault((row.item, row.question), []).append(told)
        return cells

    had = by_cell(old, only_reused=False)
    used = by_cell(new, only_reused=True)
    assert any(len({each[1] for each in told}) > 1 for told in used.values())
    for cell, told in used.items():
        assert told == had[cell][: len(told)]


def test_it_is_deterministic(store: Store, tmp_path: Path) -> None:
    answer(small_campaign(store), 60)
    first = reusing(store, seed=8)
    second = store.create(small_settings("again", seed=8), ITEMS, QUESTIONS, reuse="small")
    assert long_rows(first) == long_rows(second)
    assert status_of(first).open == status_of(second).open


def test_a_worker_is_not_reused_too_often(store: Store) -> None:
    answer(small_campaign(store), 10**6)
    new = reusing(store, answers_per_worker_and_cell=1)
    often = Counter((item, question, worker) for item, question, worker, _ in values(new))
    assert often
    assert max(often.values()) == 1
    assert status_of(new).open  # ann and bob have one answer each, and the method wants more
    # Reused answers count: ann cannot answer these cells once more.
    told = {(item, question) for item, question, worker, _ in values(new) if worker == "ann"}
    asked = new.ask("ann", 100)
    assert not told & {(each.item.id, each.question.id) for each in asked}
    assert examine_store(store.database).sound


def test_items_are_matched_by_their_ids(store: Store) -> None:
    answer(small_campaign(store), 10**6)
    swapped = (*reversed(ITEMS), Item("stranger"))
    new = store.create(small_settings("new"), swapped, QUESTIONS, reuse="small")
    old_values = values(store.campaign("small"))
    assert values(new)
    assert values(new) <= old_values


def test_answers_taken_back_are_not_reused(store: Store) -> None:
    old = sweep(store, name="small")
    first, *others = old.ask("ann", 6)
    old.tell(first.id, 0)
    again = old.retract(first.id, "ann").lease
    assert again is not None
    for lease in (again, *(each.id for each in others)):
        old.tell(lease, 1)
    new = store.create(small_settings("new"), items(3), questions(2), reuse="small")
    assert {row.value for row in answers_of(new)} == {1.0}


def test_an_open_step_is_not_reused(store: Store) -> None:
    """What has come so far is what was said quickly."""
    old = small_campaign(store)
    answer(old, 4)
    assert values(reusing(store)) == Counter()


def test_another_kind_of_answers_is_refused(store: Store) -> None:
    small_campaign(store)
    with pytest.raises(InvalidInput, match="same kind of answers"):
        reusing(store, answers={"scale": [1, 5]})
    with pytest.raises(InvalidInput, match="in the same store"):
        reusing(store, old="nobody")
    assert store.names() == ["small"]


def test_a_crash_while_a_step_opens_leaves_nothing_behind(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(small_campaign(store), 10**6)
    expected = long_rows(reusing(store))

    def dying(function: Callable[..., Any], time: int) -> Callable[..., Any]:
        """The function, killed after it has done its work for the time-th time."""
        calls = itertools.count(1)

        def wrapped(*arguments: object) -> Any:
            result = function(*arguments)
            if next(calls) == time:
                raise KeyboardInterrupt
            return result

        return wrapped

    with monkeypatch.context() as patch:
        patch.setattr("askfew.campaigns.store.fill_step", dying(fill_step, 1))
        with pytest.raises(KeyboardInterrupt):
            store.create(small_settings("dead"), ITEMS, QUESTIONS, reuse="small")
    assert store.names() == ["small", "new"]
    with monkeypatch.context() as patch:
        patch.setattr("askfew.campaigns.steps.advance.open_step", dying(open_step, 2))
        with pytest.raises(KeyboardInterrupt):
            store.create(small_settings("dead"), ITEMS, QUESTIONS, reuse="small")
    assert store.names() == ["small", "new"]
    assert examine_store(store.database).sound
    again = store.create(small_settings("dead"), ITEMS, QUESTIONS, reuse="small")
    assert again.state == "ended"
    assert long_rows(again) == expected


def test_without_reuse_nothing_is_filled(store: Store) -> None:
    answer(small_campaign(store), 20)
    assert status_of(small_campaign(store, "fresh")).answers == 0


def test_on_postgresql(fresh_database: str) -> None:
    store = Store(fresh_database)
    answer(small_campaign(store), 10**6)
    assert reusing(store).state == "ended"
    assert status_of(store.campaign("new")).cost == 0
    assert examine_store(store.database).sound
    store.close()
