"""One model, one endpoint, one thing going wrong at a time."""

import asyncio
import json
import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from askfew.answers import Scale
from askfew.campaigns.campaign import Assignment, Shown
from askfew.campaigns.db.queries.calls import CallLimits
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, WorkerStopped
from askfew.workers.desk import Answer, NoAnswer, Pictures, Reply, StoreDesk
from askfew.workers.llm.answerer import ModelAnswerer, RunContext
from askfew.workers.llm.config import Config, Price
from askfew.workers.llm.endpoint import Endpoint, Secret
from askfew.workers.llm.ledger import ExchangeLog, Ledger
from askfew.workers.llm.limits import Limits
from askfew.workers.llm.prompt import Prompts
from campaign_tools import sweep
from fake_endpoint import FakeEndpoint

LOG = Path("log.jsonl")


def ask(
    store: Store,
    endpoint: FakeEndpoint,
    times: int = 1,
    key: str | None = None,
    together: bool = False,
    **config: Any,
) -> list[Reply]:
    """The replies of a judge that is asked about one cell so often, one by one or together."""
    name = f"for judges {len(store.names())}"
    desk = StoreDesk(sweep(store, name=name, answers={"scale": [1, 5]}), "model")
    prices = {"model": Price(1.0, 1.0)}
    settings = Config(models=("model",), prices=prices, **{"backoff": 0.001, **config})
    asked = [
        Assignment(f"1-0-{n}-x", Shown("item", "An item"), Shown("q", "How good?"), 0.0, 0.0)
        for n in range(times)
    ]

    async def work() -> list[Reply]:
        secret = Secret(key or endpoint.key)
        log = ExchangeLog(LOG, secret)
        server = Endpoint(endpoint.url, secret, settings.timeout)
        limits = Limits(CallLimits(), desk.admit_call)
        context = RunContext(settings, server, Ledger(prices), limits, log, secret)
        kind = Scale(1, 5)
        prompts = Prompts(kind, "", settings.paraphrases)
        pictures = Pictures(desk)
        judge = ModelAnswerer(context, "model", "model", kind, prompts, pictures)
        try:
            plates = [asked] if together else [[each] for each in asked]
            return [reply for plate in plates for reply in await judge(plate)]
        finally:
            await server.close()
            log.close()
            pictures.close()

    with endpoint.running():
        return asyncio.run(work())


def four(body: dict[str, Any]) -> str:
    return '{"answer": 4}'


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LOG.read_text().splitlines()]


def test_an_answer_comes_with_its_cost(store: Store) -> None:
    endpoint = FakeEndpoint(four)
    (reply,) = ask(store, endpoint, temperature=0.5)
    (call,) = endpoint.calls
    assert reply == Answer(4.0, Price(1.0, 1.0).of(*call.tokens))
    assert call.body["temperature"] == 0.5
    assert call.body["response_format"]["type"] == "json_schema"


def test_every_repeat_has_its_own_seed_and_the_next_paraphrase(store: Store) -> None:
    endpoint = FakeEndpoint(four)
    ask(store, endpoint, 4, paraphrases=("{{ question }}", "So: {{ question }}"))
    assert len({call.body["seed"] for call in endpoint.calls}) == 4
    assert [each["paraphrase"] for each in lines()] == [0, 1, 0, 1]


def test_retry_after_is_honoured(store: Store) -> None:
    endpoint = FakeEndpoint(four, limited=1.0, retry_after="0.3")
    with pytest.raises(WorkerStopped, match=r"HTTP 429 .*, after 3 attempts"):
        ask(store, endpoint, attempts=3)
    began = [call.began for call in endpoint.calls]
    assert min(b - a for a, b in pairwise(began)) >= 0.3


def test_timed_out_calls_are_booked_at_their_reservation(store: Store) -> None:
    endpoint = FakeEndpoint(four, slow=1.0)
    with pytest.raises(WorkerStopped, match=r"no answer within 0\.2 seconds"):
        ask(store, endpoint, attempts=2, timeout=0.2)
    assert [each["booked_by"] for each in lines()] == ["reservation"] * 2
    assert all(each["completion_tokens"] == 200 for each in lines())


@pytest.mark.parametrize("text", ["Good!", '{"answer": 9}', '{"answer": "yes"}'])
def test_garbage_is_no_answer(store: Store, text: str) -> None:
    (reply,) = ask(store, FakeEndpoint(lambda body: text))
    assert isinstance(reply, NoAnswer)
    assert "not an answer" in reply.reason


def test_an_endless_reply_is_no_answer_and_is_cut_in_the_log(store: Store) -> None:
    endless = "4" + " " * 10_000_000  # cut, it would be a valid answer
    (reply,) = ask(store, FakeEndpoint(lambda body: endless))
    assert reply == NoAnswer("refused: it said more than 100,000 characters")
    assert LOG.stat().st_size < 200_000


