"""A whole campaign against an endpoint that fails in every way, and its books."""

import asyncio
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from askfew.answers import YesNo
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.workers.llm.config import Price
from askfew.workers.llm.prompt import parse_answer
from campaign_tools import answers_of
from commands import Command
from fake_endpoint import Call, FakeEndpoint, prompt_of

MODELS = ("large", "small", "tiny")
PRICE = Price(1000.0, 4000.0)
CONFIG = """
models = ["large", "small", "tiny"]
timeout = 3
backoff = 0.01
attempts = 10
concurrency = 8
paraphrases = ["{{ question }}", "Put differently: {{ question }}"]
[prices]
large = { input = 1000, output = 4000 }
small = { input = 1000, output = 4000 }
tiny = { input = 1000, output = 4000 }
"""
PATIENT = CONFIG.replace("timeout = 3", "timeout = 60")
"""Where every call is answered sooner or later, none may be given up on a busy machine."""


def group(item: int) -> int:
    return item * 7 % 3 % 2


def judge(body: dict[str, Any], rng: random.Random = random.Random(3)) -> str:  # noqa: B008
    """Right 49 times in 50 on every fourth question; a coin on the others."""
    prompt = prompt_of(body)
    item, question = (int(re.findall(rf"{what} number (\d+)", prompt)[0]) for what in ("Item", "Q"))
    chance = 0.5 if question % 4 else 0.98 if group(item) else 0.02
    word = "yes" if rng.random() < chance else "no"
    return f'{{"answer": "{word}"}}'


def hundred(store: Store, items: int = 100) -> Campaign:
    settings = {
        "name": "hundred",
        "delta": 0.001,
        "answers_per_worker_and_cell": 100,
        "seed": 1,
        "step_timeout": 5,
        "guidelines": "Look closely.",
    }
    return store.create(
        Settings.from_dict(settings),
        [Item(f"i{number}", f"Item number {number}") for number in range(items)],
        [Question(f"q{number}", f"Q number {number}?") for number in range(20)],
    )


def identity(request: dict[str, Any]) -> tuple[int, str]:
    """Of a call: two of thousands may have the same seed of 31 bits, but no two the same prompt."""
    return request["seed"], prompt_of(request)


