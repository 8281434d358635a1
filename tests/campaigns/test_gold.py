"""Gold questions, flags and names of groups: seen by people, never by a method."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.queries.campaigns import get_campaign
from askfew.campaigns.db.queries.gold import gold_cost
from askfew.campaigns.db.queries.workers import flags_of
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange.moving import export_campaign, import_campaign
from askfew.campaigns.gold import gold_scores
from askfew.campaigns.naming import name_group, read_names
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import FLAGS, Item
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from campaign_tools import answers_of, questions

ANCHORS = {0: "even", 1: "odd", 2: "even", 3: "odd"}


def with_gold(store: Store, gold: float = 0.3) -> Campaign:
    items = [Item(f"i{n}", group=ANCHORS.get(n, "")) for n in range(12)]
    settings = {"name": "gold", "delta": 0.1, "seed": 3, "gold": gold, "price": 1.0}
    return store.create(
        Settings.from_dict({**settings, "answers_per_worker_and_cell": 10_000}), items, questions(5)
    )


def even(asked: Assignment) -> bool:
    return int(asked.item.id[1:]) % 2 == 0


def test_gold_answers_are_kept_apart_and_tell_who_answers_well(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'store.db'}")
    campaign = with_gold(store, gold=0.5)
    undone = False
    while campaign.state == "running":
        for worker in ("ann", "bob", "cora"):
            for asked in campaign.ask(worker, 2):
                gold = asked.id in {each.id for each in campaign.gold_held_by(worker)}
                contrary = worker == "cora" and gold  # everything but her evidence is wrong
                assert campaign.tell(asked.id, even(asked) != contrary).ok
                assert campaign.tell(asked.id, even(asked)).status == "already"
                if gold and worker == "ann" and not undone:
                    undone = True
                    again = campaign.retract(asked.id, "ann").lease
                    assert again is not None
                    assert campaign.tell(again, even(asked)).ok
    status = status_of(campaign)
    with store.database.read() as connection:
        scores = gold_scores(connection, campaign.id, campaign.gold_cells())
        paid = gold_cost(connection, campaign.id)
    asked_gold = sum(each.answers for each in scores.values())
    assert scores["ann"].share == scores["bob"].share == 1.0
    assert scores["cora"].share == 0.0
    # How many come is up to the system's randomness; each of the three had some.
    assert asked_gold == paid >= 3
    assert undone
    assert len(answers_of(campaign)) == status.answers
    assert status.cost == status.answers + asked_gold
    assert campaign.given_by("ann") > 0
    found = result_of(campaign)
    assert found.group_names == ("even", "odd") or found.group_names == ("odd", "even")
    assert all(
        found.group_names[each.group] == ("even", "odd")[int(each.item[1:]) % 2]
        for each in found.items
        if each.group is not None
    )
    _moved_with_flags_and_names(store, campaign, tmp_path)


def _moved_with_flags_and_names(store: Store, campaign: Campaign, tmp_path: Path) -> None:
    """All of it goes along when the campaign moves, and the doctor has nothing to say."""
    campaign.flag("ann", "i5", FLAGS[0])
    campaign.flag("ann", "i5", FLAGS[1])  # the newest reason counts
    for bad in (("i5", "I do not like it"), ("i99", FLAGS[0])):
        with pytest.raises(InvalidInput):
            campaign.flag("ann", *bad)
    own = result_of(campaign).group_names
    name_group(campaign, own, "even", "Owls")
    with pytest.raises(InvalidInput, match="different names"):
        name_group(campaign, own, "odd", "Owls")
    assert set(result_of(campaign).group_names) == {"Owls", "odd"}
    export_campaign(campaign, tmp_path / "gold.askfew")
    moved = import_campaign(store, tmp_path / "gold.askfew", "moved")
    assert result_of(moved).rows == result_of(campaign).rows
    with store.database.read() as connection:
        scores = [gold_scores(connection, each.id, each.gold_cells()) for each in (campaign, moved)]
        (only,) = flags_of(connection, moved.id)
    assert scores[0] == scores[1]
    assert (only.item, only.worker, only.reason) == (5, "ann", FLAGS[1])
    assert examine_store(store.database).sound


def test_gold_needs_anchors(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'store.db'}")
    settings = Settings.from_dict({"name": "gold", "gold": 0.1})
    with pytest.raises(InvalidInput, match="whose group is known"):
        store.create(settings, [Item("a"), Item("b"), Item("c")], questions(3))


def test_names_that_are_given_at_once_are_all_kept(store: Store, store_url: str) -> None:
    groups = tuple(str(n) for n in range(6))
    campaign = with_gold(store)
    together = Barrier(len(groups))

    def name(group: str) -> None:
        mine = Store(store_url)
        owned = mine.campaign("gold")
        together.wait()
        name_group(owned, groups, group, f"bird {group}")
        mine.close()

    with ThreadPoolExecutor(len(groups)) as threads:
        list(threads.map(name, groups))
    with store.database.read() as connection:
        names = read_names(get_campaign(connection, campaign.id).names)
    assert names == {group: f"bird {group}" for group in groups}
