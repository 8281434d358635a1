"""Tokens, cookies, CSRF: who is let in, and as whom."""

from http.cookies import SimpleCookie
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select
from starlette.responses import Response
from starlette.testclient import TestClient

from askfew.campaigns.db.schema import invitations, owner_token, sessions
from askfew.campaigns.store import Store
from askfew.web import pages
from askfew.web.access.invitations import invite, new_link
from askfew.web.access.tokens import SESSION_SECONDS, first_token, hash_of, reset_token
from askfew.web.app import create_app
from askfew.web.problems import Refused
from campaign_tools import Clock, sweep
from web_site import API, Site, document

HERE = f"{API}/sweep"
ANYBODY: Any = type("Anybody", (), {"client": None, "headers": {}, "cookies": {}})()


def test_the_owner_token_is_made_once_and_kept_as_a_hash(store: Store) -> None:
    token = first_token(store)
    assert token is not None
    assert len(token) >= 43
    assert first_token(store) is None
    with store.database.read() as connection:
        assert connection.execute(select(owner_token.c.hash)).scalars().all() == [hash_of(token)]


def test_a_reset_ends_the_old_token_and_its_sessions(site: Site) -> None:
    browser, _ = site.browser(site.owner_token)
    assert browser.get(API).status_code == 200
    new = reset_token(site.store)
    document(browser.get(API), 401)
    document(site.owner.get(API), 401)
    document(site.bearer(new).get(API))


def test_no_token_is_kept_in_the_store(site: Site) -> None:
    token = new_link(sweep(site.store), "ann")
    browser, csrf = site.browser(token)
    secrets = {token, site.owner_token, csrf, *browser.cookies.values()}
    with site.store.database.read() as connection:
        for table in (owner_token, invitations, sessions):
            for row in connection.execute(select(table)):
                assert secrets.isdisjoint(map(str, row))


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic b3duZXI6",
        "bearer \xe9",
        "Bearer " + "a" * 9999,
    ],
)
def test_forged_tokens_are_refused(site: Site, header: str) -> None:
    came = site.nobody.get(API, headers={b"Authorization": header.encode("latin-1")})
    document(came, 401)
    assert came.headers["www-authenticate"] == "Bearer"


def test_the_scheme_is_written_in_any_case(site: Site) -> None:
    document(site.nobody.get(API, headers={"Authorization": f"bearer {site.owner_token}"}))


def test_the_cookie_is_for_http_only_and_for_this_site(store: Store) -> None:
    for secure in (False, True):
        site = Site(store, secure=secure)
        session = site.app.state.authenticator.enter(ANYBODY, site.owner_token)
        response = Response()
        session.set_on(response)
        (cookie,) = SimpleCookie(response.headers["set-cookie"]).values()
        assert cookie["httponly"]
        assert cookie["samesite"] == "lax"
        assert bool(cookie["secure"]) is secure
        assert cookie.key.startswith("__Host-") is secure
        assert (cookie["path"], cookie["domain"]) == ("/", "")


def test_a_link_leads_the_owner_to_a_campaign_and_a_worker_to_the_questions(site: Site) -> None:
    invited = new_link(sweep(site.store, name="our birds"), "ann")
    for token, there in (
        (site.owner_token, "/"),
        (f"{site.owner_token}?watch=our%20birds", "/campaigns/our%20birds"),
        (f"{site.owner_token}?watch=//example.org", "/campaigns/%2F%2Fexample.org"),
        (f"{invited}?watch=our%20birds", "/answer/our%20birds"),
    ):
        came = site.nobody.get(f"/i/{token}", follow_redirects=False)
        assert (came.status_code, came.headers["location"]) == (303, there)


def test_a_change_by_a_browser_needs_what_its_page_knows(site: Site) -> None:
    sweep(site.store)
    browser, csrf = site.browser(site.owner_token)
    other = site.browser(site.owner_token)[1]
    for wrong in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "x"}, {"X-CSRF-Token": other}):
        document(browser.post(f"{HERE}/pause", headers=wrong), 403)
    document(browser.post(f"{HERE}/pause", data={"csrf": other}), 403)
    assert site.store.campaign("sweep").state == "running"
    document(browser.post(f"{HERE}/pause", headers={"X-CSRF-Token": csrf}))
    document(browser.post(f"{HERE}/resume", data={"csrf": csrf}))
    document(browser.post(f"{HERE}/pause", files={"csrf": (None, csrf)}))
    document(browser.get(f"{HERE}/status"))


def changes(app: FastAPI) -> set[tuple[str, str]]:
    """All routes that change something, pages' too: methods and paths."""
    of_pages = FastAPI()
    of_pages.include_router(pages.router)
    paths = app.openapi()["paths"] | of_pages.openapi()["paths"]
    return {(method, path) for path, known in paths.items() for method in known} - {
        ("get", path) for path in paths
    }


def test_no_route_changes_anything_for_a_browser_without_what_its_page_knows(site: Site) -> None:
    sweep(site.store)
    browser, _ = site.browser(site.owner_token)
    tried = changes(site.app)
    assert {("post", "/new"), ("post", "/logout"), ("post", "/campaigns/{name}/close")} <= tried
    doors = {("post", "/login"), ("post", "/join/{token}")}  # there the token itself is sent
    for method, path in tried - doors:
        where = path.replace("{name}", "sweep").replace("{worker}", "ann")
        assert browser.request(method, where, json={}).status_code == 403, (method, path)


