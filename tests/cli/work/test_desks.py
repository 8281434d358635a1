"""Where workers work: the store of a campaign, or a server."""

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.cli.work.desks import USUAL_DESK
from askfew.workers.shift import ShiftReport
from campaign_tools import assert_refused
from commands import Command


def test_every_worker_has_a_desk_of_its_own(work: Command, campaign: Campaign) -> None:
    with USUAL_DESK.open("birds", ["ann", "bob"]) as desks:
        first, second = (desk.ask(1).questions[0] for desk in desks)
    assert [desk.worker for desk in desks] == ["ann", "bob"]
    assert first.id != second.id


def test_a_report_names_only_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = ShiftReport("ann", answered=1200, ended="the campaign is over")
    busy = ShiftReport("bob", 1, skipped=2, handed_back=3, refused=4, ended="stopped")
    USUAL_DESK.print([quiet, busy], bill="3 calls.")
    assert capsys.readouterr().out.splitlines() == [
        "ann: 1,200 answered; the campaign is over.",
        "bob: 1 answered, 2 without an answer, 3 handed back, 4 too late; stopped.",
        "3 calls.",
    ]


def test_a_server_out_of_reach_is_said(work: Command, campaign: Campaign) -> None:
    said = work("work", "simulate", "birds", "--server", "http://127.0.0.1:9", "--token", "x")
    assert_refused(campaign, said, 2, "the server must answer, got http://127.0.0.1:9")
