"""The settings of a campaign, as campaign.toml gives them and as a store keeps them in JSON."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, get_args

from askfew.algorithms import METHODS, check_delta, takes_option
from askfew.answers import AnswerKind, YesNo
from askfew.campaigns.kinds import read_kind
from askfew.campaigns.method_options import check_options, read_options
from askfew.campaigns.sentences import nearest, shown
from askfew.errors import InvalidInput
from askfew.evidence.decisions import Error
from askfew.records import Problem
from askfew.rule import Rule

__all__ = [
    "LONGEST_TEXT",
    "Settings",
    "check_setting",
    "is_storable",
    "most_groups",
    "setting_to_blame",
]

LONGEST_TEXT = 10_000
"""Characters of a text that a worker is shown. A round number."""
_LONGEST_NAME = 80
"""The length of the column (``db/schema``)."""
_MOST = 10**9
"""Fits PostgreSQL's INTEGER, which ends at 2**31 - 1."""
_MOST_GROUPS = 100
"""A round number."""
_HALF_WAY = 0.5
_YEAR = 366 * 24 * 3600
"""Seconds: the longest lease and time-out."""

Groups = int | list[int] | Literal["auto"]
Repeats = Literal["fresh", "same"]
_OF_THE_METHOD = ("groups", "error", "per_cell", "tolerance", "limit", "margin", "repeats")
"""Settings that become options of the method."""


