"""Input that means harm: it is refused, or kept as the data it is, and breaks nothing."""

import asyncio
import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.records import Item
from askfew.web import security
from askfew.web.access.invitations import new_link
from campaign_tools import answers_of, questions, sweep
from pictures import PIXEL
from small_campaigns import small_settings
from web_site import API, Site, document

HERE = f"{API}/sweep"
SCRIPT = "<script>alert(1)</script>"
NASTY = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE answers; --",
    "1 OR 1=1",
    "${7*7}{{7*7}}",
    "../../../../etc/passwd",
    "%00",
    "a\0b",
    "\u202e\u0007\x1b[31m",
    "\ud800",
    "9" * 5000,
]


@pytest.fixture
def campaign(site: Site) -> Campaign:
    return sweep(site.store)


@pytest.fixture
def worker(site: Site, campaign: Campaign) -> TestClient:
    return site.worker(campaign)


def post(client: TestClient, path: str, body: object) -> Any:
    """JSON as Python writes it: half characters are escaped, NaN is bare."""
    headers = {"Content-Type": "application/json"}
    return client.post(path, content=json.dumps(body), headers=headers)


def test_script_in_every_text_of_a_campaign_is_data(site: Site) -> None:
    body = {
        "settings": {"name": "hostile", "guidelines": SCRIPT},
        "items": [{"id": f"{SCRIPT}{number}", "text": SCRIPT} for number in range(4)],
        "questions": [{"id": f"{SCRIPT}{number}", "text": SCRIPT} for number in range(3)],
    }
    about = site.owner.post(API, json=body)
    assert document(about, 201)["guidelines"] == SCRIPT
    assert about.headers["content-type"] == "application/json"
    campaign = site.store.campaign("hostile")
    worker = site.worker(campaign, SCRIPT)
    (asked,) = document(worker.post(f"{API}/hostile/ask", json={}))["questions"]
    assert asked["item"]["text"] == SCRIPT
    told = {"id": asked["id"], "answer": SCRIPT}
    assert document(worker.post(f"{API}/hostile/tell", json=told))["status"] == "invalid"
    skipped = {"id": asked["id"], "reason": SCRIPT}
    assert document(worker.post(f"{API}/hostile/skip", json=skipped))["ok"]
    report = site.owner.get(f"{API}/hostile/export?format=report").text
    assert SCRIPT not in report
    assert "&lt;script&gt;" in report


@pytest.mark.parametrize("nasty", NASTY, ids=range(len(NASTY)))
def test_every_text_field_bears_every_nasty_text(
    site: Site, campaign: Campaign, worker: TestClient, nasty: str
) -> None:
    lease = document(worker.post(f"{HERE}/ask", json={}))["questions"][0]["id"]
    for client, path, body in (
        (worker, "tell", {"id": nasty, "answer": 1}),
        (worker, "tell", {"id": lease, "answer": nasty}),
        (worker, "skip", {"id": nasty, "reason": nasty}),
        (worker, "release", {"id": nasty}),
        (worker, "renew", {"id": nasty}),
        (worker, "retract", {"id": nasty}),
        (site.owner, "ask", {"worker": nasty}),
        (site.owner, "retract", {"id": lease, "worker": nasty}),
        (site.owner, "invitations", {"worker": nasty}),
        (worker, "tell", {"id": lease, "answer": 1, nasty: nasty}),
        (worker, "skip", {"id": lease, "reason": nasty}),
    ):
        came = post(client, f"{HERE}/{path}", body)
        assert came.status_code in (200, 201, 422), (path, came.text)
        if came.status_code == 422:
            document(came, 422)
    for query in ("export", "result"):
        document(site.owner.get(f"{HERE}/{query}", params={"format": _sendable(nasty)}), 422)
    assert answers_of(campaign) == []
    assert site.store.names() == ["sweep"]


def _sendable(text: str) -> str:
    return text.encode(errors="replace").decode()


WRONG: list[object] = [None, True, 1, 1.5, "x", [], {}, [1], {"a": 1}, float("nan"), float("inf")]


def test_wrong_types_are_refused(site: Site, campaign: Campaign, worker: TestClient) -> None:
    lease = document(worker.post(f"{HERE}/ask", json={}))["questions"][0]["id"]
    for path, field, right in (
        ("tell", "id", str),
        ("tell", "answer", (bool, int, float, str)),
        ("tell", "seconds", (int, float, type(None))),
        ("tell", "cost", (int, float, type(None))),
        ("skip", "reason", str),
        ("ask", "n", int),
        ("ask", "worker", (str, type(None))),
    ):
        for wrong in WRONG:
            fits = isinstance(wrong, right) and (field == "answer" or not isinstance(wrong, bool))
            if fits and wrong == wrong and wrong != float("inf"):
                continue
            body = {"id": lease, "answer": 1} if path == "tell" else {"id": lease}
            body = {} if path == "ask" else body
            came = post(worker, f"{HERE}/{path}", {**body, field: wrong})
            document(came, 422)
    assert answers_of(campaign) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b"{}",
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"id":' * 8_000,
        b'{"id": "x", "answer": ' + b"9" * 20_000 + b"}",
        b'{"id": "x", "answer": 1e999}',
    ],
    ids=range(11),
)
def test_what_is_no_proper_json_is_refused(worker: TestClient, content: bytes) -> None:
    came = worker.post(
        f"{HERE}/tell", content=content, headers={"Content-Type": "application/json"}
    )
    assert came.status_code in (400, 422)
    document(came, came.status_code)


