"""What a campaign's page says of its end: no more than its certificate promises."""

from pathlib import Path

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.knowledge import Knowledge, knowledge_of
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.records import Item, StoredOutcome
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.web.pages.words import ending_of, explained, promise_of
from campaign_tools import answer_by, frugal, questions


def known_of(campaign: Campaign) -> Knowledge:
    with campaign.database.snapshot() as connection:
        return knowledge_of(connection, campaign)


def unlike_items(store: Store, seed: int) -> Campaign:
    rng = np.random.default_rng(seed)
    campaign = frugal(store, 24, 6, name=f"unlike {seed}", delta=0.05, seed=seed)
    means = np.full((24, 6), 0.5)
    means[:, :3] = np.where(np.arange(24) % 2, 0.85, 0.15)[:, np.newaxis]
    means = np.clip(means + rng.normal(0, 0.25, means.shape), 0.01, 0.99)
    answer_by(campaign, means, seed=seed, n=500)
    return campaign


def test_a_promise_that_the_answers_contradict_is_not_repeated(tmp_path: Path) -> None:
    """Items of a group are far from alike, and the certificate says that this voids it."""
    store = Store(f"sqlite:///{tmp_path}/store.db")
    for seed in range(1, 9):  # most of them are seen to be unlike, not all
        campaign = unlike_items(store, seed)
        found = result_of(campaign)
        assert found.checks is not None
        if found.checks["void"]:
            break
    assert found.certificate_text is not None
    assert "THE PROMISE BELOW DOES NOT HOLD" in found.certificate_text
    assert "certified" not in {each.state for each in found.items}
    assert promise_of(known_of(campaign)).startswith("Nothing is promised: the answers contradict")
    store.close()


def test_of_anchors_only_it_is_said_that_they_keep_their_group(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/store.db")
    known = [Item(f"i{number}", group="owl" if number % 2 else "duck") for number in range(4)]
    settings = Settings.from_dict({"name": "known", "delta": 0.1, "seed": 1})
    campaign = store.create(settings, known, questions(6))
    assert promise_of(known_of(campaign)) == "4 anchors keep the group given."
    store.close()


def test_a_badge_says_what_happened() -> None:
    def badge(status: str, labels: list[int], anchors: tuple[int, ...] = ()) -> tuple[str, bool]:
        found = ending_of("ended", StoredOutcome(status, labels=labels), anchors)
        return found.word, found.fell_short

    assert badge("done", [0, 1]) == ("All 2 sorted", False)
    assert badge("undecided", [0, 1, -1]) == ("2 of 3 sorted, 1 undecided", False)
    assert badge("no-consensus", [0, 1, -1]) == ("2 of 3 sorted, 1 undecided", True)
    assert badge("no-consensus", [-1, -1]) == ("No consensus, none sorted", True)
    # Anchors were given, not sorted: with nothing else, nothing was achieved.
    assert badge("undecided", [0, 1, -1, -1], (0, 1)) == ("None could be sorted", True)
    assert badge("budget", [0, 1, -1], (0, 1)) == ("Cap reached, none sorted", True)
    assert ending_of("running", None).word == "Running"
    assert ending_of("closed", None).word == "Closed"


def test_the_reason_does_not_say_again_what_the_title_says() -> None:
    def said(reason: str) -> str:
        outcome = StoredOutcome("undecided", reason, [0, -1])
        return explained(ending_of("ended", outcome), outcome)

    title = "all items that can be decided are certified"
    assert said(f"{title}: 1 item would need more") == "1 item would need more."
    assert said(title).startswith("The others lie between the groups")
