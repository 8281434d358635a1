"""What people and their campaign's owner see: invitations, twelve at work, names, endings."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.gold import gold_answers
from askfew.campaigns.records import Item, Question, StoredOutcome
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.cli.demo.live import draw_digits
from askfew.web.access.invitations import new_link, revoke
from campaign_tools import answer_by, three_kinds
from servers import serving, store_in
from web_browser import RunningServer, Visitor, told, until

PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "is_mobile": True,
    "has_touch": True,
}
LONG = 240_000
"""Milliseconds that a campaign may take to end, and its pages to show it, on a busy machine."""
TWELVE = ("Ann", "Bob", "Cora", "Dan", "Eve", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo")
DIGITS = draw_digits(3)
CHANCES = {
    (item.id, question.text): DIGITS.chance(n, q)
    for n, item in enumerate(DIGITS.items)
    for q, question in enumerate(DIGITS.questions)
}
RENEW_GROUPS = """async () => htmx.ajax("GET", `${location.pathname}/parts/groups`,
  { source: "#groups", target: "#groups", swap: "outerHTML" })"""
"""As the groups do by themselves every few seconds."""
SHOWN = """number => document.querySelectorAll(".gallery-undecided .tile img")[number]
  .naturalWidth > 0"""
HARD = {DIGITS.items[n].id for n in (20, 41)}
"""Pictures that nobody can tell."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with store_in(tmp_path_factory.mktemp("people")) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(store: Store) -> Iterator[RunningServer]:
    with serving(store) as served:
        yield RunningServer(served.url, served.owner)


@pytest.fixture
def owner(server: RunningServer, visit: Callable[..., Visitor]) -> Visitor:
    visitor = visit()
    visitor.page.goto(f"{server.address}/i/{server.owner}")
    return visitor


def outcome_of(campaign: Campaign) -> StoredOutcome:
    outcome = campaign.outcome()
    assert outcome is not None
    return outcome


def says_yes(item: str, question: str, rng: np.random.Generator) -> bool:
    return bool(rng.random() < (0.5 if item in HARD else CHANCES[item, question]))


def answered(visitor: Visitor, rng: np.random.Generator, keys: tuple[str, str]) -> str:
    """Answer what is on the page by one of the keys for yes and no; the lease."""
    lease = visitor.wait_for_question()
    item = (visitor.page.locator("#picture").get_attribute("alt") or "").removeprefix("Picture ")
    yes = says_yes(item, visitor.text("#question-text"), rng)
    visitor.page.keyboard.press(keys[0] if yes else keys[1])
    return lease


class ByHttp:
    """Somebody who answers by the same address as a page does."""

    def __init__(self, server: RunningServer, campaign: str, link: str, seed: int) -> None:
        token = link.rpartition("/")[2]
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx2.Client(base_url=server.address, headers=headers, timeout=60)
        self.campaign, self.rng = campaign, np.random.default_rng(seed)

    def work(self) -> bool:
        """Ask for some and answer them; whether there were any."""
        asked = self.client.post(f"/api/v1/campaigns/{self.campaign}/ask", json={"n": 8}).json()
        for each in asked["questions"]:
            yes = says_yes(each["item"]["id"], each["question"]["text"], self.rng)
            body = {"id": each["id"], "answer": yes, "seconds": 2.0}
            reply = self.client.post(f"/api/v1/campaigns/{self.campaign}/tell", json=body)
            assert reply.json()["ok"]
        return bool(asked["questions"])


def test_twelve_people_finish_sixty_photos(
    store: Store, server: RunningServer, owner: Visitor, visit: Callable[..., Visitor]
) -> None:
    """From the form, with anchors and gold questions, to groups that can be read by name."""
    _create_with_anchors(owner, server)
    campaign = store.campaign("digits")
    assert set(campaign.anchors.values()) == {"Zeros", "Ones"}
    links = _invite_all(owner)
    phone, desk = visit(**PHONE), visit()
    phone.page.goto(links["Ann"])
    desk.page.goto(links["Bob"])
    rng = np.random.default_rng(1)
    for _ in range(4):
        answered(desk, rng, ("1", "2"))
        answered(phone, rng, ("ArrowLeft", "ArrowRight"))
    _close_in_the_middle(phone, campaign, "Ann")
    _close_in_the_middle(desk, campaign, "Bob")  # both go on elsewhere, by the same link
    crew = [ByHttp(server, "digits", links[name], n) for n, name in enumerate(TWELVE)]
    end = time.monotonic() + LONG / 1000
    while campaign.state == "running":
        assert time.monotonic() < end, "the campaign did not end"
        if not sum(each.work() for each in crew):
            time.sleep(0.2)
    assert not any(each.work() for each in crew)  # all is answered
    for each in crew:
        each.client.close()
    assert campaign.state == "ended"
    _see_the_end(owner, campaign)