def test_an_endless_error_is_cut(store: Store) -> None:
    endpoint = FakeEndpoint(four, refuse=lambda body: (400, "no " * 1_000_000))
    with pytest.raises(WorkerStopped) as stopped:
        ask(store, endpoint)
    assert len(str(stopped.value)) < 1000
    assert LOG.stat().st_size < 5000


@pytest.mark.parametrize("name", ["temperature", "seed", "response_format"])
def test_what_an_endpoint_does_not_know_is_left_out(
    store: Store, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint = FakeEndpoint(
        four, refuse=lambda body: (400, f"unknown field {name}") if name in body else None
    )
    replies = ask(store, endpoint, 3)
    assert [type(reply) for reply in replies] == [Answer] * 3
    assert len(endpoint.calls) == 4
    assert f"the endpoint takes no {name}" in caplog.text


def test_newer_endpoints_call_the_length_by_another_name(store: Store) -> None:
    def refuse(body: dict[str, Any]) -> tuple[int, str] | None:
        asked = "use max_completion_tokens instead of max_tokens"
        return (400, asked) if "max_tokens" in body else None

    endpoint = FakeEndpoint(four, refuse=refuse)
    assert isinstance(ask(store, endpoint)[0], Answer)
    assert endpoint.calls[-1].body["max_completion_tokens"] == 200


def test_a_request_that_is_never_accepted_stops_the_worker(store: Store) -> None:
    endpoint = FakeEndpoint(four, refuse=lambda body: (400, "I do not like you"))
    with pytest.raises(WorkerStopped, match="must accept our requests, got HTTP 400"):
        ask(store, endpoint)


def test_a_wrong_key_is_said_and_never_shown(store: Store) -> None:
    endpoint = FakeEndpoint(four)
    with pytest.raises(InvalidInput, match="must accept the key, got HTTP 401"):
        ask(store, endpoint, key="sk-wrong-key-000")
    assert "sk-wrong-key-000" not in LOG.read_text()
    assert status_of(store.campaign(store.names()[0])).leased == 0


def test_a_model_that_is_not_there_is_said(store: Store) -> None:
    endpoint = FakeEndpoint(four, refuse=lambda body: (404, "no such model"))
    with pytest.raises(InvalidInput, match="must know the model"):
        ask(store, endpoint)


def test_an_outage_after_success_is_no_answer_until_it_lasts(store: Store) -> None:
    endpoint = FakeEndpoint(four)
    endpoint.refuse = lambda body: (503, "away") if len(endpoint.calls) > 1 else None
    with pytest.raises(WorkerStopped, match="HTTP 503"):
        ask(store, endpoint, 4, attempts=2)
    assert [each["status"] for each in lines()] == ["ok"] + ["failed"] * 6


def test_what_is_no_chat_protocol_is_not_believed(store: Store) -> None:
    endpoint = FakeEndpoint(four, refuse=lambda body: (200, "hello"))
    with pytest.raises(WorkerStopped, match="not the chat protocol"):
        ask(store, endpoint, attempts=2)


def numbered(body: dict[str, Any]) -> str:
    """What a model says to numbered questions: 2 to the first, 3 to the second, nonsense after."""
    prompt = body["messages"][0]["content"]
    count = len(re.findall(r"^\d+\. ", prompt, re.MULTILINE))
    return json.dumps({str(n + 1): n + 2 if n < 2 else "good" for n in range(count)})


def test_several_questions_about_an_item_go_into_one_call_and_are_answers_of_their_own(
    store: Store,
) -> None:
    endpoint = FakeEndpoint(numbered)
    first, second, third = ask(store, endpoint, times=3, together=True, questions_per_call=3)
    (call,) = endpoint.calls
    assert "1. How good?" in call.body["messages"][0]["content"]
    schema = call.body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["1", "2", "3"]
    part = Price(1.0, 1.0).of(*call.tokens) / 3
    assert first == Answer(2.0, part)
    assert second == Answer(3.0, part)
    assert isinstance(third, NoAnswer)
    (line,) = lines()
    assert len(line["question"]) == 3


def test_plates_hold_one_item_and_every_cell_once() -> None:
    def one(item: str, question: str) -> Assignment:
        return Assignment("x", Shown(item, ""), Shown(question, ""), 0.0, 0.0)

    asked = [one(item, question) for item in "ab" for question in ("p", "q", "r", "p")]
    config = Config(questions_per_call=3)
    judge: Any = SimpleNamespace(context=SimpleNamespace(config=config))
    plates = ModelAnswerer.plates(judge, [*asked[::2], *asked[1::2]])
    assert sorted(len(plate) for plate in plates) == [1, 1, 3, 3]
    for plate in plates:
        assert len({each.item.id for each in plate}) == 1
        assert len({each.question.id for each in plate}) == len(plate)


def test_a_model_that_cannot_be_read_is_stopped_with_a_sentence(store: Store) -> None:
    endpoint = FakeEndpoint(lambda body: "I would rather not say.")
    with pytest.raises(
        WorkerStopped, match=r"answers that can be read, got 20 of 20 that cannot.*rather not"
    ):
        ask(store, endpoint, times=50)
    assert len(endpoint.calls) == 20
