"""An owner closes a campaign: what closed steps certified is its outcome. On both stores."""

from pathlib import Path

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import campaigns, steps
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange.moving import export_campaign, import_campaign
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from campaign_tools import answer_by, by_rule, frugal, sweep, two_kinds


def closed_half_way(store: Store) -> Campaign:
    """Some items are certified, a step is open, and somebody has answered part of it."""
    campaign, means = by_rule(store, rows=20), two_kinds(20)
    while not 0 < status_of(campaign).decided < 20:
        answer_by(campaign, means, most=40, seed=status_of(campaign).answers)
        assert campaign.state == "running"
    answer_by(campaign, means, most=1)
    campaign.close()
    return campaign


def test_what_was_certified_stays_certified_and_the_rest_has_guesses(store: Store) -> None:
    campaign = closed_half_way(store)
    assert campaign.state == "closed"
    found = result_of(campaign)
    assert (found.status, found.state) == ("closed", "closed")
    assert found.reason.endswith(
        "got its owner's word to close it: a new one with --reuse goes on with its answers"
    )
    certified = [each for each in found.items if each.state == "certified"]
    assert 0 < len(certified) < 20
    assert found.certificate_text is not None
    assert found.certificate_text.startswith(f"{len(certified)} labels are right about the rule")
    assert {each.undecided for each in found.undecided} == {"too few answers"}
    guesses = np.array([each.guess for each in found.items])
    assert len({tuple(guesses[::2]), tuple(guesses[1::2])}) == 2
    assert "nothing is promised" not in report_html(campaign).lower().split("guess")[0]
    assert examine_store(store.database).sound


def test_answers_of_the_open_step_do_not_count(store: Store) -> None:
    campaign = closed_half_way(store)
    outcome = campaign.outcome()
    assert outcome is not None
    with campaign.database.read() as connection:
        counts = connection.execute(
            steps.select().where(steps.c.campaign == campaign.id, steps.c.closed.is_not(None))
        ).all()
    closed = sum(int(np.frombuffer(row.counts, dtype="<i8").sum()) for row in counts)
    assert outcome.answers == closed < status_of(campaign).answers


def test_before_anything_is_known_nothing_is_promised(store: Store) -> None:
    for campaign in (frugal(store), by_rule(store), sweep(store)):
        campaign.pause()
        campaign.close()
        campaign.close()  # again: nothing happens
        found = result_of(campaign)
        assert (found.status, found.certificate) == ("closed", None)
        assert {each.state for each in found.items} == {"undecided"}
    assert examine_store(store.database).sound


def test_a_closed_campaign_moves_to_another_store(store: Store, tmp_path: Path) -> None:
    campaign, file = closed_half_way(store), tmp_path / "closed.askfew"
    export_campaign(campaign, file)
    moved = import_campaign(store, file, "moved")
    assert moved.outcome() == campaign.outcome()


def test_another_outcome_than_the_closed_steps_say_is_found(store: Store) -> None:
    campaign = closed_half_way(store)
    outcome = campaign.outcome()
    assert outcome is not None
    stored = str(outcome.labels)
    with campaign.database.write() as connection:
        text = connection.execute(campaigns.select()).one().outcome
        assert stored in text
        forged = text.replace(stored, str([0] * 20))
        connection.execute(campaigns.update().values(outcome=forged))
    (verdict,) = examine_store(store.database).campaigns
    assert verdict.problems == ("its result is not what the method finds (labels)",)


def test_a_campaign_that_cannot_be_replayed_can_still_be_closed(store: Store) -> None:
    campaign = frugal(store)
    answer_by(campaign, two_kinds(6, 3), most=20)
    with campaign.database.write() as connection:
        connection.execute(steps.update().where(steps.c.number == 0).values(seal="0" * 64))
    campaign.close()
    assert (campaign.state, campaign.outcome()) == ("closed", None)
    assert "no outcome was kept" in report_html(campaign)
