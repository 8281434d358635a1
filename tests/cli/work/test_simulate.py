"""``askfew work simulate``: a rehearsal from the folder to the result."""

import json
from pathlib import Path

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.folder.template import write_template
from campaign_tools import assert_refused
from commands import Command


def test_a_campaign_is_rehearsed_from_its_folder_to_its_result(work: Command) -> None:
    write_template("birds")
    toml = Path("birds/campaign.toml")
    toml.write_text(toml.read_text().replace("cell = 1", "cell = 1000"))
    assert work("create", "birds")[0] == 0
    swimmers = ["mallard", "puffin", "swan", "penguin"]
    others = ["robin", "owl", "woodpecker", "swallow"]
    rows = [f"{bird},{bird in swimmers}" for bird in swimmers + others]
    Path("truth.csv").write_text("\n".join(["id,group", *rows]))
    code, out, err = work(
        *("work", "simulate", "birds", "--groups", "truth.csv", "--workers", 3, "--json"),
        *("--reliability", 0.97, "--reliability", "song=0.5"),
    )
    assert code == 0, err
    worked = json.loads(out)["workers"]
    assert [each["worker"] for each in worked] == [f"simulated {n}" for n in (1, 2, 3)]
    found = json.loads(work("result", "birds", "--json")[1])
    assert found["status"] == "done"
    groups = {each["item"]: each["group"] for each in found["items"]}
    assert {groups[bird] for bird in swimmers} != {groups[bird] for bird in others}
    assert len({groups[bird] for bird in swimmers}) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["simulate", "birds", "--worker", "rex"], "'rex', who was revoked"),
        (["simulate", "birds", "--reliability", "2"], "a reliability must lie strictly between"),
        (["simulate", "birds", "--reliability", "typo=0.9"], "q0, q1, q2, q3, got 'typo'"),
        (["simulate", "birds", "--server", "http://x"], "a server needs a token"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_leased(
    work: Command, campaign: Campaign, arguments: list[str], sentence: str
) -> None:
    campaign.revoke("rex")
    assert_refused(campaign, work("work", *arguments), 2, sentence)
