"""What a campaign gives its method: names of items and questions, anchors, defining questions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from askfew.algorithms import takes_option
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.contents import items_of, questions_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.records import Problem
from askfew.sessions import Session, session

__all__ = ["Inputs", "new_session", "what_is_wrong"]


@dataclass(frozen=True)
class Inputs:
    """Ids in their order, the items whose group is known, the questions that define the split."""

    items: Sequence[str]
    questions: Sequence[str]
    anchors: Mapping[str, str] = field(default_factory=dict)
    """Names of groups, by the ids of the anchors."""
    defining: Sequence[str] = ()
    texts: str = ""
    """A digest of all that workers are shown: other texts would be another question."""

    @classmethod
    def of(cls, items: Sequence[Item], questions: Sequence[Question]) -> Inputs:
        """The inputs of a campaign that is to be created."""
        shown = [(each.id, each.text, _hash(each.image)) for each in items]
        return cls(
            [each.id for each in items],
            [each.id for each in questions],
            {each.id: each.group for each in items if each.group},
            [each.id for each in questions if each.defines],
            _digest(shown, [(each.id, each.text) for each in questions]),
        )

    @classmethod
    def read(cls, connection: Connection, campaign: int) -> Inputs:
        """The inputs of a campaign in the store."""
        items = items_of(connection, campaign)
        questions = questions_of(connection, campaign)
        return cls(
            [each.id for each in items],
            [each.id for each in questions],
            {each.id: each.group for each in items if each.group},
            [each.id for each in questions if each.defines],
            _digest(
                [(each.id, each.text, each.image) for each in items],
                [(each.id, each.text) for each in questions],
            ),
        )

    def arguments(self, settings: Settings) -> dict[str, Any]:
        """All options that the method is given."""
        given = settings.arguments()
        if self.anchors:
            given["anchors"] = dict(self.anchors)
        if self.defining:
            given["defining"] = list(self.defining)
        if settings.rule is not None:
            given["given"] = settings.rule
        return given


def new_session(
    settings: Settings, log: Log, inputs: Inputs, at_work: Callable[[], int] | None = None
) -> Session:
    """A session of the campaign's method that has replayed the log.

    ``at_work`` gives the number of active workers to a method that sizes its steps by them.
    """
    _check_taken(settings, inputs)
    arguments = inputs.arguments(settings)
    if at_work is not None and takes_option(settings.method, "at_work"):
        arguments["at_work"] = at_work
    return session(
        list(inputs.items),
        list(inputs.questions),
        answers=settings.answers,
        delta=settings.delta,
        method=settings.method,
        max_answers=settings.max_answers,
        rng=settings.seed,
        log=log,
        **arguments,
    )


def what_is_wrong(settings: Settings, inputs: Inputs) -> tuple[str, InvalidInput] | None:
    """The first setting that does not fit these items and questions, and the error; or None.

    It is named as in ``campaign.toml``; anchors are ``items``, defining questions ``questions``.
    Only the method itself knows which values it can use, so it is started with one more argument
    each time, until it refuses one.
    """
    # Raises an error for sizes that no method can use.
    Problem(len(inputs.items), len(inputs.questions), settings.answers)
    try:
        _check_taken(settings, inputs)
    except InvalidInput as error:
        alone = settings.gold and not inputs.anchors
        return ("gold" if alone else "items" if inputs.anchors else "questions"), error
    tried: dict[str, Any] = {}
    for name, key, value in _one_by_one(settings, inputs):
        tried[key] = value
        try:
            session(
                list(inputs.items),
                list(inputs.questions),
                answers=settings.answers,
                delta=settings.delta,
                method=settings.method,
                rng=settings.seed,
                **tried,
            )
        except InvalidInput as error:
            if not _lacks_another(error, settings, tried):
                return name, error
    return None


def _one_by_one(settings: Settings, inputs: Inputs) -> Iterator[tuple[str, str, Any]]:
    """Each argument: the setting it comes from, its name and its value."""
    names = {"anchors": "items", "defining": "questions", "given": "rule"}
    for key, value in inputs.arguments(settings).items():
        yield names.get(key, "options" if key in settings.options else key), key, value


def _lacks_another(error: InvalidInput, settings: Settings, tried: Mapping[str, Any]) -> bool:
    """Whether the error is only about a required option that is tried later."""
    said = str(error.args[0])  # errors have no codes, so the sentence is compared
    return any(
        said == f"{settings.method} needs the option {name}"
        for name in settings.options.keys() - tried.keys()
    )


def _check_taken(settings: Settings, inputs: Inputs) -> None:
    if settings.gold and not inputs.anchors:
        raise InvalidInput(
            "gold questions are about items whose group is known",
            f"gold = {settings.gold:g} and no such item",
            "name the group of some in items.csv, or write gold = 0",
        )
    for what, column, given in (
        ("anchors", "group of items.csv", inputs.anchors),
        ("defining", "defines of questions.csv", inputs.defining),
    ):
        if given and not takes_option(settings.method, what):
            raise InvalidInput(
                f"the column {column} is for a method that uses it",
                f"method {settings.method!r}",
                'empty the column, or write method = "rule"',
            )


def _hash(image: bytes | None) -> str | None:
    return None if image is None else hashlib.sha256(image).hexdigest()


def _digest(items: Sequence[Sequence[Any]], questions: Sequence[Sequence[Any]]) -> str:
    said = json.dumps([[list(each) for each in rows] for rows in (items, questions)])
    return hashlib.sha256(said.encode()).hexdigest()
