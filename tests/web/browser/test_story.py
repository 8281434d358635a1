"""The whole story in a browser: create, invite, answer by keyboard, undo, reload, finish."""

import csv
import re
from collections.abc import Callable

import numpy as np

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.store import Store
from askfew.cli.demo.live import draw_digits
from campaign_tools import place
from web_browser import RunningServer, Visitor, told, until

ITEMS = 60
BY_KEYBOARD = 80
"""Answers of one person: enough for several steps, with a reload in the middle."""
HELD_BACK = 3500
"""Milliseconds: a little more than a page holds an answer back."""
QUESTIONS = ("Is there a hole in it?", "Is it written neatly?", "Does it lean to the right?")
DIGITS = draw_digits(3)
HOLES = {item.id: digit == 0 for item, digit in zip(DIGITS.items, DIGITS.digits, strict=True)}
"""By the name of the picture: what the first question is about."""


def says_yes(item: str, question: str, rng: np.random.Generator) -> bool:
    """What an attentive person would say; noise enough that it takes some hundred answers."""
    chance = (0.85 if HOLES[item] else 0.15) if question == QUESTIONS[0] else 0.5
    return bool(rng.random() < chance)


def press(visitor: Visitor, rng: np.random.Generator) -> str:
    """Answer what is on the page, by keyboard; the lease that was answered."""
    lease = visitor.wait_for_question()
    item = visitor.page.locator("#picture").get_attribute("alt") or ""
    yes = says_yes(item.removeprefix("Picture "), visitor.text("#question-text"), rng)
    visitor.page.keyboard.press("y" if yes else "n")
    return lease


