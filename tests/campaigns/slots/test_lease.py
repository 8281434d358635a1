"""A lease is as long as the worker's own pace suggests."""

import pytest

from askfew.campaigns.slots.lease import SHORTEST, Paces
from askfew.campaigns.store import Store
from campaign_tools import Clock, sweep


def told(paces: Paces, worker: str, seconds: float, times: int = 20) -> None:
    for _ in range(times):
        paces.told(worker, 0.0, seconds)


def test_it_is_a_multiple_of_their_pace_between_thirty_seconds_and_the_setting() -> None:
    paces = Paces(600.0)
    told(paces, "quick", 1.0)
    told(paces, "slow", 20.0)
    told(paces, "slowest", 1000.0)
    assert paces.lease("quick") == SHORTEST == 30
    assert paces.lease("slow") == pytest.approx(120)
    assert paces.lease("slow", 3) == pytest.approx(360)
    assert paces.lease("slowest") == 600
    assert Paces(5.0).lease("anybody") == 5


def test_a_newcomer_has_longer_than_the_others() -> None:
    paces = Paces(600.0)
    assert paces.lease("new") == 600
    told(paces, "ann", 10.0)
    assert paces.lease("new") == pytest.approx(120)
    assert paces.lease("ann") == pytest.approx(60)


def test_who_tells_all_at_the_end_is_not_taken_for_quick() -> None:
    paces = Paces(600.0)
    paces.handed("robot", 0.0, 50)
    for _ in range(50):
        paces.told("robot", 60.0, None)
    assert paces.lease("robot", 50) == pytest.approx(360)


def test_who_leaves_holds_nobody_up_for_long(tmp_path: object) -> None:
    """They shut the lid: what they hold is somebody else's half a minute later."""
    clock = Clock()
    store = Store(f"sqlite:///{tmp_path}/store.db", clock=clock)
    campaign = sweep(store, rows=8, columns=1)
    for _ in range(3):
        (asked,) = campaign.ask("ann")
        assert asked.seconds == asked.expires - clock() > 0
        clock.pass_seconds(5)
        assert campaign.tell(asked.id, 1, seconds=5.0).ok
    (left,) = campaign.ask("ann")
    assert left.seconds == SHORTEST
    clock.pass_seconds(1)
    renewed = campaign.renew(left.id)
    assert renewed.seconds == SHORTEST
    assert len(campaign.ask("bob", 20)) == 4
    clock.pass_seconds(SHORTEST + 1)
    assert [each.item.id for each in campaign.ask("bob", 20)] == [left.item.id]
    store.close()
