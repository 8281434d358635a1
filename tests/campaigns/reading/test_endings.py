"""However a campaign ends, every item has a best guess, and every undecided one a reason."""

import numpy as np
import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from campaign_tools import items, questions


def answered(campaign: Campaign, most: int = 10_000) -> None:
    """By a coin, so that no question agrees with another."""
    rng = np.random.default_rng(0)
    for _ in range(most):
        asked = campaign.ask("ann", 20)
        if not asked:
            break
        for each in asked:
            campaign.tell(each.id, float(rng.random() < 0.5))


@pytest.mark.parametrize(
    ("ending", "settings", "reason"),
    [
        ("closed", {}, "too few answers"),
        ("budget", {"max_answers": 25}, "too few answers"),
        ("no-consensus", {}, "no split was found"),
    ],
)
def test_every_ending_leaves_guesses_and_reasons(
    store: Store, ending: str, settings: dict[str, object], reason: str
) -> None:
    made = Settings.from_dict({"name": "x", "answers_per_worker_and_cell": 100, **settings})
    campaign = store.create(made, items(10), questions(2))
    running = result_of(campaign)
    assert [each.undecided for each in running.items] == [None] * 10  # it may still be decided
    answered(campaign, 1 if ending == "closed" else 10_000)
    if ending == "closed":
        campaign.close()
    result = result_of(campaign)
    assert result.status == ending
    assert {each.undecided for each in result.items} == {reason}
    assert all(each.guess in (0, 1) for each in result.items)
    assert all(0.5 <= each.confidence <= 1 for each in result.items)


def test_a_campaign_that_too_few_people_can_finish_asks_nothing_and_says_so(store: Store) -> None:
    campaign = store.create(Settings("x", people=1), items(60), questions(15))
    assert campaign.ask("ann", 20) == []
    result = result_of(campaign)
    assert (result.status, result.answers) == ("undecided", 0)
    assert "What would help: more people" in result.reason
    assert {each.undecided for each in result.items} == {"too few answers"}
    assert all(each.guess in (0, 1) for each in result.items)