def test_a_browser_may_be_the_owner_and_a_worker_at_once(site: Site) -> None:
    campaign, other = sweep(site.store), sweep(site.store, name="other")
    browser, owners = site.browser(site.owner_token)
    worker, anns = site.browser(new_link(campaign, "ann"))
    browser.cookies.update(worker.cookies)
    document(browser.post(f"{API}/other/ask", json={}, headers={"X-CSRF-Token": anns}), 403)
    assert invite(other, "ann") is None  # the link she has opens it, too
    assert document(browser.get(HERE))["worker"] == "ann"
    for name in ("sweep", "other"):
        asked = browser.post(f"{API}/{name}/ask", json={}, headers={"X-CSRF-Token": anns})
        assert document(asked)["questions"]
    assert document(browser.post(f"{HERE}/pause", headers={"X-CSRF-Token": owners}))
    document(browser.post(f"{HERE}/ask", json={}, headers={"X-CSRF-Token": "x"}), 403)
    # As the owner, by what the owner's page knows.
    named = browser.post(f"{HERE}/ask", json={"worker": "bob"}, headers={"X-CSRF-Token": owners})
    assert document(named)["state"] == "paused"


def test_a_session_runs_out(site: Site, clock: Clock) -> None:
    browser, _ = site.browser(site.owner_token)
    clock.pass_seconds(SESSION_SECONDS - 1)
    document(browser.get(API))
    clock.pass_seconds(2)
    document(browser.get(API), 401)
    site.browser(site.owner_token)
    with site.store.database.read() as connection:
        assert len(connection.execute(select(sessions)).all()) == 1


def test_a_session_ends_with_its_invitation(site: Site) -> None:
    campaign = sweep(site.store)
    browser, _ = site.browser(new_link(campaign, "ann"))
    document(browser.get(HERE))
    site.owner.delete(f"{HERE}/invitations/ann")
    document(browser.get(HERE), 403)


def test_leaving_ends_the_session(site: Site) -> None:
    browser, _ = site.browser(site.owner_token)
    request: Any = type("Browser", (), {"cookies": dict(browser.cookies)})()
    response = Response()
    site.app.state.authenticator.leave(request, response)
    assert "Max-Age=0" in response.headers["set-cookie"]
    document(browser.get(API), 401)


def test_entering_with_a_wrong_token_is_refused(site: Site) -> None:
    with pytest.raises(Refused) as refused:
        site.app.state.authenticator.enter(ANYBODY, "wrong")
    assert refused.value.status_code == 401


LOGINS: list[tuple[dict[str, str], int]] = [
    ({}, 303),  # no browser
    ({"Origin": "http://testserver"}, 303),
    ({"Origin": "https://TESTSERVER"}, 303),  # a proxy with TLS in front
    ({"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}, 303),
    ({"Sec-Fetch-Site": "none"}, 303),
    ({"Origin": "http://inner", "Sec-Fetch-Site": "same-origin"}, 303),  # a proxy's Host
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "http://testserver.evil.example"}, 403),
    ({"Origin": "http://testserver:8080"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": ""}, 403),
    ({"Origin": "http://["}, 403),
    ({"Origin": "http://[", "Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403),
    ({"Referer": "http://testserver/login"}, 303),
    ({"Referer": "https://evil.example/testserver"}, 403),
    ({"Referer": "http://testserver@evil.example/"}, 403),
    ({"Referer": ""}, 403),
    ({"Origin": "http://testserver", "Referer": "https://evil.example/"}, 303),
]


def test_no_other_site_logs_a_browser_in(site: Site) -> None:
    token = {"token": site.owner_token}
    for headers, status in LOGINS:
        browser = TestClient(site.app)
        came = browser.post("/login", data=token, headers=headers, follow_redirects=False)
        assert came.status_code == status, headers
        assert ("set-cookie" in came.headers) == (status == 303)


def test_a_stranger_on_a_page_is_led_to_the_login(site: Site) -> None:
    from askfew.web.access.dependencies import Owner

    @site.app.get("/for-the-owner")
    def page(_: Owner) -> str:
        return "welcome"

    came = site.nobody.get("/for-the-owner", follow_redirects=False)
    assert (came.status_code, came.headers["location"]) == (303, "/login")
    part = site.nobody.get("/for-the-owner", headers={"HX-Request": "true"})
    assert (part.status_code, part.headers["hx-redirect"]) == (401, "/login")
    assert site.owner.get("/for-the-owner").text == '"welcome"'


def test_who_is_invited_finds_their_own_list_and_not_the_owners_login(site: Site) -> None:
    browser, _ = site.browser(new_link(sweep(site.store), "ann"))
    came = browser.get("/", follow_redirects=False)
    assert (came.status_code, came.headers["location"]) == (303, "/mine")
    assert "Hello, ann" in browser.get("/").text
    assert 'href="/mine"' in browser.get("/answer/sweep").text
    assert site.nobody.get("/", follow_redirects=False).headers["location"] == "/login"
    browser.cookies.update(site.browser(site.owner_token)[0].cookies)  # the owner, too
    assert "Campaigns" in browser.get("/", follow_redirects=False).text


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
