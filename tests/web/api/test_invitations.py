"""Invitations by HTTP: made, listed, revoked."""

from concurrent.futures import ThreadPoolExecutor

from askfew.web.access.invitations import invite
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


def test_inviting_again_replaces_the_link(site: Site) -> None:
    campaign = sweep(site.store)
    first, second = site.worker(campaign), site.worker(campaign)
    document(first.get(HERE), 401)
    document(second.get(HERE))


def test_of_invitations_made_at_once_the_last_one_is_good(site: Site) -> None:
    campaign = sweep(site.store)
    with ThreadPoolExecutor(4) as pool:
        tokens = list(pool.map(lambda _: invite(campaign, "ann"), range(80)))[-12:]
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
