"""Options of a method: those that were given, and one sentence for those it does not take."""

import inspect
from dataclasses import dataclass

import pytest

from askfew.cli.options import AsJson, Items, Questions, expand_options, method_options
from askfew.errors import InvalidInput


def test_only_what_was_given_is_passed() -> None:
    assert method_options("frugal") == {}
    assert method_options("rule", error="share", per_cell=3) == {"error": "share", "per_cell": 3}


def test_more_than_two_groups_are_looked_for_unless_something_else_is_said() -> None:
    assert method_options("rule", groups=3) == {"groups": 3}
    assert method_options("rule", groups=3, look_for="auto") == {"groups": "auto"}
    assert method_options("rule", look_for="2,3") == {"groups": [2, 3]}


def test_what_differs_from_world_to_world_is_checked_but_not_passed() -> None:
    assert method_options("rule", anchors=2, defining=1, rule=True) == {}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"anchors": 2}, r"--anchors 2 needs a method that can \(rule.*\), got frugal"),
        ({"rule": True}, r"--rule needs a method that can \(rule\), got frugal"),
        ({"look_for": "many"}, "--look-for must be auto, or whole numbers with commas, got 'many'"),
    ],
)
def test_what_a_method_does_not_take_is_one_sentence(
    given: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        method_options("frugal", **given)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Size:
    items: Items = 3
    questions: Questions = 4


SMALL = Size(items=2)


def test_each_field_of_a_dataclass_is_an_option_with_its_default() -> None:
    called: list[tuple[str, Size, bool]] = []

    @expand_options
    def command(name: str, size: Size = SMALL, json: AsJson = False) -> None:
        called.append((name, size, json))

    options = inspect.signature(command).parameters
    assert list(options) == ["name", "items", "questions", "json"]
    assert [options[each].default for each in ("items", "questions")] == [2, 4]
    assert [options[each].annotation for each in ("items", "questions")] == [Items, Questions]
    command(name="birds", items=5, questions=4, json=True)
    assert called == [("birds", Size(items=5), True)]
