"""Pages as they look and behave: texts are data, phones have room, dashboards follow the state."""

import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from askfew.campaigns.reading.report import report_html
from askfew.campaigns.records import Item, Question
from askfew.campaigns.store import Store
from campaign_tools import sweep
from small_campaigns import answer, small_campaign, small_settings
from web_browser import RunningServer, Visitor, told, until

HOSTILE = "<script>window.broken = 1</script><img src=x onerror='window.broken = 2'>\"'{{ 7 * 7 }}"
PHONE = {"width": 390, "height": 844}


def as_owner(visitor: Visitor, server: RunningServer, path: str) -> Visitor:
    visitor.page.goto(f"{server.address}/i/{server.owner}")
    visitor.page.goto(f"{server.address}{path}")
    return visitor


def test_script_in_texts_stays_text(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    items = [Item(f"{HOSTILE} {number}", f"{HOSTILE} item {number}") for number in range(4)]
    questions = [Question(HOSTILE, f"{HOSTILE} question")]
    campaign = store.create(small_settings(guidelines=HOSTILE), items, questions)
    worker = visit()
    worker.page.goto(server.link(campaign, HOSTILE))
    worker.wait_for_question()
    assert HOSTILE in worker.text("#item-text")
    assert HOSTILE in worker.text("#question-text")
    assert HOSTILE in worker.text(".guide-text")
    worker.page.keyboard.press("y")
    owner = as_owner(visit(), server, "/campaigns/small")
    for selector in (".tile-text", "#questions td", "#people td"):
        owner.page.locator(selector, has_text=HOSTILE).first.wait_for()
    for visitor in (worker, owner):
        assert visitor.page.evaluate("window.broken") is None


def test_a_report_fits_on_a_phone(store: Store, visit: Callable[..., Visitor]) -> None:
    campaign = small_campaign(store)
    answer(campaign, 20)
    phone = visit(viewport=PHONE, is_mobile=True)
    phone.page.set_content(report_html(campaign))
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for cell in phone.page.locator("td:first-child:visible").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["width"] >= 100  # words, not a letter a line


@pytest.mark.parametrize("path", ["/", "/new", "/campaigns/small", "/answer/small"])
def test_pages_fit_on_a_phone(
    path: str, store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    answer(small_campaign(store, guidelines="Look closely.\n" * 20), 20)
    phone = as_owner(visit(viewport=PHONE, is_mobile=True, has_touch=True), server, path)
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    if path.startswith("/answer"):
        phone.wait_for_question()
        for button in phone.page.locator(".choice").all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            assert box["y"] + box["height"] <= PHONE["height"]
        phone.page.get_by_role("button", name="Guidelines").tap()
        phone.page.locator("#guide.is-open").wait_for()
        assert focus_of(phone) == "guide-close"
        phone.page.keyboard.press("Escape")
        phone.page.locator("#guide:not(.is-open)").wait_for(state="attached")
        assert focus_of(phone) == "guide-open"


def test_keys_are_hinted_at_where_there_are_keys(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    small_campaign(store)
    desktop = as_owner(visit(), server, "/answer/small")
    phone = as_owner(visit(viewport=PHONE, is_mobile=True, has_touch=True), server, "/answer/small")
    for visitor, hinted in ((desktop, True), (phone, False)):
        visitor.page.locator(".answer-foot kbd").first.wait_for(state="attached")
        hints = visitor.page.locator(".answer-foot kbd").all()
        assert len(hints) == 5
        assert all(hint.is_visible() == hinted for hint in hints)


def test_a_number_is_typed_only_where_there_is_a_question(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    campaign = sweep(store, 3, 1, answers={"number": {"sigma": 1.0}})
    (one, two) = campaign.ask("bob", 2)
    worker = visit()
    worker.page.goto(server.link(campaign, "ann"))
    field = worker.page.locator("#number")
    button = worker.page.locator("#number-form button")
    worker.wait_for_question()
    field.fill("one")
    button.click()
    worker.page.get_by_text("“one” is no number").wait_for()
    field.fill("1.5")
    button.click()
    worker.page.locator("#rest").wait_for()  # the other two are with somebody else
    assert field.is_disabled()
    assert button.is_disabled()
    for each in (one, two):
        campaign.tell(each.id, 2.0)
    until(lambda: campaign.state == "ended", "her answer is sent")
    assert sorted(row.value for row in told(campaign).values()) == [1.5, 2.0, 2.0]


def focus_of(visitor: Visitor) -> str:
    return str(visitor.page.evaluate("document.activeElement.id"))


def test_who_cannot_see_hears_every_item_and_keeps_the_focus(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    campaign = sweep(store, 3, 1)  # one question about three items
    worker, heard, lease = visit(), set(), ""
    worker.page.clock.set_fixed_time(0)  # the last answer is held back until it is undone
    worker.page.goto(server.link(campaign, "ann"))
    worker.wait_for_question()
    worker.page.get_by_role("button", name="Yes").focus()
    for _ in range(3):
        lease = worker.wait_for_question(other_than=lease)
        heard.add(worker.page.locator("#heard[aria-live=polite]").text_content() or "")
        worker.page.keyboard.press("Enter")  # whatever has the focus
    items = {each.removeprefix("Same question. ") for each in heard}
    assert items == {"i0: ?", "i1: ?", "i2: ?"}
    assert sum(each.startswith("Same question. ") for each in heard) == 2
    worker.page.locator("#rest").wait_for()
    worker.page.keyboard.press("z")
    worker.wait_for_question()
    assert worker.page.evaluate("document.activeElement.dataset.value") == "yes"


def test_the_dashboard_follows_pause_resume_and_close(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    campaign = small_campaign(store)
    owner, worker = as_owner(visit(), server, "/campaigns/small"), visit()
    worker.page.goto(server.link(campaign, "ann"))
    worker.wait_for_question()  # a page opened after the pause would have none
    owner.page.get_by_role("button", name="Pause").click()
    owner.page.locator("#summary[data-state=paused]").wait_for()
    assert campaign.state == "paused"
    for _ in range(2):
        lease = worker.wait_for_question()
        worker.page.keyboard.press("y")
        worker.page.wait_for_function(
            "lease => document.getElementById('answer').dataset.lease !== lease", arg=lease
        )
        if not worker.lease:
            break
    worker.page.get_by_text("A short break").wait_for()
    owner.page.get_by_role("button", name="Resume").click()
    owner.page.locator("#summary[data-state=running]").wait_for()
    worker.wait_for_question()
    owner.page.get_by_role("button", name="Close …").click()
    owner.page.get_by_role("button", name="Close the campaign").click()
    owner.page.get_by_text("Closed before the end").wait_for()
    assert campaign.state == "closed"


def test_the_demo_is_live_and_ends_with_an_interrupt(visit: Callable[..., Visitor]) -> None:
    command = [sys.executable, "-m", "askfew", "demo", "--serve", "--port", "0", "--pause", "1"]
    # Slowly: it must not be over before the pages are open.
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert demo.stdout is not None
    try:
        watch = demo.stdout.readline().split()[-1]
        along = demo.stdout.readline().split()[-1]
        owner, worker = visit(), visit()
        owner.page.goto(watch)
        assert owner.page.url.endswith("/campaigns/digits")
        owner.page.wait_for_function(
            "() => Number(document.getElementById('figure-answers').textContent) > 5"
        )
        worker.page.goto(along)
        lease = worker.wait_for_question()
        worker.page.keyboard.press("y")
        worker.wait_for_question(other_than=lease)
    finally:
        demo.send_signal(signal.SIGINT)
        demo.stdout.close()
        assert demo.wait(60) == 0
