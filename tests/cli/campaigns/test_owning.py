"""``askfew invite``, ``pause``, ``resume``, ``close``, ``workers``, ``revoke``."""

from pathlib import Path

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


def test_people_are_invited_by_links_that_are_shown_once(birds: Command) -> None:
    Path("names.csv").write_text("team,name\nred,cora\nred,dan\n")
    names = ("ann", "bob smith", "--file", "names.csv", "--url", "https://ask.example.org/")
    code, out, err = birds("invite", "birds", *names)
    assert (code, err) == (0, "")
    lines = dict(line.split("\t") for line in out.splitlines())
    assert list(lines) == ["ann", "bob smith", "cora", "dan"]
    assert all(link.startswith("https://ask.example.org/i/") for link in lines.values())
    again = document(birds("invite", "birds", "ann", "eve", "--json"))
    assert again["links"]["ann"] is None  # the link stays good
    assert again["only_here"]
    code, out, err = birds("invite", "birds", "ann")
    assert (code, out) == (0, "")
    assert "by the link that they have already: ann." in " ".join(err.split())
    code, out, err = birds("invite", "birds", "ann", "--anew")
    assert (code, out.partition("\t")[0]) == (0, "ann")
    assert "opens on this machine only" in " ".join(err.split())
    opened = document(birds("invite", "birds", "--open", 20, "--json"))
    assert (opened["links"], "/join/" in opened["open_link"]) == ({}, True)
    invited = document(birds("workers", "birds", "--json"))["workers"]
    assert sorted(each["name"] for each in invited) == sorted([*lines, "eve"])


def test_names_of_a_spreadsheet_are_the_names(birds: Command) -> None:
    Path("names.csv").write_bytes("\ufeffteam;name\r\nred;Jürgen Maier\r\nred;Ana\r\n".encode())
    made = document(birds("invite", "birds", "--file", "names.csv", "--json"))
    assert list(made["links"]) == ["Jürgen Maier", "Ana"]


def test_an_invitation_that_cannot_be_made_is_a_sentence(birds: Command) -> None:
    Path("latin.csv").write_bytes("name\nann\nJürgen\n".encode("latin-1"))
    Path("quotes.csv").write_text('name\n"ann\n')
    for wrong, said in (
        ([], "there must be names"),
        (["--file", "nowhere.csv"], "nowhere.csv: the file of names must be readable, got No such"),
        (["--file", "latin.csv"], "the file of names line 3: the text must be UTF-8, got the byte"),
        (["--file", "quotes.csv"], "the file of names must be CSV, got an error"),
        (["ann", "--url", "ask.example.org"], "the address for links must be"),
        (["--open", "0"], "must be from 1 to"),
    ):
        code, out, err = birds("invite", "birds", *wrong)
        assert (code, out) == (2, "")
        assert said in " ".join(err.split())
    assert document(birds("workers", "birds", "--json"))["workers"] == []


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
        "ann gets no more questions. Their answers count.\n",
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
