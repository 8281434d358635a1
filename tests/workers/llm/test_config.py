"""The configuration of models."""

from pathlib import Path

import pytest

from askfew.errors import InvalidInput
from askfew.workers.llm.config import Config, Price, read_config


def test_a_configuration_is_read(tmp_path: Path) -> None:
    file = tmp_path / "llm.toml"
    file.write_text(
        'models = ["a", "b"]\ntemperature = 0.7\nparaphrases = ["So: {{ question }}"]\n'
        'template = "mine.j2"\nrequests_per_minute = 60\n'
        "[prices.a]\ninput = 0.15\noutput = 0.6\n"
    )
    config = read_config(file)
    assert config.models == ("a", "b")
    assert config.prices == {"a": Price(0.15, 0.6)}
    assert config.template == tmp_path / "mine.j2"
    assert config.changed(models=["c"], concurrency=None).models == ("c",)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("temprature = 1", "did you mean temperature"),
        ('api_key = "secret"', "settings must be known keys"),
        ("temperature = -1", "temperature must be a number of at least 0"),
        ("concurrency = 0", "concurrency must be a whole number of at least 1"),
        ("concurrency = true", "concurrency must be a whole number"),
        ("timeout = nan", "timeout must be a number"),
        ('models = "a"', "models must be a list of texts"),
        ("prices = { a = 3 }", "prices must have input and output"),
        ("prices = { a = { input = -1, output = 1 } }", "prices must have input and output"),
        ("models = [", "this must be TOML"),
        ('base_url = "localhost:8000"', "base_url must begin with http:// or https://"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, line: str, sentence: str) -> None:
    file = tmp_path / "llm.toml"
    file.write_text(line)
    with pytest.raises(InvalidInput, match=sentence) as caught:
        read_config(file)
    assert str(file) in str(caught.value)


def test_nothing_must_be_said() -> None:
    assert Config().models == ()
