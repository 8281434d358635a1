"""The key is in a header of each request, and nowhere else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from askfew.campaigns.store import Store
from askfew.workers.llm.endpoint import Secret
from commands import Command
from fake_endpoint import FakeEndpoint
from small_campaigns import small_campaign

KEY = "sk-hidden/4'\\5-0123456789"
FORMS = (KEY, "hidden", "0123456789")
"""The key as it is, and parts of it that survive any way of writing it."""

Refusal = Callable[[dict[str, Any]], tuple[int, str] | None]


def nobody(body: dict[str, Any]) -> None:
    """Refuses nothing."""


@pytest.mark.parametrize(
    ("said", "refuse"),
    [
        (f"My key is {KEY}.", nobody),
        ("x" * 175 + KEY, nobody),  # a reason is cut where the key stands
        (f'{{"answer": "{KEY}"}}', nobody),
        ("", lambda body: (400, f"you sent Bearer {KEY}")),
        ("", lambda body: (400, f"temperature: not with {KEY!r}")),
        ("", lambda body: (401, f"no such key: {KEY}")),
        ("", lambda body: (404, f"no model for {KEY}")),
        ("", lambda body: (500, KEY)),
        ("", lambda body: (200, KEY)),
    ],
)
def test_the_key_is_in_no_output_no_error_and_no_file(
    askfew: Command,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    refuse: Refusal,
) -> None:
    small_campaign(store)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    Path("llm.toml").write_text('models = ["model"]\nbackoff = 0.001\nattempts = 2\n')
    with FakeEndpoint(lambda body: said, key=KEY, refuse=refuse).running() as endpoint:
        address = f"{endpoint.url}/{KEY}?key={KEY}"
        arguments = ["--config", "llm.toml", "--base-url", address, "--idle", 0.2]
        _, out, err = askfew("work", "llm", "small", *arguments)
        assert endpoint.calls
    assert "Traceback" not in err
    told = [out, err, *(file.read_bytes().decode("latin-1") for file in Path().rglob("*.*"))]
    assert not [form for text in told for form in FORMS if form in text]


@pytest.mark.parametrize(
    "address", [f"{KEY}@example.org/v1", f"http://h:{KEY}/v1", "http://h:x/v1"]
)
def test_an_address_that_is_none_is_not_repeated(
    askfew: Command, store: Store, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    small_campaign(store)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    arguments = ["--model", "model", "--base-url", address]
    code, out, err = askfew("work", "llm", "small", *arguments)
    assert code == 2
    assert "base_url must" in err
    assert len(err.splitlines()) == 1
    assert not [form for form in FORMS if form in out + err]


@pytest.mark.parametrize("key", ["sk-two\nlines", "sk-trailing\n"])
def test_a_key_that_no_header_takes_is_not_shown(
    askfew: Command, store: Store, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    small_campaign(store)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    Path("llm.toml").write_text('models = ["model"]\nbackoff = 0.001\nattempts = 2\n')
    with FakeEndpoint(lambda body: "yes").running() as endpoint:
        arguments = ["--config", "llm.toml", "--base-url", endpoint.url]
        code, out, err = askfew("work", "llm", "small", *arguments)
    assert code != 0
    assert "Traceback" not in err
    assert key.strip().partition("\n")[0] not in out + err


@pytest.mark.parametrize(
    "written", [KEY, repr(KEY), repr(repr(KEY)), json.dumps(KEY), quote(KEY), quote(KEY, safe="")]
)
def test_a_secret_is_struck_however_it_is_written(written: str) -> None:
    assert "hidden" not in Secret(KEY).redact(f"a {written}!")
    assert "hidden" not in repr(Secret(KEY))


def test_no_key_strikes_nothing() -> None:
    assert Secret("").redact("nothing") == "nothing"