def _create_with_anchors(owner: Visitor, server: RunningServer) -> None:
    page = owner.page
    page.goto(f"{server.address}/new")
    page.get_by_label("Name", exact=True).fill("digits")
    pictures: Any = [
        {"name": f"{item.id}.png", "mimeType": "image/png", "buffer": item.image}
        for item in DIGITS.items
    ]
    page.locator("#pictures").set_input_files(pictures)
    known = [f"{DIGITS.items[n].id}, {('Zeros', 'Ones')[DIGITS.digits[n]]}" for n in range(8)]
    page.get_by_label("Items whose group you know").fill("\n".join(known))
    page.get_by_label("Questions, one per line").fill(
        "\n".join(f"{'* ' * (q.id == 'hole')}{q.text}" for q in DIGITS.questions)
    )
    page.get_by_label("Guidelines for those who answer").fill("# Look closely\n\n- at the **hole**")
    page.get_by_label("People who will answer").fill("12")
    page.locator("[name=error][value=share]").check()
    page.get_by_text("More settings").click()
    page.get_by_label("Gold questions").fill("0.4")
    page.get_by_role("button", name="Check and forecast").click()
    page.locator("#forecast[data-done]").wait_for(timeout=180_000)
    page.get_by_role("button", name="Create the campaign").click()
    page.wait_for_url("**/campaigns/digits")


def _invite_all(owner: Visitor) -> dict[str, str]:
    """Twelve names at once, some typed and some of a file: a link for each, shown once."""
    page = owner.page
    page.get_by_label("Invite people").fill("\n".join(TWELVE[:6]))
    rest = "team,name\n" + "".join(f"red,{name}\n" for name in TWELVE[6:])
    file: Any = {"name": "names.csv", "mimeType": "text/csv", "buffer": rest.encode()}
    page.locator("#invite-file").set_input_files(file)
    page.get_by_role("button", name="Make links").click()
    page.get_by_text("12 new links").wait_for()
    page.locator("#only-here").wait_for()  # they begin with 127.0.0.1
    links = {name: page.get_by_label(f"Link for {name}", exact=True) for name in TWELVE}
    found = {name: field.input_value() for name, field in links.items()}
    page.get_by_label("Invite people").fill("Ann, Zoe")
    page.locator("#invite-file").set_input_files([])
    page.get_by_role("button", name="Make links").click()
    page.get_by_text("1 person has a link already").wait_for()
    return found


def _close_in_the_middle(visitor: Visitor, campaign: Campaign, worker: str) -> None:
    """What the page held is open again at once, and what was answered is there."""
    visitor.page.wait_for_function(  # nothing is on its way to a page that is gone
        "worker => { const kept = JSON.parse(localStorage.getItem(`askfew/digits/${worker}`));"
        " return kept.held.length === 2 && !kept.asking && !kept.outbox.length; }",
        arg=worker,
    )
    visitor.page.close()

    def handed_back() -> bool:
        given = [row for row in told(campaign).values() if row.worker == worker]
        with campaign.database.read() as connection:
            rows = connection.exec_driver_sql(
                f"SELECT count(*) FROM slots WHERE campaign = {campaign.id}"
                f" AND worker = '{worker}' AND state = 1"
            )
            return rows.scalar_one() == 0 and len(given) == 4

    until(handed_back, "a closed page holds nothing")


