"""What must not get lost: a killed server, no network, a page that is closed, a lease left idle."""

from collections.abc import Callable

from sqlalchemy import select

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.slots import leases_of
from askfew.campaigns.db.schema import slots
from askfew.campaigns.records import Item
from askfew.campaigns.store import Store
from campaign_tools import sweep
from small_campaigns import QUESTIONS, small_settings
from web_browser import PATIENCE, RECORD_TELLS, KillableServer, RunningServer, Visitor, told, until

PAGES = 10
PRESS_FOR_EVER = """
let pressed = 0;
setInterval(() => {
  const key = pressed++ % 3 ? "y" : "n";
  if (document.getElementById("answer").dataset.lease) {
    document.dispatchEvent(new KeyboardEvent("keydown", { key }));
  }
}, 200);
"""
"""Answers whatever is asked."""


def long_campaign(store: Store, **changes: object) -> Campaign:
    items = [Item(f"item{number}", f"Item number {number}") for number in range(60)]
    return store.create(small_settings("small", **changes), items, QUESTIONS)


def test_ten_pages_go_on_after_the_server_was_killed_and_nothing_acknowledged_is_lost(
    store: Store, killable: KillableServer, visit: Callable[..., Visitor]
) -> None:
    # One large step: nobody waits for the end of a small one, and the fast leave the slow enough.
    campaign = sweep(store, 60, 5, 20, answers_per_worker_and_cell=20)
    pages = [visit() for _ in range(PAGES)]
    for number, visitor in enumerate(pages):
        visitor.page.add_init_script(RECORD_TELLS)
        visitor.page.goto(killable.link(campaign, f"worker {number}"))
        visitor.wait_for_question()
    for visitor in pages:
        visitor.page.evaluate(PRESS_FOR_EVER)
    for visitor in pages:
        visitor.page.wait_for_function("() => window.acked.length >= 3")
    killable.kill()
    before = [visitor.page.evaluate("window.acked.length") for visitor in pages]
    pages[0].page.get_by_text("No connection").wait_for()
    killable.start()
    for visitor, count in zip(pages, before, strict=True):
        visitor.page.wait_for_function("count => window.acked.length >= count + 3", arg=count)
    acknowledged = {each for visitor in pages for each in visitor.page.evaluate("window.acked")}
    kept = told(campaign)
    assert acknowledged <= kept.keys()
    assert not any(kept[each].retracted for each in acknowledged)


def test_answers_given_without_network_are_sent_even_if_the_page_was_closed(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    campaign = long_campaign(store)
    visitor = visit()
    visitor.page.goto(server.link(campaign, "ann"))
    first = visitor.wait_for_question()
    # The next question is there already.
    visitor.page.wait_for_function(
        "() => JSON.parse(localStorage['askfew/small/ann']).held.length == 2"
    )
    visitor.context.set_offline(True)
    visitor.page.keyboard.press("y")
    second = visitor.wait_for_question(other_than=first)
    visitor.page.keyboard.press("n")
    visitor.page.get_by_text("No connection: 2 kept").wait_for()
    visitor.page.close()
    assert not told(campaign)
    visitor.context.set_offline(False)
    visitor.page = visitor.context.new_page()
    visitor.page.goto(f"{server.address}/answer/small")
    until(lambda: {first, second} <= told(campaign).keys(), "both answers are sent")
    assert [told(campaign)[each].value for each in (first, second)] == [1.0, 0.0]


def test_closing_the_page_sends_what_was_answered_and_hands_back_the_rest(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    campaign = long_campaign(store)
    visitor = visit()
    visitor.page.goto(server.link(campaign, "ann"))
    lease = visitor.wait_for_question()
    visitor.page.keyboard.press("y")
    visitor.page.wait_for_function(
        "() => { const now = JSON.parse(localStorage['askfew/small/ann']);"
        " return now.held.length == 2 && !now.asking; }"
    )
    visitor.page.goto("about:blank")  # while the answer is still held back for an undo
    until(lambda: lease in told(campaign), "the answer is sent")
    until(lambda: not _in_hand(campaign, "ann"), "the next question is handed back")
    visitor.page.go_back()
    visitor.wait_for_question(other_than=lease)


def test_an_idle_page_does_not_renew_its_leases_and_input_does(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    campaign = long_campaign(store, lease_seconds=3600)
    visitor = visit()
    sent: list[str] = []
    visitor.page.on("request", lambda each: sent.append(each.url))
    visitor.page.clock.install()
    visitor.page.goto(server.link(campaign, "ann"))
    lease = visitor.wait_for_question()
    expires = _expires(campaign, lease)
    visitor.page.clock.fast_forward(2000 * 1000)  # more than half of the lease, by the page's clock
    assert not any(each.endswith("/renew") for each in sent)
    assert _expires(campaign, lease) == expires
    visitor.page.keyboard.press("Shift")
    until(lambda: _expires(campaign, lease) > expires, "the lease is renewed after a key")


def test_a_worker_who_was_revoked_is_told_so(
    store: Store, server: RunningServer, visit: Callable[..., Visitor]
) -> None:
    campaign = long_campaign(store)
    owner, ann = visit(), visit()
    ann.page.goto(server.link(campaign, "ann"))
    ann.wait_for_question()
    owner.page.goto(f"{server.address}/i/{server.owner}")
    owner.page.goto(f"{server.address}/campaigns/small")
    owner.page.get_by_role("button", name="Revoke ann").click()
    owner.page.get_by_role("button", name="Revoke", exact=True).click()
    owner.page.get_by_text("revoked").first.wait_for()
    ann.page.keyboard.press("y")
    ann.page.get_by_text("You are no longer asked here").wait_for(timeout=PATIENCE)
    assert "has removed you from it" in ann.text("#rest-text")


def _in_hand(campaign: Campaign, worker: str) -> int:
    with campaign.database.read() as connection:
        return len(leases_of(connection, campaign.id, worker))


def _expires(campaign: Campaign, lease: str) -> float:
    with campaign.database.read() as connection:
        return float(
            connection.execute(select(slots.c.expires).where(slots.c.lease == lease)).scalar_one()
        )
