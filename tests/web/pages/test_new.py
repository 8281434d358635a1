"""The form of a new campaign: what it accepts, and the sentences for what it does not."""

import html
import json
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from askfew.campaigns.store import Store
from askfew.web.pages.new.draft import FormInput, read_draft
from pictures import PIXEL
from web_site import Site

ITEMS = b"id,text,image\na,first,\nb,second,pics/b.png\nc,third,\nd,fourth,\n"
TEXTS = {"name": "birds", "questions": "Does it swim?\n\n Does it fly? ", "answers": "yes-no"}


def test_a_table_with_pictures_and_typed_questions_make_a_draft() -> None:
    filled = FormInput({**TEXTS, "max_answers": "5,000"}, items=ITEMS, pictures=[("b.png", PIXEL)])
    draft, sentences = read_draft(filled)
    assert sentences == {}
    assert draft is not None
    assert [item.id for item in draft.items] == ["a", "b", "c", "d"]
    assert draft.items[1].image == PIXEL
    assert [(each.id, each.text) for each in draft.questions] == [
        ("q1", "Does it swim?"),
        ("q2", "Does it fly?"),
    ]
    assert draft.settings.max_answers == 5000
    assert draft.expected == {}


def test_pictures_alone_are_items_in_human_order() -> None:
    pictures = ["10.png", "folder/2.png", "x.png", "x.gif"]
    draft, _ = read_draft(FormInput(TEXTS, pictures=[(name, PIXEL) for name in pictures]))
    assert draft is not None
    assert [item.id for item in draft.items] == ["2", "10", "x.gif", "x.png"]