def test_from_an_empty_store_to_the_downloaded_result(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    owner = visit()
    _log_in(owner, server)
    _create(owner)
    campaign = store.campaign("holes")
    ann, bob = (_come(visit(), _invite(owner, name)) for name in ("ann", "bob"))
    rng = np.random.default_rng(5)
    _undo_before_it_is_sent(ann, campaign)
    _undo_after_it_was_sent(ann, campaign)
    seen = _answer_together(ann, bob, BY_KEYBOARD, rng)
    assert not {place(each) for each in seen["ann"]} & {place(each) for each in seen["bob"]}
    ann.page.clock.fast_forward(HELD_BACK)
    until(lambda: len(_answers_of("ann", campaign)) >= BY_KEYBOARD, "all that Ann answered is sent")
    _finish(campaign, (ann, bob), rng)
    ann.page.get_by_text("All done").wait_for()
    _see_groups(owner)
    _download(owner, campaign)


def _log_in(owner: Visitor, server: RunningServer) -> None:
    page = owner.page
    page.goto(server.address)
    assert page.url.endswith("/login")
    page.get_by_label("Owner token").fill("a guess")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    page.get_by_label("Owner token").fill(server.owner)
    page.keyboard.press("Enter")
    page.get_by_text("No campaigns yet").wait_for()


def _create(owner: Visitor) -> None:
    page = owner.page
    page.get_by_role("link", name="Create the first one").click()
    page.get_by_label("Name", exact=True).fill("holes")
    page.get_by_label("Questions, one per line").fill("\n".join(QUESTIONS))
    page.locator("[name=method][value=frugal]").check()  # one question decides it alone
    page.get_by_label("Price of an answer").fill("much")
    page.get_by_text("More settings").click()
    page.get_by_label("Answers per person and cell").fill("1000")
    page.get_by_role("button", name="Check and forecast").click()
    page.get_by_text("2 things are not right yet").wait_for()
    assert "price must be a number" in owner.text("#wrong-price").lower()
    assert "choose a CSV file, or pictures" in owner.text("#wrong-items")
    pictures = [
        {"name": f"{item.id}.png", "mimeType": "image/png", "buffer": item.image}
        for item in DIGITS.items[:ITEMS]
    ]
    page.locator("#pictures").set_input_files(pictures)  # type: ignore[arg-type]
    page.get_by_label("Price of an answer").fill("0.02")
    assert page.get_by_label("Name", exact=True).input_value() == "holes"
    page.get_by_role("button", name="Check and forecast").click()
    page.locator("#forecast[data-done]").wait_for(timeout=180_000)
    assert "Simulated: " in owner.text("#forecast")
    page.get_by_role("button", name="Create the campaign").click()
    page.wait_for_url("**/campaigns/holes")
    page.get_by_text("Everything is ready").wait_for()


def _invite(owner: Visitor, name: str) -> str:
    owner.page.get_by_label("Invite people").fill(name)
    owner.page.get_by_role("button", name="Make links").click()
    field = owner.page.get_by_label(f"Link for {name}", exact=True)
    field.wait_for()
    return field.input_value()


def _come(worker: Visitor, link: str) -> Visitor:
    worker.page.clock.install()  # so that nobody must wait for the time in which one can undo
    worker.page.goto(link)
    worker.wait_for_question()
    assert worker.page.url.endswith("/answer/holes")
    return worker


def _undo_before_it_is_sent(worker: Visitor, campaign: Campaign) -> None:
    lease = worker.wait_for_question()
    # The page's clock stands still: however slow this machine is, the answer is held back.
    worker.page.clock.pause_at(worker.page.evaluate("Date.now()") / 1000 + 60)
    worker.page.keyboard.press("y")
    worker.wait_for_question(other_than=lease)
    worker.page.keyboard.press("z")
    worker.page.get_by_text("Taken back: answer again").wait_for()
    assert worker.lease == lease
    assert lease not in told(campaign)
    worker.page.clock.resume()


def _undo_after_it_was_sent(worker: Visitor, campaign: Campaign) -> None:
    lease = worker.wait_for_question()
    worker.page.keyboard.press("n")
    worker.page.clock.fast_forward(HELD_BACK)
    until(lambda: lease in told(campaign), "the answer is sent after three seconds")
    worker.page.locator("#undo:enabled").wait_for()  # the page knows it, too
    worker.page.keyboard.press("z")
    worker.page.get_by_text("Taken back: answer again, or skip").wait_for()
    assert told(campaign)[lease].retracted
    again = worker.lease  # the same slot, kept for this page alone
    assert again != lease
    assert again.split("-")[:3] == lease.split("-")[:3]


def _answer_together(
    ann: Visitor, bob: Visitor, count: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    """Ann answers so many, with a reload in the middle; Bob answers now and then beside her."""
    seen: dict[str, list[str]] = {"ann": [], "bob": []}
    for number in range(count):

        def answered_by_bob() -> bool:
            """A step ends when everybody has answered what they hold."""
            if not ann.lease:
                if bob.lease:
                    seen["bob"].append(press(bob, rng))
                for visitor in (ann, bob):
                    visitor.page.clock.fast_forward(HELD_BACK)
            return bool(ann.lease)

        until(answered_by_bob, "a question for Ann")
        seen["ann"].append(press(ann, rng))
        if number % 20 == 10 and bob.lease:
            seen["bob"].append(press(bob, rng))
        if number == count // 2:
            until(answered_by_bob, "another question for Ann")
            ann.page.reload()
            # Which open question comes first depends on whether the page's last requests or its
            # first ones arrive first; it is never one that somebody has answered.
            answered = {place(each) for each in seen["ann"] + seen["bob"]}
            assert place(ann.wait_for_question()) not in answered
    return seen


def _finish(campaign: Campaign, pages: tuple[Visitor, ...], rng: np.random.Generator) -> None:
    """Simulated workers answer what is left; the pages answer what they hold."""

    def simulated(asked: Assignment) -> bool:
        return says_yes(asked.item.id, asked.question.text, rng)

    def a_round() -> bool:
        for name in ("cora", "dan", "eve"):
            for asked in campaign.ask(name, 20) if campaign.state == "running" else ():
                campaign.tell(asked.id, simulated(asked), seconds=1.0)
        for page in pages:
            if page.lease:
                press(page, rng)
            page.page.clock.fast_forward(HELD_BACK)
        return campaign.state != "running"

    until(a_round, "the campaign ends")
    outcome = campaign.outcome()
    assert outcome is not None
    assert outcome.status == "done"


def _see_groups(owner: Visitor) -> None:
    page = owner.page
    page.get_by_text("Done: every item has its group").wait_for()
    # A busy server shows groups that it read a while ago; the page looks again by itself.
    page.locator("#groups[hx-get*='-ended-']").wait_for(state="attached", timeout=240_000)
    page.locator("#shelf-0").get_by_role("button", name=re.compile("Show all")).click()
    page.locator("#all-groups").wait_for()
    tiles = page.locator(".tile-id").all_inner_texts()
    first = HOLES[DIGITS.items[0].id]
    assert set(tiles) == {name for name in _names() if HOLES[name] == first}
    for chart in ("evidence", "answers"):  # drawn every few seconds
        page.locator(f"#chart-{chart} canvas").wait_for()


def _download(owner: Visitor, campaign: Campaign) -> None:
    with owner.page.expect_download() as coming:
        owner.page.get_by_role("link", name="Result", exact=True).click()
    with open(coming.value.path(), newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == ITEMS
    first = HOLES[rows[0]["item"]]
    assert all((HOLES[row["item"]] == first) == (row["group"] == "0") for row in rows)


def _answers_of(worker: str, campaign: Campaign) -> list[str]:
    given = told(campaign).values()
    return [row.id for row in given if row.worker == worker and not row.retracted]


def _names() -> list[str]:
    return [item.id for item in DIGITS.items[:ITEMS]]
