"""What is said of a campaign by rule, during it and after it: labels, guesses, reasons."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askfew import Rule
from askfew.answers import Scale, YesNo
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.exchange.exporting import text_of
from askfew.campaigns.exchange.moving import export_campaign, import_campaign
from askfew.campaigns.reading.knowledge import guesses_of, knowledge_of
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import RESULT_COLUMNS, result_of
from askfew.campaigns.reading.rules import divisions_of, rule_lines
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from campaign_tools import answer_by, by_rule, questions, three_kinds, two_kinds

pytestmark = pytest.mark.on_sqlite

ANCHORS = {0: "owl", 1: "duck", 2: "heron", 3: "owl", 4: "duck", 5: "heron"}


def words(html: str) -> str:
    """A page without its marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html.partition("<body>")[2]))


def known_of(campaign: Campaign) -> tuple[Any, Any]:
    with campaign.database.snapshot() as connection:
        known = knowledge_of(connection, campaign)
        return known, guesses_of(connection, campaign, known)


def test_while_it_learns_there_are_guesses_from_closed_steps(store: Store) -> None:
    campaign = by_rule(store, rows=20)
    known, guesses = known_of(campaign)
    assert (known.phase, known.rule, known.promised) == ("learn", None, False)
    assert (known.labels == -1).all()
    assert guesses.confidence.tolist() == [0.5] * 20  # nothing has been counted yet
    step = status_of(campaign).open
    answer_by(campaign, two_kinds(20), most=step - 1)
    assert known_of(campaign)[1].confidence.tolist() == [0.5] * 20
    answer_by(campaign, two_kinds(20), most=1)
    _, guesses = known_of(campaign)
    agree = (guesses.groups == np.arange(20) % 2).mean()
    assert max(agree, 1 - agree) > 0.9
    found = result_of(campaign)
    assert found.status is None
    assert {each.state for each in found.items} == {"undecided"}


def test_while_it_certifies_there_is_a_rule_and_labels_that_stay(store: Store) -> None:
    campaign, means = by_rule(store, rows=20), two_kinds(20)
    while not 0 < status_of(campaign).decided < 20:
        answer_by(campaign, means, most=40, seed=status_of(campaign).answers)
        assert campaign.state == "running"
    known, guesses = known_of(campaign)
    assert known.phase == "certify"
    assert known.promised
    assert {each.id for each in known.divisions[0].questions} <= {"q0", "q1", "q2", "q3"}
    labelled = known.labels >= 0
    assert (guesses.groups[labelled] == known.labels[labelled]).all()
    assert known.state(int(np.flatnonzero(labelled)[0])) == "certified"
    assert "No certificate yet" in words(report_html(campaign))
    answer_by(campaign, means, seed=1)
    assert (known_of(campaign)[0].labels[labelled] == known.labels[labelled]).all()


def test_undecided_items_have_a_reason_a_guess_and_their_picture(store: Store) -> None:
    picture = bytes.fromhex("89504e470d0a1a0a") + b" of an odd one"
    odd = [3, 8]
    contents = [Item(f"i{n}", "", picture if n in odd else None) for n in range(20)]
    settings = {"name": "odd", "delta": 0.1, "seed": 1, "answers_per_worker_and_cell": 10_000}
    campaign = store.create(Settings.from_dict(settings), contents, questions(6))
    answer_by(campaign, two_kinds(20, between=(3, 8)), seed=4)
    found = result_of(campaign)
    assert found.status == "undecided"
    assert [each.item for each in found.undecided] == ["i3", "i8"]
    for each in found.undecided:
        assert (each.state, each.undecided) == ("undecided", "between the groups")
        assert each.guess in (0, 1)
        assert 0.5 <= each.confidence <= 1
    assert found.certificate_text is not None
    assert found.certificate_text.startswith("18 labels are right about the rule below")
    assert "2 items are undecided, with no promise." in found.certificate_text
    html = report_html(campaign)
    said = words(html)
    assert "Undecided: between the groups (2)" in said
    assert html.count("data:image/png") == 2
    assert "nothing is promised about them" not in said
    assert said.index("The rule") < said.index("Certificate") < said.index("Groups")
    assert "Nothing is promised about guesses" in said
    rows = [dict(zip(RESULT_COLUMNS, row, strict=True)) for row in found.rows]
    assert rows[3]["group"] is None
    assert rows[3]["undecided"] == "between the groups"
    assert rows[0]["group"] == rows[0]["guess"]


