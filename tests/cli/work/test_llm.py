"""``askfew work llm``: a model answers; a bad key, model or endpoint is one sentence."""

from pathlib import Path
from typing import Any

import pytest

from askfew.campaigns.campaign import Campaign
from campaign_tools import assert_refused
from commands import Command
from fake_endpoint import FakeEndpoint


def yes(body: dict[str, Any]) -> str:
    return '{"answer": "yes"}'


def test_a_model_answers(work: Command, campaign: Campaign) -> None:
    with FakeEndpoint(yes).running() as endpoint:
        code, out, err = work("work", "llm", "birds", "--model", "tiny", "--base-url", endpoint.url)
    assert code == 0, err
    assert out.startswith("tiny: 24 answered; the campaign is over.\n24 calls, ")
    assert len(Path("askfew-llm.jsonl").read_text().splitlines()) == 24


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["llm", "birds"], "a model must be named"),
        (["llm", "birds", "--model", "m", "--worker", "rex"], "'rex', who was revoked"),
        (["llm", "birds", "--model", "m", "--max-cost", "1"], "every model must have a price"),
        (["llm", "birds", "--model", "m", "--config", "t.toml"], "mine.j2 may name"),
        (["llm", "birds", "--model", "m", "--config", "gone.toml"], "this file must exist"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_leased(
    work: Command, campaign: Campaign, arguments: list[str], sentence: str
) -> None:
    campaign.revoke("rex")
    Path("t.toml").write_text('template = "mine.j2"')
    Path("mine.j2").write_text("{{ item }} {{ colour }}")
    assert_refused(campaign, work("work", *arguments), 2, sentence)


def test_no_key_no_work(work: Command, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    said = work("work", "llm", "birds", "--model", "m")
    assert_refused(campaign, said, 2, "must be in the environment variable OPENAI_API_KEY")


def test_a_wrong_key_is_said_and_not_shown(work: Command, campaign: Campaign) -> None:
    with FakeEndpoint(yes, key="another").running() as endpoint:
        said = work("work", "llm", "birds", "--model", "m", "--base-url", endpoint.url)
    assert_refused(campaign, said, 2, "must accept the key, got HTTP 401")
    assert "sk-test-key" not in said[1] + said[2] + Path("askfew-llm.jsonl").read_text()


def test_an_endpoint_out_of_reach_is_said(work: Command, campaign: Campaign) -> None:
    Path("llm.toml").write_text("attempts = 2\nbackoff = 0.01")
    said = work(
        *("work", "llm", "birds", "--model", "m", "--config", "llm.toml"),
        *("--base-url", "http://127.0.0.1:9/v1"),
    )
    assert_refused(
        campaign, said, 1, "the endpoint http://127.0.0.1:9/v1/ must answer, got no connection"
    )
