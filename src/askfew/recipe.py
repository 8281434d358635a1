"""The start of a run: the method with its options, and the recipe that its log keeps.

The recipe is what a later process needs to go on: method, delta, options, random state and the
version of the claim. A log that was recorded with another recipe is refused.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from askfew.algorithms import CLAIM_VERSIONS, check_delta, start
from askfew.errors import InvalidInput, ReplayMismatch
from askfew.log import Log
from askfew.records import Finding, Problem, Procedure
from askfew.rule import Rule

__all__ = ["Seed", "start_recorded"]

Seed = int | np.random.SeedSequence | np.random.Generator | None


def start_recorded(
    problem: Problem,
    names: tuple[Sequence[object], Sequence[object]],
    method: str,
    delta: float,
    budget: int | None,
    rng: Seed,
    options: dict[str, object],
    log: Log | None,
) -> Procedure[Finding]:
    """The procedure, ready to be driven.

    Its recipe is written into a new log, and must agree with that of a log that has steps.
    """
    check_delta(delta)
    options = _by_number(options, *names)
    resumed = log is not None and (log.steps or log.partial)
    # A log knows its random state, so a run that goes on needs no seed.
    generator = _restored(log) if log and resumed and rng is None else _generator(rng)
    if log is not None:
        recipe = {
            "method": method,
            "delta": delta,
            "budget": budget,
            "claim": CLAIM_VERSIONS.get(method),
            "options": {
                name: _described(value)
                for name, value in sorted(options.items())
                # A function is called during the run and cannot be compared; it has no place here.
                if not callable(value)
            },
            "random state": _plain(generator.bit_generator.state),
            "versions": {"askfew": version("askfew"), "numpy": np.__version__},
        }
        if not resumed:
            log.recipe = recipe
        _check_recipe(recipe, log)
        if log.problem != problem:
            raise ReplayMismatch("the log is for", log.problem, f"but this run is for {problem}")
    return start(method, problem, generator, delta=delta, budget=budget, **options)


def _by_number(
    options: Mapping[str, object], items: Sequence[object], questions: Sequence[object]
) -> dict[str, object]:
    """The options with items and questions by their numbers instead of their names."""
    plain = dict(options)
    anchors, defining, given = (plain.get(name) for name in ("anchors", "defining", "given"))
    if isinstance(anchors, Mapping) and not isinstance(items, range):
        placed: dict[int, object] = {}
        for item, group in anchors.items():
            place = _place(item, items, "anchors", "items")
            if placed.setdefault(place, group) != group:
                raise InvalidInput(
                    "an anchor must have one group",
                    f"{item!r} in {placed[place]!r} and {group!r}",
                    "leave one out",
                )
        plain["anchors"] = placed
    if isinstance(defining, Iterable) and not isinstance(questions, range):
        plain["defining"] = [_place(each, questions, "defining", "questions") for each in defining]
    if isinstance(given, Rule):
        plain["given"] = given.renamed(given.places(questions).tolist())
    return plain


def _place(name: object, names: Sequence[object], option: str, what: str) -> int:
    known = [str(each) for each in names]
    if str(name) not in known:
        raise InvalidInput(f"{option} must be among the {what}", repr(name), "mend the name")
    if known.count(str(name)) > 1:
        raise InvalidInput(
            f"{option} must name one of the {what} each",
            f"{name!r}, the name of {known.count(str(name))}",
            f"give the {what} different names",
        )
    return known.index(str(name))


def _described(value: object) -> str:
    """An option as text: enough to tell it from another value."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()[:16]}"
    return repr(value)


def _generator(rng: Seed) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "rng must be a whole number from 0, a numpy Generator, or None", repr(rng), "pass rng=7"
        ) from error


def _check_recipe(recipe: dict[str, object], log: Log) -> None:
    for name, now in recipe.items():
        then = log.recipe.get(name)
        if then == now:
            continue
        if name == "versions":
            warnings.warn(f"the log was written with {then}, this is {now}", stacklevel=4)
        else:
            raise ReplayMismatch(
                f"the log was recorded with {_said(name, then)}",
                _said(name, now),
                "pass what the recorded run was given (rng may be left out: the log knows it)",
            )


def _said(name: str, value: Any) -> str:
    """A part of a recipe in words; a random state is shortened."""
    if name != "random state" or not isinstance(value, dict):
        return f"{name} {value}"
    return f"the seed of {value.get('bit_generator')} {str(value.get('state'))[:24]}..."


def _restored(log: Log) -> np.random.Generator:
    """A generator in the state the log's run began with."""
    state: Any = log.recipe["random state"]
    bit_generator = getattr(np.random, state["bit_generator"])()
    bit_generator.state = state
    return np.random.Generator(bit_generator)


def _plain(state: Any) -> Any:
    """A random state as JSON-ready values: some bit generators keep arrays in theirs."""
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    return state.tolist() if isinstance(state, np.ndarray) else state