def _see_the_end(owner: Visitor, campaign: Campaign) -> None:
    page = owner.page
    page.goto(page.url)
    for part in ("summary", "split", "groups", "people"):
        # A server shows what it read a while ago, the longer the busier; the page looks again.
        page.locator(f"#{part}[hx-get*='-ended-']").wait_for(state="attached", timeout=LONG)
    left = sum(label < 0 for label in outcome_of(campaign).labels)
    badge = owner.text("#summary h1 .pill")
    assert re.fullmatch(r"\d+ of 60 sorted, \d+ undecided|All 60 sorted", badge), (badge, left)
    certificate = page.locator(".certificate")
    certificate.wait_for()
    page.get_by_role("heading", name="Which split this is").wait_for()
    tops = [
        page.locator(each).first.bounding_box() for each in (".certificate", ".split", "#groups")
    ]
    heights = [box["y"] for box in tops if box is not None]
    assert heights == sorted(heights)
    assert len(heights) == 3
    for name in ("Zeros", "Ones"):
        page.locator(".gallery h3", has_text=name).wait_for()
    if "undecided" in badge:
        page.locator(".gallery-undecided .tile-why").first.wait_for()
    page.locator(".tile").first.click()
    page.locator("#item-dialog[open] .given-one").first.wait_for()
    assert any(name in owner.text("#item-body") for name in TWELVE)
    page.keyboard.press("Escape")
    gold = page.locator("#people td[data-label=Gold]").all_inner_texts()
    assert sum(" of " in each for each in gold) >= 2
    with campaign.database.read() as connection:
        asked = gold_answers(connection, campaign.id)
    assert len(asked) >= 3  # drawn at random, so that nobody can tell
    assert all(item in campaign.anchors for _, item, _, _ in asked)


def test_three_groups_are_named(store: Store, server: RunningServer, owner: Visitor) -> None:
    settings: dict[str, Any] = {"name": "three", "groups": 3, "seed": 1, "error": "share"}
    campaign = store.create(
        Settings.from_dict({**settings, "answers_per_worker_and_cell": 1000}),
        [Item(f"i{n}", f"Bird number {n}") for n in range(18)],
        [Question(f"q{n}", f"Question {n}?") for n in range(6)],
    )
    answer_by(campaign, three_kinds(18), seed=3)
    page = owner.page
    page.goto(f"{server.address}/campaigns/three")
    for number, name in enumerate(("Ducks", "Owls", "Gulls")):
        page.locator(f"#shelf-{number} .rename summary").click()
        page.locator(f"#name-{number}:focus").fill(name)
        page.evaluate(RENEW_GROUPS)  # somebody types: what comes meanwhile must not undo that
        page.locator(f"#shelf-{number} .rename button").click()
        page.locator(f"#shelf-title-{number}", has_text=name).wait_for()
    page.locator(".division", has_text="Owls").first.wait_for()
    page.locator("#shelf-0 .rename summary").click()
    page.locator("#name-0").fill("Owls")
    page.locator("#shelf-0 .rename button").click()
    page.get_by_text("different names").wait_for()
    assert {"Ducks", "Owls", "Gulls"} == set(_groups(owner, server))


def test_an_ending_with_undecided_items_shows_their_pictures_and_why(
    store: Store, server: RunningServer, owner: Visitor, visit: Callable[..., Visitor]
) -> None:
    settings = {"name": "between", "seed": 1, "error": "share", "per_cell": 40}
    pictures = [each.image for each in DIGITS.items[:16]]
    items = [Item(f"i{n}", image=each, image_name="x.png") for n, each in enumerate(pictures)]
    campaign = store.create(
        Settings.from_dict({**settings, "answers_per_worker_and_cell": 1000}),
        items,
        [Question(f"q{n}", f"Question {n}?") for n in range(6)],
    )
    means = np.repeat(np.where(np.arange(16) % 2, 0.95, 0.05)[:, np.newaxis], 6, axis=1)
    means[:2] = 0.5  # nobody can tell
    answer_by(campaign, means, seed=1)
    page = owner.page
    page.goto(f"{server.address}/campaigns/between")
    left = [n for n, label in enumerate(outcome_of(campaign).labels) if label < 0]
    assert left
    badge = f"{16 - len(left)} of 16 sorted, {len(left)} undecided"
    assert owner.text("#summary h1 .pill") == badge
    tiles = page.locator(".gallery-undecided .tile")
    tiles.first.wait_for()
    assert set(tiles.locator(".tile-id").all_inner_texts()) == {f"i{n}" for n in left}
    for number, tile in enumerate(tiles.all()):
        assert "between the groups" in tile.locator(".tile-why").inner_text()
        tile.scroll_into_view_if_needed()  # pictures are loaded when they are seen
        page.wait_for_function(SHOWN, arg=number)
    tiles.first.click()
    page.locator("#item-dialog[open] .given-one").first.wait_for()
    assert page.locator("#item-dialog").evaluate("each => each.scrollTop") == 0  # its top first
    assert "Undecided: between the groups" in owner.text(".item-standing")
    phone = visit(**PHONE)
    phone.page.goto(f"{server.address}/i/{server.owner}")
    phone.page.goto(f"{server.address}/campaigns/between")
    for table in ("#questions td", "#people td"):
        phone.page.locator(table).first.wait_for()
        boxes = [cell.bounding_box() for cell in phone.page.locator(table).all()]
        assert all(box is None or box["x"] + box["width"] <= 360 for box in boxes)  # none cut off


