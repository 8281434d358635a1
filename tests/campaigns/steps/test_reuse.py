import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange.exporting import long_rows
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item
from askfew.campaigns.steps.log import open_step
from askfew.campaigns.steps.reuse import fill_step, is_reused
from askfew.campaigns.store import Store
from askfew.campaigns.tables.schema import answers
from askfew.errors import InvalidInput
from small_campaigns import ITEMS, QUESTIONS, answer, small_campaign, small_settings


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path}/store.db")
    yield opened
    opened.close()


def reusing(store: Store, old: str = "small", **changes: object) -> Campaign:
    return store.create(small_settings("new", **changes), ITEMS, QUESTIONS, reuse=old)


def values(campaign: Campaign) -> Counter[tuple[str, str, str, float]]:
    return Counter(row[:4] for row in long_rows(campaign))


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


def test_each_cell_is_consumed_in_order_of_arrival(store: Store) -> None:
    old = small_campaign(store)
    answer(old, 10**6)
    new = reusing(store, delta=1e-4, seed=8)
    answer(new, 10**6, seed=1)

    def by_cell(campaign: Campaign, *, only_reused: bool) -> dict[tuple[int, int], list[object]]:
        cells: dict[tuple[int, int], list[object]] = {}
        with store.database.read() as connection:
            order = (
                (answers.c.step, answers.c.slot)
                if only_reused
                else (answers.c.time, answers.c.step, answers.c.slot)
            )
            for row in connection.execute(
                select(answers).where(answers.c.campaign == campaign.id).order_by(*order)
            ):
                if is_reused(row.id) or not only_reused:
                    told = (row.worker, row.value, row.raw, row.seconds, row.time)
                    cells.setdefault((row.item, row.question), []).append(told)
        return cells

    had = by_cell(old, only_reused=False)
    used = by_cell(new, only_reused=True)
    assert used
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
    often = Counter((item, question, worker) for item, question, worker, *_ in long_rows(new))
    assert often
    assert max(often.values()) == 1
    assert status_of(new).open  # ann and bob have one answer each, and the method wants more
    # Reused answers count: ann cannot answer these cells once more.
    told = {(item, question) for item, question, worker, *_ in long_rows(new) if worker == "ann"}
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
    old = small_campaign(store)
    asked = old.ask("ann", 2)
    for each in asked:
        old.tell(each.id, 1)
    old.retract(asked[0].id, "ann")
    new = reusing(store)
    assert [row[:4] for row in long_rows(new)] == [
        (asked[1].item.id, asked[1].question.id, "ann", 1.0)
    ]


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
        patch.setattr("askfew.campaigns.steps.log.fill_step", dying(fill_step, 1))
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
