"""``askfew work`` as a terminal runs it: rehearsals, and one sentence for what is wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.folder.template import write_template
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from campaign_tools import answers_of, sweep
from commands import Command, command
from fake_endpoint import FakeEndpoint

JUDGE = """
import time
def answer(item, question):
    return item.id in ("i0", "i1")
def plate(batch):
    return [True for _ in batch]
async def asynchronous(item, question):
    return True
def sleeps(item, question):
    time.sleep(0.1)
    return True
"""


@pytest.fixture
def askfew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-0123456789")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "judge", raising=False)
    (tmp_path / "judge.py").write_text(JUDGE)
    return command(tmp_path, monkeypatch, capfd)


@pytest.fixture
def campaign(askfew: Command) -> Iterator[Campaign]:
    store = Store("sqlite:///askfew.db")
    yield sweep(store, rows=6, columns=4, name="birds")
    store.close()


def yes(body: dict[str, Any]) -> str:
    return '{"answer": "yes"}'


def test_a_campaign_is_rehearsed_from_its_folder_to_its_result(askfew: Command) -> None:
    write_template("birds")
    toml = Path("birds/campaign.toml")
    toml.write_text(toml.read_text().replace("cell = 1", "cell = 1000"))
    assert askfew("create", "birds")[0] == 0
    swimmers = ["mallard", "puffin", "swan", "penguin"]
    others = ["robin", "owl", "woodpecker", "swallow"]
    rows = [f"{bird},{bird in swimmers}" for bird in swimmers + others]
    Path("truth.csv").write_text("\n".join(["id,group", *rows]))
    code, out, err = askfew(
        *("work", "simulate", "birds", "--groups", "truth.csv", "--workers", 3, "--json"),
        *("--reliability", 0.97, "--reliability", "song=0.5"),
    )
    assert code == 0, err
    worked = json.loads(out)["workers"]
    assert [each["worker"] for each in worked] == [f"simulated {n}" for n in (1, 2, 3)]
    found = json.loads(askfew("result", "birds", "--json")[1])
    assert found["status"] == "done"
    groups = {each["item"]: each["group"] for each in found["items"]}
    assert {groups[bird] for bird in swimmers} != {groups[bird] for bird in others}
    assert len({groups[bird] for bird in swimmers}) == 1


@pytest.mark.parametrize(("limit", "warned"), [(10, True), (100_000, False)])
def test_create_says_when_one_model_alone_cannot_finish(
    askfew: Command, limit: int, warned: bool
) -> None:
    write_template("birds")
    toml = Path("birds/campaign.toml")
    text = toml.read_text().replace('method = "rule"', 'method = "frugal"')
    toml.write_text(text.replace("cell = 1", f"cell = {limit}"))
    code, _, err = askfew("create", "birds")
    assert code == 0
    assert ("one model alone" in " ".join(err.split())) == warned


def test_a_function_answers(askfew: Command, campaign: Campaign) -> None:
    code, out, err = askfew("work", "python", "birds", "judge:answer", "--threads", 2)
    assert (code, out) == (0, "judge:answer: 24 answered; the campaign is over.\n"), err
    assert {row.worker for row in answers_of(campaign)} == {"judge:answer"}


def test_an_instrument_answers_by_plates(askfew: Command, campaign: Campaign) -> None:
    arguments = ("work", "python", "birds", "judge:plate", "--plate", 96, "--worker", "reader")
    code, out, err = askfew(*arguments)
    assert (code, out) == (0, "reader: 24 answered; the campaign is over.\n"), err


def test_a_model_answers(askfew: Command, campaign: Campaign) -> None:
    with FakeEndpoint(yes).running() as endpoint:
        code, out, err = askfew(
            "work", "llm", "birds", "--model", "tiny", "--base-url", endpoint.url
        )
    assert code == 0, err
    assert out.startswith("tiny: 24 answered; the campaign is over.\n24 calls, ")
    assert len(Path("askfew-llm.jsonl").read_text().splitlines()) == 24


def failing(campaign: Campaign, said: tuple[int, str, str], code: int, sentence: str) -> None:
    assert said[0] == code, said
    assert sentence in said[2]
    last = said[2].strip().splitlines()[-1]
    assert last.startswith("askfew: ")
    assert "Traceback" not in last
    assert status_of(campaign).leased == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["python", "birds", "judge:gone"], "the function judge:gone must be importable"),
        (["python", "birds", "nowhere:f"], "the function nowhere:f must be importable"),
        (["python", "birds", "judge:answer", "--plate", "96"], "judge:answer must take a batch"),
        (["python", "birds", "judge:asynchronous", "--processes", "2"], "must not be async"),
        (["python", "fish", "judge:answer"], "a campaign of this store must be one of: birds"),
        (["python", "birds", "judge:answer", "--worker", "rex"], "'rex', who was revoked"),
        (["simulate", "birds", "--worker", "rex"], "'rex', who was revoked"),
        (["simulate", "birds", "--reliability", "2"], "a reliability must lie strictly between"),
        (["simulate", "birds", "--reliability", "typo=0.9"], "q0, q1, q2, q3, got 'typo'"),
        (["simulate", "birds", "--server", "http://x"], "a server needs a token"),
        (["llm", "birds"], "a model must be named"),
        (["llm", "birds", "--model", "m", "--worker", "rex"], "'rex', who was revoked"),
        (["llm", "birds", "--model", "m", "--max-cost", "1"], "every model must have a price"),
        (["llm", "birds", "--model", "m", "--config", "t.toml"], "mine.j2 may name"),
        (["llm", "birds", "--model", "m", "--config", "gone.toml"], "this file must be there"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_kept(
    askfew: Command, campaign: Campaign, arguments: list[str], sentence: str
) -> None:
    campaign.revoke("rex")
    Path("t.toml").write_text('template = "mine.j2"')
    Path("mine.j2").write_text("{{ item }} {{ colour }}")
    failing(campaign, askfew("work", *arguments), 2, sentence)


def test_no_key_no_work(
    askfew: Command, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    said = askfew("work", "llm", "birds", "--model", "m")
    failing(campaign, said, 2, "must be in the environment variable OPENAI_API_KEY")


def test_a_wrong_key_is_said_and_not_shown(askfew: Command, campaign: Campaign) -> None:
    with FakeEndpoint(yes, key="another").running() as endpoint:
        said = askfew("work", "llm", "birds", "--model", "m", "--base-url", endpoint.url)
    failing(campaign, said, 2, "must accept the key, got HTTP 401")
    assert "sk-test-key" not in said[1] + said[2] + Path("askfew-llm.jsonl").read_text()


def test_an_endpoint_out_of_reach_is_said(askfew: Command, campaign: Campaign) -> None:
    Path("llm.toml").write_text("attempts = 2\nbackoff = 0.01")
    said = askfew(
        *("work", "llm", "birds", "--model", "m", "--config", "llm.toml"),
        *("--base-url", "http://127.0.0.1:9/v1"),
    )
    failing(campaign, said, 1, "the endpoint http://127.0.0.1:9/v1/ must answer, got no connection")


def test_a_server_out_of_reach_is_said(askfew: Command, campaign: Campaign) -> None:
    said = askfew("work", "simulate", "birds", "--server", "http://127.0.0.1:9", "--token", "x")
    failing(campaign, said, 2, "the server must answer, got http://127.0.0.1:9")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_hands_back_what_is_held(
    askfew: Command, campaign: Campaign, by: signal.Signals
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
