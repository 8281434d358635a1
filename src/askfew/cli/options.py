"""Options that several commands share, so that they are the same everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from typing import Annotated, Any, get_type_hints

from typer import Option

from askfew.algorithms import METHODS, methods_with, takes_option
from askfew.errors import InvalidInput

__all__ = [
    "METHOD_HELP",
    "NO_OPTIONS",
    "Anchors",
    "AsJson",
    "Balance",
    "Decay",
    "Delta",
    "Error",
    "Gap",
    "Groups",
    "Items",
    "Jobs",
    "LookFor",
    "MaxAnswers",
    "Method",
    "MethodOptions",
    "Noise",
    "PerCell",
    "Price",
    "Questions",
    "Seed",
    "Sigma",
    "Spread",
    "Tolerance",
    "Useful",
    "Worlds",
    "expand_options",
    "method_options",
]

METHOD_HELP = f"One of {', '.join(METHODS)}, or module:function."
Method = Annotated[str, Option(help=METHOD_HELP)]
Worlds = Annotated[
    str | None,
    Option(
        "--oracle",
        metavar="MODULE:FUNCTION",
        help="f(rng) draws who answers and the truth, instead of --items to --spread.",
        show_default=False,
    ),
]
Items = Annotated[int, Option(help="How many items.")]
Questions = Annotated[int, Option(help="How many questions.")]
Useful = Annotated[int, Option(help="On how many random questions the groups differ.")]
Gap = Annotated[float, Option(help="How far the group means differ there.")]
Noise = Annotated[str, Option(help="gaussian, yes-no or scale (five values).")]
Sigma = Annotated[float, Option(help="Spread of gaussian answers.")]
Balance = Annotated[float, Option(help="The second group's share of the items.")]
Decay = Annotated[float, Option(help="The j-th useful question has gap / j^decay.")]
Groups = Annotated[int, Option(help="How many groups there are; more than 2 have equal sizes.")]
Spread = Annotated[
    float, Option(help="How far items of a group differ on a useful question, in gaps (a sd).")
]
LookFor = Annotated[
    str | None,
    Option(
        help="How many groups the method looks for: 3, or 2,3,4, or auto.",
        show_default="as many as there are",
    ),
]
Error = Annotated[
    str | None,
    Option(help="What delta bounds: any wrong label, or the share of them.", show_default="any"),
]
PerCell = Annotated[
    int | None,
    Option(help="The most answers about any question of an item.", show_default="no cap"),
]
Tolerance = Annotated[
    float | None,
    Option(
        help="How far the method is told that items of a group may differ, in answers' units.",
        show_default="not at all",
    ),
]
Audit = Annotated[
    int | None,
    Option(
        min=0,
        help="Answers asked for after the last label, to see whether items of a group are alike.",
        show_default="none",
    ),
]
Anchors = Annotated[int, Option(min=0, help="How many items of each group are known beforehand.")]
Delta = Annotated[
    float, Option(help="Allowed probability of any wrong label (or expected share of them).")
]
Seed = Annotated[int, Option(help="Seed of all random numbers.")]
MaxAnswers = Annotated[int, Option(help="Cap on the answers of a run.")]
Price = Annotated[float, Option(help="Price of an answer.")]
Jobs = Annotated[int, Option(help="Processes; -1 for all cores. Results do not depend on it.")]
AsJson = Annotated[bool, Option("--json", help="One JSON document on standard output.")]


@dataclass(frozen=True)
class MethodOptions:
    """Options of a method, as arguments of ``method_options``."""

    look_for: LookFor = None
    error: Error = None
    per_cell: PerCell = None
    tolerance: Tolerance = None
    audit: Audit = None
    anchors: Anchors = 0


NO_OPTIONS = MethodOptions()


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command an option for each field of the dataclasses among its defaults.

    Typer reads options from a signature, so commands that share some would each have to list them.
    """
    signature = inspect.signature(command, eval_str=True)
    shared: dict[str, Any] = {
        name: each.default
        for name, each in signature.parameters.items()
        if is_dataclass(each.default)
    }

    @wraps(command)
    def expanded(**given: Any) -> None:
        for name, usual in shared.items():
            given[name] = replace(usual, **{f.name: given.pop(f.name) for f in fields(usual)})
        command(**given)

    def parameters() -> Iterator[inspect.Parameter]:
        for each in signature.parameters.values():
            if each.name not in shared:
                yield each
                continue
            types = get_type_hints(type(each.default), include_extras=True)
            for name, default in vars(each.default).items():
                yield each.replace(name=name, default=default, annotation=types[name])

    expanded.__signature__ = signature.replace(parameters=list(parameters()))  # type: ignore[attr-defined]
    return expanded


def method_options(
    method: str,
    *,
    groups: int = 2,
    look_for: str | None = None,
    error: str | None = None,
    per_cell: int | None = None,
    tolerance: float | None = None,
    audit: int | None = None,
    anchors: int = 0,
    defining: int = 0,
    rule: bool = False,
) -> dict[str, object]:
    """The options to pass to the method; InvalidInput for one that it does not take."""
    wished = {
        "error": error,
        "per_cell": per_cell,
        "tolerance": tolerance,
        "audit": audit,
        "anchors": anchors or None,
        "defining": defining or None,
        "given": rule or None,
    }
    said: dict[str, object] = {name: value for name, value in wished.items() if value is not None}
    if groups > 2 or look_for is not None:
        said["groups"] = groups if look_for is None else _numbers(look_for)
    for name in said:
        if not takes_option(method, name):
            able = ", ".join(methods_with(name)) or "none"
            given = f"{name.replace('_', '-')} {said[name]}"
            if name == "groups" and look_for is not None:
                given = f"look-for {look_for}"
            if name == "given":
                given = "rule"
            raise InvalidInput(
                f"--{given} needs a method that can ({able})",
                method,
                "choose another method, or leave it out",
            )
    # Not passed on: which items and questions they are differs from world to world.
    return {name: said[name] for name in said if name not in ("anchors", "defining", "given")}


def _numbers(text: str) -> str | int | list[int]:
    """Read 'auto', a number of groups, or several numbers with commas between them."""
    if text == "auto":
        return text
    try:
        numbers = [int(each) for each in text.split(",")]
    except ValueError:
        raise InvalidInput(
            "--look-for must be auto, or whole numbers with commas",
            repr(text),
            "write for example 2,3,4",
        ) from None
    return numbers if len(numbers) > 1 else numbers[0]
