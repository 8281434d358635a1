"""The configuration of models: a TOML file in which every key is optional."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from askfew.campaigns.folder.settings_file import check_keys
from askfew.campaigns.folder.table_file import read_text
from askfew.errors import InvalidInput, located, nearest, shown

__all__ = ["Config", "Price", "read_config"]

_LARGEST = 1_000_000
"""Bytes of a configuration file. A plain choice: far more than a person writes."""
_MILLION = 1e6


@dataclass(frozen=True)
class Price:
    """Prices of a million tokens.

    >>> Price(0.5, 2.0).of(1000, 100)
    0.0007
    """

    input: float
    output: float

    def of(self, prompt: int, completion: int) -> float:
        """The cost of a call."""
        return (self.input * prompt + self.output * completion) / _MILLION


@dataclass(frozen=True)
class Config:
    """Everything about the models except the key, which is only in the environment.

    ``temperature``, ``seed`` and ``paraphrases`` make each answer a fresh draw: every call gets a
    seed of its own, made from ``seed``, and repeated questions use the paraphrases in turn (Jinja
    texts around ``{{ question }}``). ``prices`` are for a million tokens, by model.

    The defaults are plain choices that every setting can change. The reservations are generous on
    purpose: money is set aside for the longest answer, so that ``max_cost`` is never exceeded.
    """

    models: tuple[str, ...] = ()
    base_url: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    temperature: float | None = 1.0
    seed: int | None = 0
    paraphrases: tuple[str, ...] = ("{{ question }}",)
    template: Path | None = None
    """A Jinja file for the prompt; its path is relative to the configuration."""
    questions_per_call: int = 1
    """The most questions about one item that go into one call."""
    max_tokens: int = 200
    """The most tokens of an answer."""
    image_tokens: int = 3000
    """The most tokens that a picture may count as, for reservations."""
    concurrency: int = 8
    """Calls at a time, for each model."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = 60.0
    attempts: int = 6
    """The most calls for one answer if the endpoint fails."""
    backoff: float = 0.5
    """Seconds before the second attempt; doubled before every further one."""
    prices: Mapping[str, Price] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, _READERS[each.name](getattr(self, each.name)))
        if self.template is not None and self.questions_per_call > 1:
            raise InvalidInput(
                "a template of your own asks one question in a call",
                f"questions_per_call = {self.questions_per_call}",
                "leave one of them out",
            )

    def changed(self, **changes: object) -> Config:
        """A copy with these changes, except those that are None."""
        wanted: dict[str, Any] = {key: each for key, each in changes.items() if each is not None}
        return replace(self, **wanted)


def read_config(path: Path) -> Config:
    """Read the configuration from a TOML file."""
    text = read_text(path, most=_LARGEST)
    check_keys(path, text)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: this must be TOML", f"an error ({error})", "fix it") from None
    with located(str(path)):
        for key in document:
            if key not in _READERS:
                raise InvalidInput(
                    "settings must be known keys", shown(key), nearest(key, _READERS)
                )
        if "template" in document:
            document["template"] = path.parent / str(document["template"])
        return Config(**document)


def _texts(name: str) -> Callable[[object], tuple[str, ...]]:
    def read(value: object) -> tuple[str, ...]:
        if isinstance(value, list | tuple) and all(isinstance(e, str) and e for e in value):
            return tuple(value)
        raise InvalidInput(f"{name} must be a list of texts", shown(value), f'write {name} = ["a"]')

    return read


def _number(name: str, least: float, *, whole: bool = False, none: bool = False) -> Any:
    def read(value: object) -> object:
        if none and value is None:
            return None
        kind: Any = int if whole else int | float
        right = isinstance(value, kind) and not isinstance(value, bool)
        if right and math.isfinite(value) and value >= least:  # type: ignore[arg-type,operator]
            return value
        what = "a whole number" if whole else "a number"
        raise InvalidInput(
            f"{name} must be {what} of at least {least:g}", shown(value), "fix it, or leave it out"
        )

    return read


def _prices(value: object) -> dict[str, Price]:
    if isinstance(value, Mapping):
        read = {str(model): _price(each) for model, each in value.items()}
        good = {model: price for model, price in read.items() if price is not None}
        if len(good) == len(read):
            return good
    raise InvalidInput(
        "prices must have input and output for each model, for a million tokens",
        shown(value),
        'write [prices."MODEL"] with input = 0.15 and output = 0.60',
    )


def _price(value: object) -> Price | None:
    match value:
        case Price():
            return value
        case {"input": int() | float() as given, "output": int() | float() as made, **rest}:
            fine = not rest and min(given, made) >= 0 and math.isfinite(given + made)
            return Price(float(given), float(made)) if fine else None
        case _:
            return None


def _text(name: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if isinstance(value, str) and value:
            return value
        raise InvalidInput(f"{name} must be a text", shown(value), "fix it, or leave it out")

    return read


def _address(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value.startswith(("http://", "https://"))):
        return value
    raise InvalidInput(
        "base_url must begin with http:// or https://",
        "something else",  # not repeated: an address may hold the key
        "write for example http://127.0.0.1:8000/v1",
    )


_READERS: dict[str, Callable[[Any], Any]] = {
    "models": _texts("models"),
    "base_url": _address,
    "key_variable": _text("key_variable"),
    "temperature": _number("temperature", 0, none=True),
    "seed": _number("seed", 0, whole=True, none=True),
    "paraphrases": _texts("paraphrases"),
    "template": lambda value: None if value is None else Path(value),
    "questions_per_call": _number("questions_per_call", 1, whole=True),
    "max_tokens": _number("max_tokens", 1, whole=True),
    "image_tokens": _number("image_tokens", 0, whole=True),
    "concurrency": _number("concurrency", 1, whole=True),
    "requests_per_minute": _number("requests_per_minute", 1, whole=True, none=True),
    "tokens_per_minute": _number("tokens_per_minute", 1, whole=True, none=True),
    "timeout": _number("timeout", 0.001),
    "attempts": _number("attempts", 1, whole=True),
    "backoff": _number("backoff", 0),
    "prices": _prices,
}