@dataclass(frozen=True)
class Settings:
    """The settings of one campaign. Every field is checked; the error names the field.

    >>> Settings("birds", price=-1)
    Traceback (most recent call last):
    askfew.errors.InvalidInput: price must be a number of at least 0 ..., got -1: write ...
    """

    name: str
    """Unique in its store, in Unicode's composed form (NFC)."""
    delta: float = 0.05
    """Allowed probability of any wrong label, or expected share of wrong ones (see ``error``)."""
    answers: AnswerKind = field(default_factory=YesNo)
    max_answers: int = 10_000
    """The most answers that are ever asked for."""
    answers_per_worker_and_cell: int = 1
    """How often one worker may answer the same (item, question)."""
    price: float = 0.0
    """The price of one answer, in any currency."""
    seed: int = 0
    lease_seconds: float = 600.0
    """The longest lease; most are shorter (``slots.paces``)."""
    step_timeout: float = 3600.0
    """How many seconds a step waits for a slot that no admitted worker may take."""
    method: str = "rule"
    groups: Groups = 2
    """The number of groups, a list of allowed numbers, or "auto"."""
    error: Error = "any"
    """What delta bounds: the chance of "any" wrong label, or the "share" of wrong ones."""
    per_cell: int | None = None
    """The most answers to any (item, question)."""
    tolerance: float = 0.0
    """How far the means of a group's items may differ on a question, in the answers' units."""
    limit: int | None = None
    """The most answers about one item while it is certified."""
    margin: float = _HALF_WAY
    """Where the cut lies between the groups: 0.5 is half-way."""
    repeats: Repeats = "fresh"
    """Whether asking the same again gives a "fresh" answer or the "same"."""
    rule: Rule | None = None
    """A rule that is applied as it is, instead of learning one."""
    people: int | None = None
    """How many people will answer, if known: it bounds the answers per cell."""
    gold: float = 0.0
    """The share of questions that are about anchors, to see how well people answer."""
    options: dict[str, Any] = field(default_factory=dict)
    """The method's own options."""
    guidelines: str = ""
    """Shown to workers beside every question."""

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, check_setting(each.name, getattr(self, each.name)))
        # One more item than groups: with as many items as groups, methods have nothing to check.
        problem = Problem(most_groups(self.groups) + 1, 1, self.answers)
        check_options(self.method, self.delta, self.options, self._own_arguments(), problem)

    @property
    def most_per_cell(self) -> int | None:
        """The most answers to any (item, question): ``per_cell``, or what ``people`` allow."""
        by_people = None if self.people is None else self.people * self.answers_per_worker_and_cell
        known = [each for each in (self.per_cell, by_people) if each is not None]
        return min(known, default=None)

    def arguments(self) -> dict[str, Any]:
        """The options that the method is given, without the rule."""
        return {**self._own_arguments(), **self.options}

    def _own_arguments(self) -> dict[str, Any]:
        """The settings that become options of the method, without those at their default.

        The options of a campaign are part of its recipe, which must not change when a newer askfew
        has more settings.
        """
        named = {name: getattr(self, name) for name in _OF_THE_METHOD}
        own = {name: value for name, value in named.items() if value != _USUAL[name]}
        if self.most_per_cell is not None and takes_option(self.method, "per_cell"):
            own["per_cell"] = self.most_per_cell
        if self.rule is not None and not takes_option(self.method, "given"):
            own["rule"] = self.rule  # only so that check_options refuses it
        return own

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON-ready values.

        >>> Settings("birds").to_dict()["answers"]
        'yes-no'
        """
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            **plain,
            "answers": self.answers.setting,
            "options": read_options(self.options),
            "rule": None if self.rule is None else self.rule.to_dict(),
        }

    @classmethod
    def from_store(cls, values: Mapping[str, object]) -> Settings:
        """The settings that ``to_dict`` wrote when the campaign was created.

        The method is not started to check its options, which was done then: it would take time
        whenever a campaign is opened.
        """
        for key in values:
            _check_key(key)
        made = object.__new__(cls)
        for each in fields(cls):
            usual = each.default_factory() if callable(each.default_factory) else each.default
            value = check_setting(each.name, values.get(each.name, usual))
            object.__setattr__(made, each.name, value)
        return made

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Settings:
        """The settings that ``to_dict`` wrote, or of a table of TOML; only the name is required."""
        for key in values:
            _check_key(key)
        if "name" not in values:
            raise InvalidInput("a campaign must have a name", "none", 'write name = "birds", say')
        plain: dict[str, Any] = dict(values)
        return cls(**plain)


def check_setting(key: str, value: object) -> Any:
    """The value as the field of Settings holds it; InvalidInput if it is not allowed.

    >>> check_setting("lease_seconds", 600)
    600.0
    """
    _check_key(key)
    return _READERS[key](value)


def most_groups(groups: Groups) -> int:
    """The largest number of groups that the setting names; 2 for "auto".

    >>> most_groups(3), most_groups([2, 4]), most_groups("auto")
    (3, 4, 2)
    """
    if groups == "auto":
        return 2
    return max(groups) if isinstance(groups, list) else int(groups)


def setting_to_blame(values: Mapping[str, Any]) -> str:
    """The setting to name in an error, where each setting alone is right but not all together.

    >>> setting_to_blame({"method": "frugal", "margin": 0.3})
    'margin'
    """
    method = values.get("method", _USUAL["method"])
    for key in (*_OF_THE_METHOD, "rule"):
        taken = takes_option(method, "given" if key == "rule" else key)
        if key in values and not taken and values[key] != _USUAL[key]:
            return key
    # Otherwise the one without which the rest is fine.
    for key in _OF_THE_METHOD[::-1]:
        rest = {name: value for name, value in values.items() if name != key}
        if key in values and _is_sound(rest):
            return key
    return "options" if "options" in values else "method"


def _is_sound(values: Mapping[str, Any]) -> bool:
    try:
        Settings.from_dict({"name": "x", **values})
    except InvalidInput:
        return False
    return True


def _check_key(key: str) -> None:
    if key not in _READERS:
        raise InvalidInput("settings must be known keys", shown(key), nearest(str(key), _READERS))


def _name(value: object) -> str:
    # The same name may be typed as other code points on another system.
    name = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    sane = all(char in " -_." or unicodedata.category(char)[0] in "LMN" for char in name)
    edges = name[:1].isalnum() and name[-1:] != " "
    if not (sane and edges and len(name) <= _LONGEST_NAME):
        raise InvalidInput(
            f"name must be 1 to {_LONGEST_NAME} letters, digits, spaces or - _ .,"
            " with a letter or digit first and no space last",
            shown(value),
            'write for example name = "birds 2"',
        )
    return name


def _delta(value: object) -> float:
    number = _real(value)
    if number is None:
        raise InvalidInput("delta must be a number", shown(value), "write for example 0.05")
    check_delta(number)
    return number


def _real(value: object) -> float | None:
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:  # an int larger than any float
        return math.inf


def _between(
    key: str, least: float, most: float, example: float, value: object, *, above: bool = False
) -> float:
    number = _real(value)
    if number is None or not least <= number <= most or (above and number == least):
        raise InvalidInput(
            f"{key} must be a number {'above' if above else 'of at least'} {least:g}"
            f" and at most {most:,}",
            shown(value),
            f"write for example {key} = {example}",
        )
    return number


def _whole(key: str, least: int, most: int, example: int, value: object) -> int:
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if number is None or not least <= number <= most:
        raise InvalidInput(
            f"{key} must be a whole number from {least} to {most:,}",
            shown(value),
            f"write for example {key} = {example}",
        )
    return number


def _method(value: object) -> str:
    if not isinstance(value, str) or value not in METHODS:
        word = value if isinstance(value, str) else ""
        raise InvalidInput(
            "method must be one that askfew knows", shown(value), nearest(word, METHODS)
        )
    return value


def _groups(value: object) -> Groups:
    """A number, a list in order, or "auto".

    >>> _groups(3), _groups([4, 2, 4]), _groups("auto")
    (3, [2, 4], 'auto')
    """
    if value == "auto":
        return "auto"
    wanted: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
    right = all(isinstance(each, Integral) and not isinstance(each, bool) for each in wanted)
    if not wanted or not right or not all(2 <= each <= _MOST_GROUPS for each in wanted):
        raise InvalidInput(
            f'groups must be a whole number from 2 to {_MOST_GROUPS}, a list of such, or "auto"',
            shown(value),
            "write for example groups = 2",
        )
    if isinstance(value, list | tuple):
        return sorted({int(each) for each in wanted})
    return int(wanted[0])


def _one_of(key: str, words: tuple[str, ...], value: object) -> str:
    if not isinstance(value, str) or value not in words:
        said = " or ".join(f'"{word}"' for word in words)
        raise InvalidInput(f"{key} must be {said}", shown(value), "choose one")
    return value


def _margin(value: object) -> float:
    number = _real(value)
    if number is None or not 0 < number <= _HALF_WAY:
        raise InvalidInput(
            "margin must be a number above 0 and at most 0.5",
            shown(value),
            "write 0.5 for a cut half-way between the groups",
        )
    return number


def _if_any(read: Callable[[object], Any], value: object) -> Any:
    """Read a setting that may be left out (None)."""
    return None if value is None else read(value)


def _rule(value: object) -> Rule:
    return value if isinstance(value, Rule) else Rule.from_dict(value)


def _kind(value: object) -> AnswerKind:
    """The kind in the form that a store gives back, because seals cover that form."""
    return read_kind(read_kind(value).setting)


def _guidelines(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or not is_storable(value):
        raise InvalidInput(
            f"guidelines must be a text of at most {LONGEST_TEXT:,} characters",
            shown(value),
            "shorten it, or link to a page",
        )
    return value


def is_storable(text: str) -> bool:
    """Whether every store can hold the text: PostgreSQL takes neither NUL nor lone surrogates."""
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


_READERS: dict[str, Callable[[object], Any]] = {
    "name": _name,
    "delta": _delta,
    "answers": _kind,
    "max_answers": partial(_whole, "max_answers", 1, _MOST, 5000),
    "answers_per_worker_and_cell": partial(_whole, "answers_per_worker_and_cell", 1, _MOST, 1),
    "price": partial(_between, "price", 0, _MOST, 0.02),
    "seed": partial(_whole, "seed", 0, 2**63 - 1, 7),
    "lease_seconds": partial(_between, "lease_seconds", 0, _YEAR, 600, above=True),
    "step_timeout": partial(_between, "step_timeout", 0, _YEAR, 3600),
    "method": _method,
    "groups": _groups,
    "error": partial(_one_of, "error", get_args(Error)),
    "per_cell": partial(_if_any, partial(_whole, "per_cell", 1, _MOST, 12)),
    "tolerance": partial(_between, "tolerance", 0, _MOST, 0.05),
    "limit": partial(_if_any, partial(_whole, "limit", 1, _MOST, 100)),
    "margin": _margin,
    "repeats": partial(_one_of, "repeats", get_args(Repeats)),
    "rule": partial(_if_any, _rule),
    "people": partial(_if_any, partial(_whole, "people", 1, _MOST, 12)),
    "gold": partial(_between, "gold", 0, 0.5, 0.1),
    "options": read_options,
    "guidelines": _guidelines,
}

_USUAL: dict[str, Any] = {each.name: each.default for each in fields(Settings)}
