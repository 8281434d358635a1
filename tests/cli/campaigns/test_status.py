"""``askfew status``."""

from askfew.campaigns.folder.template import write_template
from askfew.campaigns.store import Store
from bird_campaign import change, document
from commands import Command


def test_status_says_loudly_that_there_are_too_few_workers(askfew: Command) -> None:
    write_template("birds")
    change("birds", 'method = "rule"', 'method = "frugal"')
    askfew("create", "birds")
    code, out, _ = askfew("status", "birds")
    assert code == 0
    assert "Nobody has come yet. This step needs at least 1 worker." in out
    assert "0 of at most 10,000" in out
    assert "TOO FEW" not in out
    store = Store("sqlite:///askfew.db")
    campaign = store.campaign("birds")
    while asked := campaign.ask("ann", 100):  # until only cells are open that she has answered
        for each in asked:
            campaign.tell(each.id, True)
    store.close()
    out = askfew("status", "birds")[1]
    assert "TOO FEW WORKERS: this step needs 3 different workers, and 1 has come" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "TOO FEW" in askfew("status")[1]


def test_status_of_all_campaigns(birds: Command) -> None:
    change("birds", 'name = "birds"', 'name = "second"')
    birds("create", "birds")
    names = [each["name"] for each in document(birds("status", "--json"))["campaigns"]]
    assert names == ["birds", "second"]
    out = birds("status")[1]
    assert "birds" in out
    assert "second" in out
    listed = document(birds("list", "--json"))["campaigns"]
    assert [each["name"] for each in listed] == names
    assert "second" in birds("list")[1]


def test_an_unknown_campaign_is_a_sentence(birds: Command) -> None:
    code, out, err = birds("status", "nobody")
    assert (code, out) == (2, "")
    assert err == (
        "askfew: a campaign of this store must be one of: birds, got 'nobody': check its name\n"
    )