def test_at_its_cap_what_was_certified_stays_certified(store: Store) -> None:
    campaign = by_rule(store, rows=20, max_answers=530)
    answer_by(campaign, two_kinds(20), seed=1)
    found = result_of(campaign)
    assert found.status == "budget"
    certified = sum(each.state == "certified" for each in found.items)
    assert 0 < certified < 20
    assert found.certificate is not None
    assert found.certificate["certified"] == certified
    said = words(report_html(campaign))
    assert f"{certified} label" in said
    assert "nothing is promised about them" not in said
    assert "too few answers" in said


def test_no_consensus_has_guesses_and_no_promise(store: Store) -> None:
    campaign = by_rule(store, rows=20, columns=6)
    means = np.array([[0.1 if (n >> q) % 2 else 0.9 for q in range(6)] for n in range(20)])
    answer_by(campaign, means)
    found = result_of(campaign)
    assert found.status == "no-consensus"
    assert found.certificate is None
    assert found.rule is None
    assert all(each.group is None for each in found.items)
    said = words(report_html(campaign))
    assert "no split is carried by several questions" in said
    assert "what follows are guesses" in said
    with pytest.raises(InvalidInput, match="must have ended with a rule"):
        text_of(campaign, "rule")


def three_groups(store: Store) -> Campaign:
    contents = [Item(f"i{n}", group=ANCHORS.get(n, "")) for n in range(24)]
    settings = {"name": "birds", "groups": 3, "answers_per_worker_and_cell": 10_000}
    return store.create(Settings.from_dict(settings), contents, questions(6))


def test_three_groups_by_the_names_of_their_anchors(store: Store, tmp_path: Path) -> None:
    campaign = three_groups(store)
    known, _ = known_of(campaign)
    assert known.groups == ("owl", "duck", "heron")
    assert [known.state(n) for n in (0, 5, 6)] == ["told", "told", "undecided"]
    answer_by(campaign, three_kinds(24), seed=3)
    found = result_of(campaign)
    assert (found.status, found.group_names) == ("done", ("owl", "duck", "heron"))
    assert [each.group for each in found.items] == [n % 3 for n in range(24)]
    assert [each.state for each in found.items] == ["told"] * 6 + ["certified"] * 18
    assert found.rule_text is not None
    assert "among " in found.rule_text
    said = words(report_html(campaign))
    assert all(f"{name} (8)" in said for name in ("owl", "duck", "heron"))
    assert ", an anchor" in said
    assert "6 anchors keep the group that you gave" in said
    rule = Rule.from_dict(json.loads(text_of(campaign, "rule")[0]))
    assert rule.groups == ("owl", "duck", "heron")
    assert rule.learnt_from
    export_campaign(campaign, tmp_path / "birds.askfew")
    moved = import_campaign(store, tmp_path / "birds.askfew", "moved")
    assert result_of(moved).rows == found.rows
    assert "attested by the exporter" in words(report_html(moved))


def test_a_rule_in_words() -> None:
    texts = {"q1": "Does it swim?"}
    rule = Rule.cut("q1", 0.48)
    assert rule_lines(divisions_of(rule, YesNo(), texts)) == [
        "group 1 if its answers, taken together, are as follows, else group 0:",
        "  Does it swim?: yes more often than 48 %",
    ]
    (division,) = divisions_of(Rule.cut("q2", 3.2, ["bad", "good"]), Scale(1, 5), texts)
    assert (division.group, division.other) == ("good", "bad")
    assert division.questions[0].way == "above 3.2 on average"


def test_people_bound_the_answers_per_cell(store: Store) -> None:
    campaign = by_rule(store, rows=12, people=2, answers_per_worker_and_cell=2)
    answer_by(campaign, two_kinds(12))
    with campaign.database.read() as connection:
        most = connection.exec_driver_sql(
            "SELECT max(n) FROM (SELECT count(*) AS n FROM slots GROUP BY item, question)"
        ).scalar_one()
    assert most == 4
    assert campaign.state == "ended"


def test_items_of_a_running_campaign_are_not_told_apart_by_open_answers(store: Store) -> None:
    """Flip every value of the open step: nothing that is shown changes but the counts."""
    shown = []
    for flip in (False, True):
        campaign = by_rule(store, rows=20, name=f"flip {flip}")
        answer_by(campaign, two_kinds(20), most=status_of(campaign).open)
        open_now = status_of(campaign).open
        means = two_kinds(20)
        answer_by(campaign, 1 - means if flip else means, most=open_now - 1, seed=9)
        shown.append([(each.guess, each.confidence) for each in result_of(campaign).items])
    assert shown[0] == shown[1]
