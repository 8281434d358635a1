"""Whoever sends wrong tokens is told to slow down; nobody else is."""

from starlette.testclient import TestClient

from askfew.web.access.invitations import new_link
from askfew.web.app import create_app
from campaign_tools import Clock, sweep
from web_site import API, Site, document


def guess(site: Site, count: int = 20) -> None:
    for number in range(count):
        document(site.bearer(f"guess {number}").get(API), 401)


def test_after_twenty_wrong_tokens_others_must_wait(site: Site, clock: Clock) -> None:
    guess(site)
    came = site.bearer("one more").get(API)
    document(came, 429)
    assert came.headers["retry-after"] == "60"
    clock.pass_seconds(61)
    document(site.bearer("one more").get(API), 401)


def test_a_right_token_is_let_in_whatever_else_comes_from_its_address(site: Site) -> None:
    campaign = sweep(site.store)
    guess(site)
    document(site.bearer("one more").get(API), 429)
    document(site.owner.get(API))
    document(site.worker(campaign).get(f"{API}/sweep"))
    browser, _ = site.browser(site.owner_token)
    document(browser.get(API))
    came = site.nobody.post("/login", data={"token": site.owner_token}, follow_redirects=False)
    assert came.status_code == 303
    link = site.nobody.get(f"/i/{new_link(campaign, 'bob')}", follow_redirects=False)
    assert link.status_code == 303


def test_a_server_that_is_started_again_lets_in_who_has_a_token_and_counts_anew(site: Site) -> None:
    guess(site)
    again = create_app(site.store)
    header = {"Authorization": f"Bearer {site.owner_token}"}
    wrong = TestClient(again, headers={"Authorization": "Bearer one more"})
    document(wrong.get(API), 401)
    for number in range(19):
        stranger = TestClient(again, headers={"Authorization": f"Bearer guess {number}"})
        document(stranger.get(API), 401)
    document(TestClient(again, headers={"Authorization": "Bearer another"}).get(API), 429)
    document(TestClient(again, headers=header).get(API))


def test_the_same_wrong_token_again_is_one_guess(site: Site) -> None:
    for _ in range(50):
        document(site.bearer("left over").get(API), 401)
    document(site.owner.get(API))


def test_no_token_is_no_guess(site: Site) -> None:
    for _ in range(50):
        document(site.nobody.get(API), 401)
    document(site.owner.get(API))
