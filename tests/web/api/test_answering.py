"""What workers do by HTTP."""

import pytest

from askfew.campaigns.campaign import Campaign
from campaign_tools import Clock, answer_all, answers_of, sweep
from web_site import API, Site, document

HERE = f"{API}/sweep"


@pytest.fixture
def campaign(site: Site) -> Campaign:
    return sweep(site.store, lease_seconds=60)


def test_a_worker_asks_and_tells(site: Site, campaign: Campaign) -> None:
    worker = site.worker(campaign)
    asked = document(worker.post(f"{HERE}/ask", json={"n": 2}))
    assert asked["state"] == "running"
    first, second = asked["questions"]
    assert first["item"] == {"id": "i0", "text": "", "image": None}
    assert first["question"] == {"id": "q0", "text": "?"}
    assert first["expires"] == site.store.clock() + 60
    told = {"id": first["id"], "answer": "yes", "seconds": 1.5}
    receipt = document(worker.post(f"{HERE}/tell", json=told))
    assert receipt == {"status": "accepted", "ok": True, "message": "thank you"}
    (kept,) = answers_of(campaign)
    assert (kept.worker, kept.value, kept.seconds, kept.cost) == ("ann", 1.0, 1.5, 0.0)
    assert document(worker.post(f"{HERE}/tell", json={"id": second["id"], "answer": False}))["ok"]


def test_only_the_owner_says_what_an_answer_cost(site: Site) -> None:
    campaign = sweep(site.store, price=0.5)
    worker = site.worker(campaign)
    first, second = document(worker.post(f"{HERE}/ask", json={"n": 2}))["questions"]
    for cost in (0, 0.25, 1e12):
        told = {"id": first["id"], "answer": "yes", "cost": cost}
        problem = document(worker.post(f"{HERE}/tell", json=told), 403)
        assert problem["detail"] == "only the owner says what an answer cost: leave out 'cost'"
    assert answers_of(campaign) == []
    told = {"id": first["id"], "answer": "yes", "cost": None}
    assert document(worker.post(f"{HERE}/tell", json=told))["ok"]
    told = {"id": second["id"], "answer": "yes", "cost": 0.25}
    assert document(site.owner.post(f"{HERE}/tell", json=told))["ok"]
    assert [row.cost for row in answers_of(campaign)] == [0.5, 0.25]


@pytest.mark.parametrize("what", ["ask", "tell", "skip", "release", "renew", "retract"])
@pytest.mark.parametrize("content", [b"{", b"[]", b'{"no": "such key"}'])
def test_a_stranger_is_told_nothing_else(
    site: Site, campaign: Campaign, what: str, content: bytes
) -> None:
    for name in ("sweep", "no such campaign"):
        came = site.nobody.post(f"{API}/{name}/{what}", content=content)
        document(came, 401)
    other = site.worker(sweep(site.store, name="other"))
    document(other.post(f"{HERE}/{what}", content=content), 403)
    document(site.owner.post(f"{HERE}/{what}", content=content), 422)
    missing = site.owner.post(f"{API}/no such campaign/{what}", content=b"{}")
    assert missing.status_code in (404, 422)


def test_telling_again_counts_once_and_is_acknowledged_again(
    site: Site, campaign: Campaign
) -> None:
    worker = site.worker(campaign)
    (asked,) = document(worker.post(f"{HERE}/ask", json={}))["questions"]
    for _ in range(3):
        told = document(worker.post(f"{HERE}/tell", json={"id": asked["id"], "answer": 1}))
        assert told["ok"]
    assert told["status"] == "already"
    assert len(answers_of(campaign)) == 1


def test_skip_release_renew_and_retract(site: Site, campaign: Campaign, clock: Clock) -> None:
    worker = site.worker(campaign)
    asked = document(worker.post(f"{HERE}/ask", json={"n": 3}))["questions"]
    one, two, three = (each["id"] for each in asked)
    skip = {"id": one, "reason": "I cannot see it"}
    assert document(worker.post(f"{HERE}/skip", json=skip))["message"] == "skipped"
    assert document(worker.post(f"{HERE}/release", json={"id": two}))["message"] == "released"
    clock.pass_seconds(50)
    assert document(worker.post(f"{HERE}/renew", json={"id": three}))["message"] == "renewed"
    clock.pass_seconds(50)
    assert document(worker.post(f"{HERE}/tell", json={"id": three, "answer": 0}))["ok"]
    taken = document(worker.post(f"{HERE}/retract", json={"id": three}))
    again, _ = taken.pop("lease"), taken.pop("seconds")
    assert taken == {"status": "accepted", "ok": True, "message": "taken back"}
    assert [row.retracted for row in answers_of(campaign)] == [True]
    assert document(worker.post(f"{HERE}/retract", json={"id": three}))["lease"] == again
    assert document(worker.post(f"{HERE}/tell", json={"id": again, "answer": 1}))["ok"]
    assert sorted((row.value, row.retracted) for row in answers_of(campaign)) == [
        (0.0, True),
        (1.0, False),
    ]


