"""``askfew work python``: functions and batches; Ctrl-C hands back what is held."""

import os
import signal
import subprocess
import sys
import time

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.status import status_of
from campaign_tools import answers_of, assert_refused
from commands import Command


def test_a_function_answers(work: Command, campaign: Campaign) -> None:
    code, out, err = work("work", "python", "birds", "judge:answer", "--threads", 2)
    assert (code, out) == (0, "judge:answer: 24 answered; the campaign is over.\n"), err
    assert {row.worker for row in answers_of(campaign)} == {"judge:answer"}


def test_an_instrument_answers_by_plates(work: Command, campaign: Campaign) -> None:
    arguments = ("work", "python", "birds", "judge:plate", "--plate", 96, "--worker", "reader")
    code, out, err = work(*arguments)
    assert (code, out) == (0, "reader: 24 answered; the campaign is over.\n"), err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["python", "birds", "judge:gone"], "the function judge:gone must be importable"),
        (["python", "birds", "nowhere:f"], "the function nowhere:f must be importable"),
        (["python", "birds", "judge:answer", "--plate", "96"], "judge:answer must take a batch"),
        (["python", "birds", "judge:asynchronous", "--processes", "2"], "must not be async"),
        (["python", "fish", "judge:answer"], "a campaign of this store must be one of: birds"),
        (["python", "birds", "judge:answer", "--worker", "rex"], "'rex', who was revoked"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_leased(
    work: Command, campaign: Campaign, arguments: list[str], sentence: str
) -> None:
    campaign.revoke("rex")
    assert_refused(campaign, work("work", *arguments), 2, sentence)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_hands_back_what_is_held(
    work: Command, campaign: Campaign, by: signal.Signals
) -> None:
    arguments = ("work", "python", "birds", "judge:sleeps", "--threads", "2")
    process = subprocess.Popen(
        [sys.executable, "-m", "askfew", *arguments], stderr=subprocess.PIPE, env=os.environ
    )
    try:
        until = time.monotonic() + 60
        while not answers_of(campaign) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(by)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1
    assert err.decode().strip().splitlines()[-1] == "askfew: stopped"
    assert 0 < len(answers_of(campaign)) < 24
    assert status_of(campaign).leased == 0