@pytest.mark.parametrize(
    ("texts", "items", "field", "words"),
    [
        ({"name": "../etc"}, ITEMS, "name", "name must be"),
        ({"price": "much"}, ITEMS, "price", "price must be a number"),
        ({"delta": "2"}, ITEMS, "delta", "the allowed error must lie strictly between 0 and 1"),
        ({"max_answers": "0"}, ITEMS, "max_answers", "the cap on answers must be a whole"),
        ({"answers": "scale", "low": "5", "high": "1"}, ITEMS, "answers", "answers must be"),
        ({"answers": "number", "sigma": "-1"}, ITEMS, "answers", "answers must be"),
        ({"gap": "wide"}, ITEMS, "gap", "a range must be a number"),
        ({"gap": "1.5"}, ITEMS, "gap", "a yes-no gap must lie between 0 and 1"),
        ({"share": "0.9"}, ITEMS, "share", "share must be at most 0.5"),
        ({"groups": "many"}, ITEMS, "groups", "groups must be a whole number"),
        ({"groups": "2, 7"}, ITEMS, "groups", "there cannot be more groups than the 4 items"),
        ({"error": "all"}, ITEMS, "error", 'error must be "any" or "share"'),
        ({"people": "0"}, ITEMS, "people", "people must be a whole number"),
        ({"method": "frugal", "error": "share"}, ITEMS, "error", "error is a setting of another"),
        ({"tolerance": "0.1"}, ITEMS, "tolerance", "tolerance is a setting of another"),
        ({"tolerance": "-1"}, ITEMS, "tolerance", "tolerance must be a number of at least 0"),
        ({"per_cell": "0"}, ITEMS, "per_cell", "answers per cell must be a whole number"),
        ({"lease_seconds": "0"}, ITEMS, "lease_seconds", "at most 31,622,400, got 0.0: write for"),
        (
            {},
            b"id,text,group\na,,x\nb,,x\nc,,\nd,,\n",
            "items",
            "anchors must show at least two groups",
        ),
        ({"useful": "3"}, ITEMS, "useful", "useful questions must be whole numbers from 1 to"),
        ({"questions": "a\0b"}, ITEMS, "questions", "question 1: a text must have"),
        (
            {"questions": "Why?\n" + "x" * 10_001},
            ITEMS,
            "questions",
            "question 2: a text must have",
        ),
        ({"reuse": "a\0b"}, ITEMS, "reuse", "name must be"),
        ({"known": "a owls"}, ITEMS, "known", "a known item must be written as item, group"),
        ({"known": "zebra, owls"}, ITEMS, "known", "must be one of the items, got 'zebra'"),
        ({"known": "a, owls"}, ITEMS, "known", "anchors must show at least two groups"),
        ({"gold": "0.1"}, ITEMS, "gold", "whose group is known"),
        ({"questions": ""}, ITEMS, "questions", "at least one question"),
        ({}, None, "items", "there must be items"),
        ({}, b"id,text\na,x\na,y\n", "items", "items.csv line 3: an id must be used once"),
        ({}, b"id;text\na;x\n", "items", "items.csv line 2: there must be at least two items"),
        ({}, b"id,text,image\na,x,no.png\nb,y,\n", "items", "items.csv line 2: image must be one"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(
    texts: dict[str, str], items: bytes | None, field: str, words: str
) -> None:
    draft, sentences = read_draft(
        FormInput({**TEXTS, **texts}, items=items, pictures=[("b.png", PIXEL)] if items else [])
    )
    assert draft is None
    assert words in sentences[field]
    assert list(sentences) == [field]


def test_anchors_and_defining_questions_can_be_typed() -> None:
    typed = {"known": "b, owls\na , ducks", "questions": "* Does it hoot?\nDoes it swim?"}
    draft, sentences = read_draft(
        FormInput({**TEXTS, **typed, "gold": "0.1"}, items=ITEMS, pictures=[("b.png", PIXEL)])
    )
    assert sentences == {}
    assert draft is not None
    assert {item.id: item.group for item in draft.items if item.group} == {
        "a": "ducks",
        "b": "owls",
    }
    assert [(each.text, each.defines) for each in draft.questions] == [
        ("Does it hoot?", True),
        ("Does it swim?", False),
    ]
    assert draft.settings.gold == 0.1


def test_a_file_that_is_no_picture_is_refused() -> None:
    pictures = [("a.png", PIXEL), ("b.png", b"<svg onload=alert(1)>")]
    _, sentences = read_draft(FormInput(TEXTS, pictures=pictures))
    assert "PNG, JPEG, GIF or WebP" in sentences["items"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("a/1.png", "b/1.png", "2.png"), "different names, got '1.png' twice"),
        (("1.png", "1.png", "2.png"), "different names, got '1.png' twice"),
        (("a\0.png", "b.png"), "item 1: an id must be"),
        ((f"{'a' * 201}.png", "b.png"), "item 1: an id must be"),
    ],
)
def test_no_picture_gets_lost_and_each_can_be_stored(names: tuple[str, ...], words: str) -> None:
    draft, sentences = read_draft(FormInput(TEXTS, pictures=[(name, PIXEL) for name in names]))
    assert draft is None
    assert words in sentences["items"]


def test_the_forecast_is_asked_for_with_anchors_and_defining_questions(site: Site) -> None:
    items = b"id,text,group\n" + b"".join(b"i%d,x,%s\n" % (n, b"red" * (n < 3)) for n in range(8))
    known = "i3, blue\ni4, blue"
    asked = "* Does it swim?\nDoes it fly?\n* Is it large?"
    form = {**TEXTS, "known": known, "questions": asked, "people": "2", "repeats": "same"}
    files = [("items_file", ("items.csv", items, "text/csv"))]
    checked = site.owner.post("/new", data=form, files=files).text
    address = html.unescape(checked.split('hx-get="')[1].split('"')[0])
    sent = {key: each for key, (each,) in parse_qs(urlsplit(address).query).items()}
    assert (sent["items"], sent["questions"]) == ("8", "3")
    assert (sent["anchors"], sent["defining"]) == ("3,2", "2")
    assert json.loads(sent["settings"]) == {"name": "forecast", "people": 2, "repeats": "same"}
    end = time.monotonic() + 120
    while "data-done" not in (said := site.owner.get(address).text) and time.monotonic() < end:
        time.sleep(0.2)
    assert "3 + 2 anchors, 2 questions define the split" in said  # what was simulated


def test_first_a_forecast_then_a_campaign(site: Site, store: Store, tmp_path: Path) -> None:
    form = {**TEXTS, "price": "0.02", "method": "frugal", "people": "50", "gap": "0.9"}
    files = [
        ("items_file", ("items.csv", ITEMS, "text/csv")),
        ("pictures", ("b.png", PIXEL, "image/png")),
    ]
    checked = site.owner.post("/new", data=form, files=files).text
    assert "/new/forecast?items=4" in checked
    address = html.unescape(checked.split('hx-get="')[1].split('"')[0])
    end = time.monotonic() + 120
    while "data-done" not in (said := site.owner.get(address).text) and time.monotonic() < end:
        time.sleep(0.2)
    assert "50 people can finish this" in said
    assert "Simulated: " in said
    assert store.names() == []
    created = site.owner.post("/new", data={**form, "step": "create"}, files=files)
    assert created.headers["hx-redirect"] == "/campaigns/birds"
    campaign = store.campaign("birds")
    assert campaign.settings.price == 0.02
    assert campaign.items[1].image is not None
    again = site.owner.post("/new", data={**form, "step": "create"}, files=files).text
    assert "There is a campaign of this name already" in again


def test_a_campaign_by_rule_from_the_form(site: Site, store: Store) -> None:
    items = b"id,text,group\n" + b"".join(b"i%d,,%s\n" % (n, b"xy"[n : n + 1]) for n in range(9))
    form = {**TEXTS, "method": "rule", "groups": "auto", "error": "share", "people": "5"}
    files = [("items_file", ("items.csv", items, "text/csv"))]
    checked = site.owner.post("/new", data=form, files=files).text
    assert "Too small" not in checked
    site.owner.post("/new", data={**form, "step": "create"}, files=files)
    campaign = store.campaign("birds")
    settings = campaign.settings
    assert (settings.method, settings.groups, settings.error) == ("rule", "auto", "share")
    assert settings.most_per_cell == 5
    assert campaign.anchors == {0: "x", 1: "y"}


def test_workers_create_nothing(site: Site, store: Store) -> None:
    site.owner.post(
        "/new",
        data={**TEXTS, "step": "create"},
        files=[("items_file", ("items.csv", ITEMS.replace(b"pics/b.png", b""), "text/csv"))],
    )
    worker = site.worker(store.campaign("birds"))
    assert worker.get("/new").status_code == 403
    assert worker.post("/new", data=TEXTS).status_code == 403