def _groups(owner: Visitor, server: RunningServer) -> list[str]:
    found = owner.page.request.get(f"{server.address}/api/v1/campaigns/three/result").json()
    return list(found["group_names"])


def test_a_scale_of_seven_fits_a_phone_and_a_skip_has_a_reason(
    store: Store, server: RunningServer, visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    settings = {"name": "seven", "answers": {"scale": [1, 7]}, "guidelines": "*Read* it all."}
    texts = [Item(f"t{n}", f"Text {n}. " * 400) for n in range(6)]
    campaign = store.create(
        Settings.from_dict(settings),
        texts,
        [Question("q", "How kind?"), Question("r", "How long?")],
    )
    phone = visit(**PHONE)
    phone.page.goto(server.link(campaign, "ann"))
    phone.wait_for_question()
    boxes = [button.bounding_box() for button in phone.page.locator(".choice").all()]
    assert len(boxes) == 7
    assert len({box["y"] for box in boxes if box is not None}) == 1  # one row
    assert all(box is not None and box["width"] >= 40 and box["height"] >= 44 for box in boxes)
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert phone.text(".scale-ends").split() == ["lowest", "highest"]
    assert phone.page.locator(".guide-text em").text_content() == "Read"
    phone.page.locator("#more-below").click()  # a long text goes on
    phone.page.wait_for_function("() => document.getElementById('item-box').scrollTop > 50")
    lease = phone.lease
    phone.page.get_by_role("button", name="Flag").click()
    phone.page.get_by_role("button", name="Twice among the items").click()
    phone.page.get_by_text("Flagged: thank you").wait_for()
    assert phone.lease == lease  # the question stays
    phone.page.get_by_role("button", name="Skip").click()
    phone.page.get_by_role("button", name="It does not apply").click()
    other = phone.wait_for_question(other_than=lease)
    asked = phone.text("#question-text")
    phone.page.locator(".choice", has_text="5").click()
    phone.wait_for_question(other_than=other)
    phone.page.wait_for_function("() => document.getElementById('given').textContent === 'you: 1'")
    desk = visit()  # the same person on another device
    until(lambda: campaign.given_by("ann") == 1, "the answer is sent")
    desk.page.goto(f"{server.address}/i/{new_link(campaign, 'ann')}")
    desk.wait_for_question()
    assert desk.text("#given") == "you: 1"
    assert desk.text("#progress-text") == "1 answer so far"  # not fewer than this worker gave
    cue = phone.text("#question-cue")
    assert cue == ("Same question" if phone.text("#question-text") == asked else "New question")
    desk.page.keyboard.press("?")
    desk.page.locator("#keys-dialog[open]").wait_for()
    desk.page.keyboard.press("Escape")
    revoke(campaign, "ann")
    desk.page.keyboard.press("3")
    desk.page.get_by_text("You are no longer asked here").wait_for()
    said = desk.text("#rest-text")
    assert "has removed you from it" in said
    assert "The answer that you sent counts." in said
    assert "One answer on the way could not be sent any more." in said
    assert desk.text("#given") == "you: 1"
    assert desk.text("#said") == ""
