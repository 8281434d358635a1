"""Several questions in one call, a strong model after a cheap one, and whether questions in a call
influence each other."""

import json
import re
from typing import Any

import pytest

from askfew.campaigns.store import Store
from askfew.workers import shift
from campaign_tools import answers_of, sweep
from commands import Command
from fake_endpoint import FakeEndpoint, prompt_of


def numbered(body: dict[str, Any]) -> str:
    count = len(re.findall(r"^\d+\. ", prompt_of(body), re.MULTILINE))
    if not count:
        return '{"answer": "yes"}'
    return json.dumps({str(n + 1): "yes" for n in range(count)})


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> FakeEndpoint:
    made = FakeEndpoint(numbered)
    monkeypatch.setenv("OPENAI_API_KEY", made.key)
    return made


def test_questions_about_one_item_share_a_call_and_count_as_cells_of_their_own(
    askfew: Command, store: Store, endpoint: FakeEndpoint
) -> None:
    campaign = sweep(store, 60, 3)  # more items than questions are fetched at a time
    with endpoint.running():
        order = ("work", "llm", "sweep", "--model", "m", "--questions-per-call", "3", "--json")
        code, out, err = askfew(*order, "--base-url", endpoint.url)
    assert code == 0, err
    assert len(endpoint.calls) == 60
    assert json.loads(out)["calls"] == 60
    rows = answers_of(campaign)
    assert len({(row.item, row.question) for row in rows}) == len(rows) == 180


def test_a_model_that_reads_badly_in_most_calls_ends_the_worker(
    askfew: Command, store: Store, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it can be read now and then, and what it skipped waits for somebody else."""
    monkeypatch.setattr(shift, "_STUCK_AFTER", 0.5)

    def now_and_then(body: dict[str, Any]) -> str:
        return numbered(body) if len(endpoint.calls) % 10 == 0 else "Who knows?"

    endpoint.judge = now_and_then
    sweep(store, 30, 1)
    with endpoint.running():
        order = ("work", "llm", "sweep", "--model", "m", "--concurrency", "1")
        code, out, err = askfew(*order, "--base-url", endpoint.url)
    assert (code, out) == (1, "")
    assert "m must give answers that can be read, got 27 of 30 that cannot" in " ".join(err.split())


def test_the_dear_model_answers_what_the_cheap_one_may_not_answer_any_more(
    askfew: Command, store: Store, endpoint: FakeEndpoint
) -> None:
    campaign = sweep(store, 6, 3, each=2)
    with endpoint.running():
        order = ("work", "llm", "sweep", "--model", "cheap", "--then", "dear", "--json")
        code, out, err = askfew(*order, "--base-url", endpoint.url)
    assert code == 0, err
    assert [call.body["model"] for call in endpoint.calls] == ["cheap"] * 18 + ["dear"] * 18
    said = json.loads(out)
    assert {model: bill["calls"] for model, bill in said["by_model"].items()} == {
        "cheap": 18,
        "dear": 18,
    }
    by_cell = {(row.item, row.question, row.worker) for row in answers_of(campaign)}
    assert len(by_cell) == 36


def test_influence_is_measured_and_nothing_of_it_counts(
    askfew: Command, store: Store, endpoint: FakeEndpoint
) -> None:
    """A model that says no to whatever stands second in a call, and yes else."""

    def swayed(body: dict[str, Any]) -> str:
        text = numbered(body)
        return text.replace('"2": "yes"', '"2": "no"')

    endpoint.judge = swayed
    campaign = sweep(store, 6, 3)
    with endpoint.running():
        order = ("work", "llm", "sweep", "--model", "m", "--questions-per-call", "3")
        code, out, err = askfew(*order, "--influence", "4", "--base-url", endpoint.url)
    assert code == 0, err
    words = " ".join(out.split())
    assert "4 of 12 answers differ between a call of 3 questions and a call of one" in words
    assert "0 of 12 between two calls of one" in words
    assert answers_of(campaign) == []
    assert len(endpoint.calls) == 4 * (3 + 3 + 1)
