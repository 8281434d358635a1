"""Four workers of two kinds answer over HTTP at once, and one is killed: nobody could tell."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from campaign_tools import answer_all, answers_of, fixed_answer, frugal, log_of
from commands import Command
from fake_endpoint import Call, FakeEndpoint, prompt_of
from servers import Served, serving

PATIENCE = 120.0
ITEMS, QUESTIONS = 200, 4

JUDGE = """
import time
from pathlib import Path
from askfew.campaigns.campaign import Assignment, Shown
from campaign_tools import fixed_answer

def plates(batch):
    while not Path("go").exists():
        time.sleep(0.01)
    time.sleep(0.02)
    shown = [(Shown(each.item.id, ""), Shown(each.question.id, "")) for each in batch]
    return [fixed_answer(Assignment(e.id, *s, 0.0, 0.0)) for e, s in zip(batch, shown, strict=True)]
"""
GO = Path("go")
"""Nobody answers before this file is there: a process that starts late must find work left."""
TEMPLATE = "{{ item_id }} {{ question_id }} {{ id }}"


def as_fixed(body: dict[str, Any]) -> str:
    """What the template shows is all that the answer depends on."""
    item, question, lease = prompt_of(body).split()
    from askfew.campaigns.campaign import Assignment, Shown

    asked = Assignment(lease, Shown(item, ""), Shown(question, ""), 0.0, 0.0)
    return '{"answer": "%s"}' % ("yes" if fixed_answer(asked) else "no")


class Waiting(FakeEndpoint):
    """Does not answer before it is time to go."""

    async def reply(self, call: Call, reader: asyncio.StreamReader) -> tuple[int, str, list[str]]:
        while not GO.exists():
            await asyncio.sleep(0.01)
        return await super().reply(call, reader)


def invited(served: Served, worker: str) -> str:
    response = httpx2.post(
        f"{served.url}/api/v1/campaigns/frugal/invitations",
        json={"worker": worker},
        headers={"Authorization": f"Bearer {served.owner}"},
    )
    return str(response.raise_for_status().json()["token"])


def start(served: Served, endpoint: FakeEndpoint, number: int) -> subprocess.Popen[bytes]:
    """The even ones are a Python function, the odd ones a language model."""
    kind = ["python", "frugal", "judge_together:plates", "--plate", "5"]
    if number % 2:
        kind = ["llm", "frugal", "--model", f"model {number}", "--base-url", endpoint.url]
        kind += ["--config", "llm.toml", "--log", f"{number}.jsonl"]
    environment = {
        **os.environ,
        "ASKFEW_TOKEN": invited(served, f"worker {number}"),
        "OPENAI_API_KEY": endpoint.key,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-m", "askfew", "work", *kind, "--server", served.url]
    error = Path(f"{number}.err").open("wb")  # noqa: SIM115 (the process keeps it)
    with error:
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=error)


def wait_until(what: Any) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def workers_of(campaign: Campaign) -> set[str]:
    return {row.worker for row in answers_of(campaign)}


def test_four_workers_of_two_kinds_one_killed_leave_the_log_of_one(
    askfew: Command, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = frugal(store, ITEMS, QUESTIONS, lease_seconds=2)
    alone = frugal(store, ITEMS, QUESTIONS, name="alone")
    answer_all(alone)
    Path("judge_together.py").write_text(JUDGE)
    Path("mine.j2").write_text(TEMPLATE)
    Path("llm.toml").write_text('template = "mine.j2"\nconcurrency = 3')
    endpoint = Waiting(as_fixed, latency=0.02)
    processes: list[subprocess.Popen[bytes]] = []
    with serving(store) as served, endpoint.running():
        try:
            processes = [start(served, endpoint, number) for number in range(4)]
            wait_until(lambda: len(status_of(campaign).workers) == 4)
            GO.touch()
            wait_until(lambda: len(workers_of(campaign)) >= 2)
            killed = int(re.findall(r"\d", sorted(workers_of(campaign))[0])[0])
            os.kill(processes[killed].pid, signal.SIGKILL)
            assert processes[killed].wait(20) == -signal.SIGKILL
            wait_until(lambda: campaign.state == "ended")
            codes = [process.wait(30) for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait(20)
    assert sorted(codes) == [-signal.SIGKILL, 0, 0, 0], [
        Path(f"{number}.err").read_text()[-500:] for number in range(4)
    ]
    assert log_of(campaign) == log_of(alone)
    assert campaign.outcome() == alone.outcome()
    assert len(workers_of(campaign)) >= 3
