"""The settings of a campaign, as campaign.toml gives them and as a store keeps them in JSON."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from askfew.algorithms import METHODS, methods_with, start, takes_option
from askfew.answers import AnswerKind, YesNo
from askfew.campaigns.setting_values import (
    HALF_WAY,
    Groups,
    Repeats,
    check_key,
    read_options,
    read_setting,
)
from askfew.errors import InvalidInput, shown
from askfew.evidence.decisions import Error
from askfew.records import Problem
from askfew.rule import Rule

__all__ = ["Settings", "check_options", "most_groups", "setting_to_blame"]

_OF_THE_METHOD = ("groups", "error", "per_cell", "tolerance", "audit", "limit", "margin", "repeats")
"""Settings that become options of the method."""
_SET_ELSEWHERE = {
    **dict.fromkeys(("at_work", "delta", "method", "problem", "rng"), "take it out of the options"),
    **dict.fromkeys(_OF_THE_METHOD, "write it as a setting of its own, beside options"),
    "given": 'write rule = "FILE", beside options',
    "anchors": "write it in the column group of items.csv",
    "defining": "write yes in the column defines of questions.csv",
}
"""What to do about options that a method takes but that are written elsewhere."""
_MOST = 10**9
"""The largest number of an option. A round number, the same as for settings."""
_TYPES: dict[object, tuple[tuple[type, ...], str]] = {
    "float": ((int, float), "a number"),
    "int": ((int,), "a whole number"),
    "bool": ((bool,), "true or false"),
    "str": ((str,), "a text"),
}


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
    """The longest lease; most are shorter (``slots.lease``)."""
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
    audit: int = 0
    """Answers to ask for after the last label, to see whether items of a group are alike."""
    limit: int | None = None
    """The most answers about one item while it is certified."""
    margin: float = HALF_WAY
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
            object.__setattr__(self, each.name, read_setting(each.name, getattr(self, each.name)))
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
            check_key(key)
        made = object.__new__(cls)
        for each in fields(cls):
            usual = each.default_factory() if callable(each.default_factory) else each.default
            value = read_setting(each.name, values.get(each.name, usual))
            object.__setattr__(made, each.name, value)
        return made

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Settings:
        """The settings that ``to_dict`` wrote, or of a table of TOML; only the name is required."""
        for key in values:
            check_key(key)
        if "name" not in values:
            raise InvalidInput(
                "a campaign must have a name", "none", 'write for example name = "birds"'
            )
        plain: dict[str, Any] = dict(values)
        return cls(**plain)


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


def check_options(
    method: str,
    delta: float,
    options: Mapping[str, Any],
    own: Mapping[str, Any] | None = None,
    problem: Problem | None = None,
) -> None:
    """Refuse options that the method does not know or cannot use, and missing ones.

    ``own`` are the options that have their own setting; ``problem`` is what to try them on.

    >>> check_options("told-gap", 0.05, {"gap": "wide"})
    Traceback (most recent call last):
    askfew.errors.InvalidInput: the option gap must be a number, got 'wide': ...
    """
    for name, do in _SET_ELSEWHERE.items():
        if name in options:
            raise InvalidInput("options are what the method alone takes", name, do)
    own = dict(own or {})
    for name in own:
        if not takes_option(method, name):
            raise InvalidInput(
                f"{name} is a setting of another method",
                f"method {method!r}",
                f"leave {name} out" + _or_write(methods_with("given" if name == "rule" else name)),
            )
    parameters = inspect.signature(METHODS[method]).parameters
    if "budget" in parameters.keys() - options.keys():
        raise InvalidInput(
            f"the method {method} needs a budget, a whole number of answers to spend",
            "none",
            'write for example options = { budget = 5000 }, or method = "rule"',
        )
    for name in options.keys() & parameters.keys():
        _check_type(name, options[name], parameters[name].annotation)
    # Starting a method checks its options. It costs little, because a generator runs nothing
    # before its first Batch is asked for.
    problem = problem or Problem(3, 1)
    start(method, problem, np.random.default_rng(0), delta=delta, **own, **options)


def _or_write(methods: list[str]) -> str:
    return "".join(f', or write method = "{method}"' for method in methods[:1])


def _check_type(name: str, value: object, annotation: object) -> None:
    types, expected = _TYPES.get(getattr(annotation, "__name__", annotation), ((object,), "usable"))
    # True is an int in Python, but no number here.
    right = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    if not right or (isinstance(value, int | float) and abs(value) > _MOST):
        raise InvalidInput(
            f"the option {name} must be {expected}", shown(value), "see the method's options"
        )


_USUAL: dict[str, Any] = {each.name: each.default for each in fields(Settings)}
