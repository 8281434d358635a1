"""Whoever sends wrong tokens must slow down."""

from campaign_tools import Clock, sweep
from web_site import API, Site, document


def test_after_twenty_wrong_tokens_no_other_is_looked_at(site: Site, clock: Clock) -> None:
    for number in range(20):
        document(site.bearer(f"guess {number}").get(API), 401)
    came = site.owner.get(API)
    document(came, 429)
    assert came.headers["retry-after"] == "60"
    clock.pass_seconds(61)
    document(site.owner.get(API))


def test_who_was_let_in_before_is_not_locked_out_by_others(site: Site) -> None:
    campaign = sweep(site.store)
    worker = site.worker(campaign)
    document(worker.get(f"{API}/sweep"))
    for number in range(25):
        site.bearer(f"guess {number}").get(API)
    document(worker.get(f"{API}/sweep"))
    document(site.owner.get(API), 429)


def test_the_same_wrong_token_again_is_one_guess(site: Site) -> None:
    for _ in range(50):
        document(site.bearer("left over").get(API), 401)
    document(site.owner.get(API))


def test_no_token_is_no_guess(site: Site) -> None:
    for _ in range(50):
        document(site.nobody.get(API), 401)
    document(site.owner.get(API))
