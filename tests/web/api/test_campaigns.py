"""Campaigns by HTTP: listed, created, looked at."""

import base64
import copy
from typing import Any

import pytest

from askfew.campaigns.settings import Settings
from campaign_tools import frugal, sweep
from pictures import PIXEL
from web_site import API, Site, document

BIRDS: dict[str, Any] = {
    "settings": {"name": "birds", "delta": 0.1, "answers": {"scale": [1, 5]}, "price": 0.5},
    "items": [{"id": f"i{number}", "text": f"Bird {number}"} for number in range(5)],
    "questions": [{"id": "q0", "text": "Does it swim?"}, {"id": "q1", "text": "Is it large?"}],
}


def changed(path: str, value: object) -> dict[str, Any]:
    """BIRDS with one thing changed, such as ``items.0.id``."""
    body: Any = copy.deepcopy(BIRDS)
    *before, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = body
    for part in before:
        place = place[part]
    place[last] = value
    return dict(body)


def test_a_campaign_is_created_listed_and_looked_at(site: Site) -> None:
    about = document(site.owner.post(API, json=BIRDS), 201)
    assert about == {
        "name": "birds",
        "state": "running",
        "answers": {"scale": [1.0, 5.0]},
        "guidelines": "",
        "items": 5,
        "questions": 2,
        "question_ids": [each["id"] for each in BIRDS["questions"]],
        "groups": 2,
        "price": 0.5,
        "lease_seconds": 600.0,
        "answers_per_worker_and_cell": 1,
        "worker": None,
        "warnings": [],
    }
    assert document(site.owner.get(f"{API}/birds")) == about
    assert document(site.owner.get(API)) == {
        "campaigns": [{"name": "birds", "state": "running", "answers": 0, "max_answers": 10_000}]
    }
    assert site.store.campaign("birds").settings == Settings.from_dict(BIRDS["settings"])


def test_a_name_is_used_once(site: Site) -> None:
    document(site.owner.post(API, json=BIRDS), 201)
    assert "must be new" in document(site.owner.post(API, json=BIRDS), 422)["detail"]


def test_pictures_come_as_base64_and_leave_as_bytes(site: Site) -> None:
    picture = base64.b64encode(PIXEL).decode()
    document(site.owner.post(API, json=changed("items.0.image", picture)), 201)
    campaign = site.store.campaign("birds")
    digest = campaign.items[0].image
    worker = site.worker(campaign)
    came = worker.get(f"{API}/birds/images/{digest}")
    assert came.content == PIXEL
    assert came.headers["content-type"] == "image/png"
    assert "immutable" in came.headers["cache-control"]


def test_a_campaign_may_begin_with_the_answers_of_another(site: Site) -> None:
    old = sweep(site.store, answers={"scale": [1, 5]})
    asked = old.ask("ann")[0]
    old.tell(asked.id, 3)
    document(site.owner.post(API, json={**BIRDS, "reuse": "sweep"}), 201)
    document(site.owner.post(API, json={**changed("settings.name", "b"), "reuse": "no"}), 422)
    document(site.owner.post(API, json={**changed("settings.name", "b"), "reuse": "\0"}), 422)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("settings.name", ""),
        ("settings.name", "../birds"),
        ("settings.name", "a\0b"),
        ("settings.delta", 1.5),
        ("settings.delta", "0.1"),
        ("settings.answers", {"scale": [5, 1]}),
        ("settings.answers", {"scale": [1, 2, 3]}),
        ("settings.answers", "maybe"),
        ("settings.max_answers", 0),
        ("settings.max_answers", 10**30),
        ("settings.unknown", 1),
        ("settings.method", "magic"),
        ("settings.options", {"unknown": 1}),
        ("settings.guidelines", "\0"),
        ("settings.guidelines", "a" * 10_001),
        ("items", []),
        ("items", [{"id": "only one"}]),
        ("items", "two"),
        ("items.0.id", ""),
        ("items.0.id", "i1"),
        ("items.0.id", "two\nlines"),
        ("items.0.id", "a\0b"),
        ("items.0.text", "a\0b"),
        ("items.0.text", None),
        ("items.0.image", "not base64!"),
        ("items.0.image", base64.b64encode(b"<svg onload=alert(1)>").decode()),
        ("items.0.image", "é"),
        ("items.0.image", ""),
        ("items.0.path", "/etc/passwd"),
        ("questions", []),
        ("questions.0.text", ""),
        ("questions.0.id", "q1"),
    ],
)
def test_what_cannot_be_a_campaign_is_refused_and_leaves_nothing(
    site: Site, path: str, value: object
) -> None:
    document(site.owner.post(API, json=changed(path, value)), 422)
    assert site.store.names() == []


def test_a_campaign_that_is_not_there_is_not_found(site: Site) -> None:
    frugal(site.store)
    for name in ("none", "frugal%20", "%00", "..%2f..", "a" * 300, "%F0%9F%90%A6", "%ff"):
        document(site.owner.get(f"{API}/{name}"), 404)
    document(site.owner.get("/api/v1/nothing"), 404)
    assert "Allow" in site.owner.put(API).headers


def test_names_beyond_ascii_are_found(site: Site) -> None:
    document(site.owner.post(API, json=changed("settings.name", "Vögel 2")), 201)
    assert document(site.owner.get(f"{API}/Vögel 2"))["name"] == "Vögel 2"
    assert document(site.owner.get(f"{API}/Vo\u0308gel 2"))["name"] == "Vögel 2"