def exchanges(file: str = "askfew-llm.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text().splitlines()]


def test_a_campaign_finishes_on_an_endpoint_that_fails_in_every_way(
    askfew: Command, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = hundred(store)
    Path("llm.toml").write_text(CONFIG)
    # Few are slow, and the others have time: where all calls come too late, as they may on a busy
    # machine, the worker ends.
    failing = FakeEndpoint(judge, errors=0.1, limited=0.05, garbage=0.05, slow=0.002)
    monkeypatch.setenv("OPENAI_API_KEY", failing.key)
    with failing.running() as endpoint:
        code, out, err = askfew(
            "work", "llm", "hundred", "--config", "llm.toml", "--base-url", endpoint.url, "--json"
        )
    assert code == 0, err
    outcome = campaign.outcome()
    assert outcome is not None
    assert outcome.status == "done"
    # Which group is called 0 depends on the answers, and these on how busy the machine is.
    first = outcome.labels[0] ^ group(0)
    assert outcome.labels == [group(item) ^ first for item in range(100)]

    # No answer that the endpoint did not give.
    log = exchanges()
    said = {each["id"]: each for each in log if each["status"] == "ok"}
    calls = {identity(call.body): call for call in endpoint.calls}
    for row in answers_of(campaign):
        exchange = said[row.id]
        call = calls[identity(exchange["request"])]
        assert call.outcome == "answer"
        assert parse_answer(YesNo(), call.text) == row.value
    assert status_of(campaign).leased == 0

    # The books agree with the endpoint's, call by call. A client that gives up early may have
    # booked a call that the endpoint never came to read; never the other way round.
    booked_calls = {identity(each["request"]): each for each in log}
    assert len(booked_calls) == len(log)
    assert calls.keys() <= booked_calls.keys()
    for one, each in booked_calls.items():
        booked = (each["prompt_tokens"], each["completion_tokens"])
        assert each["cost"] == PRICE.of(*booked)
        seen = calls.get(one)
        if seen is None:
            assert each["booked_by"] != "usage"
        elif each["booked_by"] == "usage":
            assert booked == seen.tokens
        elif each["booked_by"] == "nothing":
            assert seen.outcome in ("error", "limited")
        else:
            assert each["cost"] > PRICE.of(*seen.tokens)
    timed_out = {one for one, each in booked_calls.items() if each["booked_by"] == "reservation"}
    completed = [call for call in endpoint.completed() if identity(call.body) not in timed_out]
    told = json.loads(out)
    assert told["prompt_tokens"] == sum(call.tokens[0] for call in completed)
    assert told["completion_tokens"] == sum(call.tokens[1] for call in completed)
    assert told["cost"] == pytest.approx(sum(each["cost"] for each in log))
    assert told["calls_booked_at_their_reservation"] == len(timed_out) > 0

    # The key is in the headers, and nowhere else.
    assert {call.key for call in endpoint.calls} == {f"Bearer {endpoint.key}"}
    secret = endpoint.key.encode()
    assert not any(secret in call.raw for call in endpoint.calls)
    files = [file for file in Path().rglob("*") if file.is_file()]
    assert not any(secret in file.read_bytes() for file in files)
    assert endpoint.key not in out + err

    # Fresh draws: a seed for every call (but for chance), paraphrases in turn.
    assert len(calls) == len(endpoint.calls)
    assert len({seed for seed, _ in calls}) > len(calls) - 5
    assert {each["paraphrase"] for each in log} == {0, 1}


def test_max_cost_holds_also_for_the_next_run(
    askfew: Command, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = hundred(store)
    Path("llm.toml").write_text(PATIENT)
    endpoint = FakeEndpoint(judge, errors=0.1, latency=0.02)
    monkeypatch.setenv("OPENAI_API_KEY", endpoint.key)
    with endpoint.running():
        work = ("work", "llm", "hundred", "--config", "llm.toml", "--base-url", endpoint.url)
        code, out, err = askfew(*work, "--max-cost", 8, "--json")
        assert code == 0, err
        spent = json.loads(out)["cost"]
        bill = sum(PRICE.of(*call.tokens) for call in endpoint.completed())
        assert spent == pytest.approx(bill)
        assert 6 < spent <= 8
        assert "of at most 8 are spent" in json.loads(out)["workers"][0]["ended"]
        assert campaign.state == "running"
        assert status_of(campaign).leased == 0
        before = len(endpoint.calls)
        code, out, err = askfew(*work, "--max-cost", 8, "--json")
        assert code == 0, err
        assert json.loads(out)["cost"] <= 8
        assert len(endpoint.calls) <= before + 3


class BothAtOnce(FakeEndpoint):
    """Answers nobody before two models have called: neither is to spend all before the other."""

    async def reply(self, call: Call, reader: asyncio.StreamReader) -> tuple[int, str, list[str]]:
        while len({each.body["model"] for each in self.calls}) < 2:
            await asyncio.sleep(0.01)
        return await super().reply(call, reader)


def test_max_cost_holds_for_processes_that_share_a_log(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    hundred(store)
    Path("llm.toml").write_text(PATIENT)
    endpoint = BothAtOnce(judge, latency=0.02)
    monkeypatch.setenv("OPENAI_API_KEY", endpoint.key)
    work = [sys.executable, "-m", "askfew", "work", "llm", "hundred", "--config", "llm.toml"]
    work += ["--concurrency", "2", "--max-cost", "8", "--json"]
    with endpoint.running():
        processes = [
            subprocess.Popen(
                [*work, "--base-url", endpoint.url, "--model", name, "--worker", name],
                stdout=subprocess.PIPE,
            )
            for name in ("small", "tiny")
        ]
        said = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    bill = [PRICE.of(*call.tokens) for call in endpoint.completed()]
    assert 6 < sum(bill) <= 8 + 4 * max(bill)
    assert all("of at most 8 are spent" in each["workers"][0]["ended"] for each in said)
    assert all(each["calls"] > 0 for each in said)