def test_forms_and_plain_texts_are_no_json(worker: TestClient) -> None:
    document(worker.post(f"{HERE}/tell", data={"id": "x", "answer": "1"}), 422)
    plain = {"Content-Type": "text/plain"}  # what a form of another site can send
    document(worker.post(f"{HERE}/tell", content='{"id":"x","answer":1}', headers=plain), 422)


def test_answers_that_are_none_are_a_status(campaign: Campaign, worker: TestClient) -> None:
    lease = document(worker.post(f"{HERE}/ask", json={}))["questions"][0]["id"]
    for answer in (2, -1, 0.5, "", "perhaps", "nan", "1e999", 10**30):
        receipt = document(worker.post(f"{HERE}/tell", json={"id": lease, "answer": answer}))
        assert (receipt["status"], receipt["ok"]) == ("invalid", False)
    assert answers_of(campaign) == []


def test_pictures_are_those_of_the_campaign_and_nothing_else(site: Site) -> None:
    shown = [Item("a", "", PIXEL), Item("b")]
    site.store.create(small_settings("pictures"), shown, questions(2))
    other = sweep(site.store)
    digest = site.store.campaign("pictures").items[0].image
    assert site.owner.get(f"{API}/pictures/images/{digest}").content == PIXEL
    document(site.worker(other).get(f"{API}/pictures/images/{digest}"), 403)
    document(site.worker(other).get(f"{HERE}/images/{digest}"), 404)
    for path in (
        "../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e%2f%2e%2e",
        "%00",
        f"{digest}%00",
        f"{digest}'--",
        "x" * 64,
        f"{digest}".upper(),
    ):
        document(site.owner.get(f"{API}/pictures/images/{path}"), 404)
    for path in ("..%2fapp.py", "../app.py", "%2e%2e/app.py", "..%5capp.py", "/etc/passwd", "%00"):
        assert site.nobody.get(f"/static/{path}").status_code == 404


def test_bodies_are_limited_whatever_they_say_of_their_length(
    site: Site, worker: TestClient
) -> None:
    body = json.dumps({"id": "x", "answer": 1, "pad": "x" * security.SMALL}).encode()
    headers = {"Content-Type": "application/json"}
    document(worker.post(f"{HERE}/tell", content=body, headers=headers), 413)
    token = worker.headers["authorization"]
    assert endless(site, f"{HERE}/tell", token) == (413, 65)
    # Strangers do not get to send an upload; nor do workers.
    assert endless(site, API, "Bearer wrong") == (401, 65)
    assert endless(site, API, token) == (403, 65)


def endless(site: Site, path: str, token: str) -> tuple[int, int]:
    """Send thousands of bytes until somebody stops reading: the status, and how many they were."""
    sent, came = 0, []
    headers = {"authorization": token, "content-type": "application/json"}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "http_version": "1.1",
        "scheme": "http",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> dict[str, Any]:
        nonlocal sent
        sent += 1
        assert sent < 1000, "nobody stops reading"
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    async def send(message: Any) -> None:
        came.append(message)

    asyncio.run(site.app(scope, receive, send))
    return came[0]["status"], sent


def test_the_owner_may_send_uploads_up_to_a_limit(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security, "LARGE", 300_000)
    body: dict[str, Any] = {"settings": {"name": "long"}, "questions": [{"id": "q", "text": "?"}]}
    body["items"] = [{"id": f"{number}", "text": "x" * 9_000} for number in range(20)]
    document(site.owner.post(API, json=body), 201)
    body["items"] *= 2
    document(site.owner.post(API, json=body), 413)
    document(site.owner.post(f"{API}/long/ask", json={"worker": "x" * 100_000}), 413)


def test_a_lease_of_another_campaign_is_unknown(site: Site, campaign: Campaign) -> None:
    other = sweep(site.store, name="other")
    lease = other.ask("ann")[0].id
    for client in (site.worker(campaign), site.owner):
        told = document(client.post(f"{HERE}/tell", json={"id": lease, "answer": 1}))
        assert told["status"] == "unknown"
    assert answers_of(other) == []


def test_cookies_that_are_forged_are_refused(site: Site, campaign: Campaign) -> None:
    browser, csrf = site.browser(new_link(campaign, "ann"))
    (name,) = browser.cookies.keys()
    value = browser.cookies[name]
    for forged in ("", "x", value[:-1], value + "x", value.swapcase()):
        stranger = TestClient(site.app, cookies={name: forged, "askfew_owner": value})
        # A worker's session is no session of the owner's, whatever the cookie is called.
        document(stranger.get(API), 403)
        came = stranger.post(f"{HERE}/ask", json={}, headers={"X-CSRF-Token": "x"})
        assert came.status_code in (401, 403)
    document(browser.post(f"{HERE}/ask", json={}, headers={"X-CSRF-Token": csrf}))