def test_what_does_not_count_is_a_status_and_no_error(
    site: Site, campaign: Campaign, clock: Clock
) -> None:
    ann, bob = site.worker(campaign), site.worker(campaign, "bob")
    asked = document(ann.post(f"{HERE}/ask", json={"n": 6}))["questions"]
    lease = asked[0]["id"]
    assert (
        document(ann.post(f"{HERE}/tell", json={"id": lease, "answer": 7}))["status"] == "invalid"
    )
    assert document(ann.post(f"{HERE}/tell", json={"id": "x", "answer": 1}))["status"] == "unknown"
    clock.pass_seconds(100)
    again = document(bob.post(f"{HERE}/ask", json={"n": 6}))["questions"]
    assert len(again) == 6
    late = document(ann.post(f"{HERE}/tell", json={"id": lease, "answer": 1}))
    assert (late["status"], late["ok"]) == ("late", False)


def test_the_state_says_why_there_is_nothing_to_answer(site: Site, campaign: Campaign) -> None:
    worker = site.worker(campaign)

    def state() -> object:
        asked = document(worker.post(f"{HERE}/ask", json={}))
        assert asked["questions"] == []
        return asked["state"]

    campaign.pause()
    assert state() == "paused"
    campaign.resume()
    answer_all(campaign, answer=lambda asked: asked.item.id == "i0")
    assert state() == "ended"


def test_a_worker_touches_only_their_own_leases(site: Site, campaign: Campaign) -> None:
    ann, bob = site.worker(campaign), site.worker(campaign, "bob")
    lease = document(ann.post(f"{HERE}/ask", json={}))["questions"][0]["id"]
    for what, more in (
        ("tell", {"answer": 1}),
        ("skip", {"reason": "mine"}),
        ("release", {}),
        ("renew", {}),
        ("retract", {}),
    ):
        receipt = document(bob.post(f"{HERE}/{what}", json={"id": lease, **more}))
        assert (receipt["status"], receipt["ok"]) == ("unknown", False)
    assert document(ann.post(f"{HERE}/tell", json={"id": lease, "answer": 1}))["ok"]
    for what, more in (("tell", {"answer": 1}), ("retract", {})):
        receipt = document(bob.post(f"{HERE}/{what}", json={"id": lease, **more}))
        assert receipt["status"] == "unknown"
    assert [row.retracted for row in answers_of(campaign)] == [False]


def test_a_worker_acts_for_nobody_else(site: Site, campaign: Campaign) -> None:
    worker = site.worker(campaign)
    document(worker.post(f"{HERE}/ask", json={"worker": "ann"}))
    document(worker.post(f"{HERE}/ask", json={"worker": "bob"}), 403)
    document(worker.post(f"{HERE}/retract", json={"id": "x", "worker": "bob"}), 403)


def test_the_owner_acts_for_a_worker_by_naming_them(site: Site, campaign: Campaign) -> None:
    document(site.owner.post(f"{HERE}/ask", json={}), 422)
    asked = document(site.owner.post(f"{HERE}/ask", json={"worker": "ann"}))
    lease = asked["questions"][0]["id"]
    assert document(site.owner.post(f"{HERE}/tell", json={"id": lease, "answer": 1}))["ok"]
    assert answers_of(campaign)[0].worker == "ann"
    bobs = document(site.owner.post(f"{HERE}/retract", json={"id": lease, "worker": "bob"}))
    assert bobs["status"] == "unknown"
    assert document(site.owner.post(f"{HERE}/retract", json={"id": lease, "worker": "ann"}))["ok"]


def test_a_revoked_worker_is_refused(site: Site, campaign: Campaign) -> None:
    worker = site.worker(campaign)
    lease = document(worker.post(f"{HERE}/ask", json={}))["questions"][0]["id"]
    assert site.owner.delete(f"{HERE}/invitations/ann").status_code == 204
    document(worker.post(f"{HERE}/ask", json={}), 403)
    document(worker.post(f"{HERE}/tell", json={"id": lease, "answer": 1}), 403)
    # The owner cannot bring them back by the side door either.
    document(site.owner.post(f"{HERE}/ask", json={"worker": "ann"}), 403)
    assert answers_of(campaign) == []
