"""Invitations by HTTP: made, listed, revoked."""

from concurrent.futures import ThreadPoolExecutor

from askfew.web.access.invitations import (
    close_open_link,
    invite,
    make_open_link,
    new_link,
    open_link_of,
)
from campaign_tools import Clock, sweep
from web_site import API, Site, document

HERE = f"{API}/sweep"


def test_an_invitation_lets_one_worker_into_one_campaign(site: Site) -> None:
    sweep(site.store)
    sweep(site.store, name="other")
    invited = document(site.owner.post(f"{HERE}/invitations", json={"worker": "ann"}), 201)
    assert invited["worker"] == "ann"
    assert invited["link"] == f"http://testserver/i/{invited['token']}"
    worker = site.bearer(invited["token"])
    assert document(worker.get(HERE))["worker"] == "ann"
    assert document(worker.post(f"{HERE}/ask", json={}))["questions"]
    for path in ("other", "none"):
        document(worker.get(f"{API}/{path}"), 403)
        document(worker.post(f"{API}/{path}/ask", json={}), 403)
        document(worker.post(f"{API}/{path}/tell", json={"id": "1-0-0-a", "answer": 1}), 403)


def test_the_list_shows_no_tokens(site: Site, clock: Clock) -> None:
    sweep(site.store)
    token = document(site.owner.post(f"{HERE}/invitations", json={"worker": "ann"}), 201)["token"]
    listed = site.owner.get(f"{HERE}/invitations")
    assert token not in listed.text
    (only,) = document(listed)["invitations"]
    assert (only["worker"], only["created"], only["revoked"]) == ("ann", clock(), False)


def test_whoever_is_invited_again_keeps_the_link_they_have(site: Site, clock: Clock) -> None:
    campaign, other = sweep(site.store), sweep(site.store, name="other")
    token = invite(campaign, "ann")
    assert token is not None
    worker = site.bearer(token)
    document(worker.get(f"{API}/other"), 403)
    clock.pass_seconds(80 * 24 * 3600)
    again = document(site.owner.post(f"{API}/other/invitations", json={"worker": "ann"}), 201)
    assert again == {"worker": "ann", "token": None, "link": None}
    clock.pass_seconds(80 * 24 * 3600)  # and it is good for longer
    for name in ("sweep", "other"):
        assert document(worker.get(f"{API}/{name}"))["worker"] == "ann"
    other.revoke("ann")
    anew = document(
        site.owner.post(f"{HERE}/invitations", json={"worker": "ann", "anew": True}), 201
    )
    document(worker.get(HERE), 401)  # said, and wanted
    document(site.bearer(anew["token"]).get(HERE))


def test_many_are_invited_at_once_or_nobody(site: Site) -> None:
    campaign = sweep(site.store)
    invite(campaign, "bob")
    many = f"{HERE}/invite-many"
    invited = document(site.owner.post(many, json={"workers": ["ann", "bob", "cora"]}), 201)
    assert [each["token"] is None for each in invited["invited"]] == [False, True, False]
    campaign.revoke("cora")
    document(site.owner.post(many, json={"workers": ["dan", "cora"]}), 422)
    listed = document(site.owner.get(f"{HERE}/invitations"))["invitations"]
    assert sorted(each["worker"] for each in listed) == ["ann", "bob", "cora"]


def test_an_open_link_lets_people_sign_up_until_it_is_full_or_closed(site: Site) -> None:
    campaign = sweep(site.store)
    new_link(campaign, "ann")
    there = f"/join/{make_open_link(campaign, 2)}"
    assert "Your name" in site.nobody.get(there).text

    def join(name: str) -> int:
        return site.nobody.post(there, data={"worker": name}).status_code

    assert [join(name) for name in ("ann", "owner", "", "bob", "bob", "cora", "dan")] == [
        *(422, 422, 422, 200, 422, 200),
        409,
    ]
    assert "As many people" in site.nobody.get(there).text
    assert document(site.nobody.get(HERE))["worker"] == "cora"  # who came last in this browser
    found = open_link_of(campaign)
    assert found is not None
    assert (found.most, found.signed_up) == (2, 2)
    close_open_link(campaign)
    assert site.nobody.get(there).status_code == 401
    document(site.nobody.get(HERE))  # who is in stays in


def test_of_invitations_made_at_once_the_last_one_is_good(site: Site) -> None:
    campaign = sweep(site.store)
    with ThreadPoolExecutor(4) as pool:
        tokens = list(pool.map(lambda _: new_link(campaign, "ann"), range(80)))
    good = [token for token in tokens if site.bearer(token).get(HERE).status_code == 200]
    assert len(good) == 1


def test_an_old_invitation_is_refused(site: Site, clock: Clock) -> None:
    worker = site.worker(sweep(site.store))
    clock.pass_seconds(89 * 24 * 3600)
    document(worker.get(HERE))
    clock.pass_seconds(2 * 24 * 3600)
    document(worker.get(HERE), 401)


def test_a_revoked_invitation_is_refused_and_cannot_be_renewed(site: Site) -> None:
    campaign = sweep(site.store)
    worker = site.worker(campaign, "ann/é?")
    assert site.owner.delete(f"{HERE}/invitations/ann%2Fé%3F").status_code == 204
    assert site.owner.delete(f"{HERE}/invitations/ann%2Fé%3F").status_code == 204
    document(worker.get(HERE), 403)
    assert document(site.owner.get(f"{HERE}/invitations"))["invitations"][0]["revoked"]
    again = site.owner.post(f"{HERE}/invitations", json={"worker": "ann/é?"})
    assert "another name" in document(again, 422)["detail"]


def test_workers_who_came_without_invitation_can_be_revoked_others_are_not_there(
    site: Site,
) -> None:
    sweep(site.store).ask("bob")
    assert site.owner.delete(f"{HERE}/invitations/bob").status_code == 204
    document(site.owner.delete(f"{HERE}/invitations/eve"), 404)
    document(site.owner.delete(f"{HERE}/invitations/%00"), 422)
