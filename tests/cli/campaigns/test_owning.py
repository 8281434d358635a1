"""``askfew pause``, ``resume``, ``close``, ``workers``, ``revoke``."""

from askfew.campaigns.store import Store
from askfew.web.access.invitations import new_link
from bird_campaign import answer_all, document
from commands import Command


def test_pause_resume_close(birds: Command) -> None:
    assert birds("pause", "birds")[:2] == (0, "birds is paused.\n")
    assert "paused" in birds("ask", "birds", "--worker", "ann")[1]
    assert document(birds("resume", "birds", "--json")) == {"campaign": "birds", "state": "running"}
    assert birds("close", "birds")[:2] == (0, "birds is closed.\n")
    code, _, err = birds("resume", "birds")
    assert code == 2
    assert "must be paused, got closed" in err


def test_workers_are_listed_and_revoked(birds: Command) -> None:
    answer_all(most=5)
    for worker in ("ann", "bob"):
        document(birds("ask", "birds", "--worker", worker, "-n", 3, "--json"))
    store = Store("sqlite:///askfew.db")
    new_link(store.campaign("birds"), "cora")
    store.close()
    code, out, _ = birds("workers", "birds")
    assert code == 0
    assert [name for name in ("ann", "bob", "cora") if name in out] == ["ann", "bob", "cora"]
    before = document(birds("workers", "birds", "--json"))["workers"]
    assert before[0]["leases"] == 3
    assert birds("revoke", "birds", "ann") == (
        0,
        "ann is asked no more. Their answers count.\n",
        "",
    )
    assert document(birds("revoke", "birds", "cora", "--json"))["revoked"]
    after = document(birds("workers", "birds", "--json"))["workers"]
    assert {each["name"]: each["revoked"] for each in after} == {
        "ann": True,
        "bob": False,
        "cora": True,
    }
    assert (before[0]["answers"], after[0]["answers"], after[0]["leases"]) == (5, 5, 0)
    code, _, err = birds("ask", "birds", "--worker", "ann")
    assert code != 0
    assert "who was revoked" in err
    code, _, err = birds("revoke", "birds", "eve")
    assert code != 0
    assert "must have come or been invited, got 'eve'" in " ".join(err.split())
