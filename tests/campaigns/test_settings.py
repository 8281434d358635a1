import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.campaigns.setting_values import read_setting
from askfew.campaigns.settings import Settings
from askfew.errors import InvalidInput, shown

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)
KINDS: st.SearchStrategy[AnswerKind] = st.one_of(
    st.just(YesNo()),
    st.tuples(FLOATS, FLOATS).filter(lambda ends: ends[0] < ends[1]).map(lambda e: Scale(*e)),
    st.floats(1e-6, 1e6).map(Number),
)
SETTINGS = st.builds(
    Settings,
    name=st.from_regex(r"[a-zA-Z0-9é日][\w .-]{0,60}[a-z0-9_.-]", fullmatch=True).filter(
        lambda name: all(char.isalnum() or char in " -_." for char in name)
    ),
    delta=st.floats(1e-9, 0.999),
    answers=KINDS,
    max_answers=st.integers(1, 10**9),
    answers_per_worker_and_cell=st.integers(1, 10**9),
    price=st.floats(0, 1e9) | st.integers(0, 10**9),
    seed=st.integers(0, 2**63 - 1),
    lease_seconds=st.floats(0, 3e7, exclude_min=True) | st.integers(1, 1000),
    step_timeout=st.floats(0, 3e7),
    guidelines=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
KEYS = list(Settings("x").to_dict())


@given(SETTINGS)
def test_settings_survive_json(settings: Settings) -> None:
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


@given(st.sampled_from(KEYS), ANYTHING)
def test_any_value_is_taken_or_refused_with_a_sentence(key: str, value: object) -> None:
    sentence = ""
    try:
        taken = read_setting(key, value)
        assert read_setting(key, taken) == taken
    except InvalidInput as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert len(sentence) < 400


@given(st.dictionaries(st.sampled_from(KEYS) | st.text(), ANYTHING))
def test_any_table_is_taken_or_refused(table: dict[str, object]) -> None:
    try:
        settings = Settings.from_dict(table)
    except InvalidInput:
        return
    assert settings.name


def test_defaults() -> None:
    settings = Settings("birds")
    assert settings.answers == YesNo()
    assert (settings.delta, settings.max_answers, settings.method) == (0.05, 10_000, "rule")
    assert (settings.lease_seconds, settings.step_timeout) == (600, 3600)
    assert (settings.price, settings.seed, settings.answers_per_worker_and_cell) == (0, 0, 1)


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("yes-no", YesNo()),
        ({"scale": [1, 5]}, Scale(1, 5)),
        ({"scale": [-0.5, 2]}, Scale(-0.5, 2)),
        ({"number": {"sigma": 2}}, Number(2.0)),
        (Scale(1, 5), Scale(1, 5)),
    ],
)
def test_kinds_of_answers(written: object, kind: AnswerKind) -> None:
    settings = Settings.from_dict({"name": "x", "answers": written})
    assert settings.answers == kind
    assert Settings.from_dict(settings.to_dict()).answers == kind


@pytest.mark.parametrize(
    "written",
    [
        "yes",
        "",
        None,
        True,
        {},
        [],
        {"scale": [1]},
        {"scale": [5, 1]},
        {"scale": [1, 1]},
        {"scale": [1, 2, 3]},
        {"scale": "15"},
        {"scale": [True, 5]},
        {"scale": ["1", "5"]},
        {"scale": [0, math.inf]},
        {"scale": [math.nan, 1]},
        {"scale": [0, 10**400]},
        {"scale": [0, 5e-324]},
        {"scale": [1, 5], "number": {"sigma": 1}},
        {"number": 2},
        {"number": {}},
        {"number": {"sigma": 0}},
        {"number": {"sigma": True}},
        {"number": {"sigma": 10**400}},
        {"number": {"sigma": 1, "mean": 0}},
    ],
)
def test_other_answers_are_refused(written: object) -> None:
    with pytest.raises(InvalidInput, match="answers must be"):
        read_setting("answers", written)


@pytest.mark.parametrize(
    "written", [{"scale": [-1e51, 1]}, {"scale": [0, 1.7e308]}, {"number": {"sigma": 1e-51}}]
)
def test_answers_that_could_not_be_squared_are_refused(written: object) -> None:
    with pytest.raises(InvalidInput, match=r"answers: .* to 1e\+50, got"):
        read_setting("answers", written)


@pytest.mark.parametrize("name", ["birds", "a", "x" * 80, "Birds 2.1_b-c", "Vögel", "हिन्दी", "7"])
def test_names_for_humans(name: str) -> None:
    assert Settings(name).name == name


def test_a_name_is_kept_in_its_composed_form() -> None:
    assert Settings("Vo\u0308gel") == Settings("V\u00f6gel")


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "x" * 81, " a", "a ", "-a", ".", "..", "a/b", "a\\b", "a\nb", "a\0"),
        *("a\u200bb", "a'", 'a"', "a;", "\u0308a", "\ud800", 7, None, ["a"], True),
    ],
    ids=shown,
)
def test_other_names_are_refused(name: Any) -> None:
    with pytest.raises(InvalidInput, match="name must be 1 to 80 letters"):
        Settings(name)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("delta", 0),
        ("delta", 1),
        ("delta", math.nan),
        ("delta", "0.05"),
        ("delta", True),
        ("delta", 10**400),
        ("max_answers", 0),
        ("max_answers", 10**9 + 1),
        ("max_answers", 5.0),
        ("max_answers", True),
        ("max_answers", "5"),
        ("answers_per_worker_and_cell", 0),
        ("answers_per_worker_and_cell", None),
        ("price", -0.01),
        ("price", math.inf),
        ("price", math.nan),
        ("price", "0.02"),
        ("price", False),
        ("seed", -1),
        ("seed", 2**63),
        ("seed", 16**5000),
        ("seed", 1.5),
        ("lease_seconds", 0),
        ("lease_seconds", -1),
        ("lease_seconds", 10**9),
        ("lease_seconds", "600"),
        ("step_timeout", -1),
        ("step_timeout", math.inf),
        ("method", "papper"),
        ("method", None),
        ("method", ["paper"]),
        ("method", 16**5000),
        ("options", []),
        ("options", {"a": math.nan}),
        ("options", {"a": b""}),
        ("options", {"a": 16**5000}),
        ("guidelines", 3),
        ("guidelines", "x" * 10_001),
        ("guidelines", "a\0b"),
        ("guidelines", "\udc00"),
    ],
    ids=shown,
)
def test_a_wrong_value_is_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=f"^{key}"):
        Settings.from_dict({"name": "x", key: value})


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean max_answers"):
        Settings.from_dict({"name": "x", "max_answer": 3})
    with pytest.raises(InvalidInput, match="use name, delta, answers"):
        Settings.from_dict({"name": "x", "zzz": 3})


def test_an_unknown_method_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean paper"):
        Settings("x", method="papper")


def test_a_name_is_needed() -> None:
    with pytest.raises(InvalidInput, match="must have a name"):
        Settings.from_dict({"delta": 0.1})


def test_options_are_those_of_the_method() -> None:
    assert Settings("x", method="told-gap", options={"gap": 1}).options == {"gap": 1}
    assert Settings("x", method="kmeans", options={"budget": 100}).options == {"budget": 100}


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        ("paper", {"gap": 1}, "paper takes the options"),
        ("told-gap", {}, "told-gap needs the option gap"),
        ("told-gap", {"gap": "1"}, "the option gap must be a number"),
        ("told-gap", {"gap": True}, "the option gap must be a number"),
        ("told-gap", {"gap": 1e300}, "the option gap must be a number"),
        ("frugal", {"hunt": "1"}, "the option hunt must be a number"),
        ("kmeans", {}, "kmeans needs a budget"),
        ("kmeans", {"budget": 10**18}, "the option budget must be a whole number"),
        ("frugal", {"budget": 10}, "frugal stops by itself"),
        ("frugal", {"delta": 0.1}, "options are what the method alone takes, got delta"),
        ("frugal", {"rng": 0.1}, "options are what the method alone takes, got rng"),
        ("frugal", {"method": "paper"}, "options are what the method alone takes, got method"),
        ("frugal", {"problem": 1}, "options are what the method alone takes, got problem"),
    ],
)
def test_other_options_are_refused(method: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        Settings("x", method=method, options=options)


def test_options_are_a_copy() -> None:
    mine = {"gap": 1.0}
    settings = Settings("x", method="told-gap", options=mine)
    mine["gap"] = 2.0
    settings.to_dict()["options"]["gap"] = 3.0
    assert settings.options == {"gap": 1.0}


def test_numpy_numbers_become_plain() -> None:
    settings = Settings("x", seed=np.int64(3), price=np.float64(0.5))  # type: ignore[arg-type]
    assert json.loads(json.dumps(settings.to_dict()))["seed"] == 3
    assert type(settings.price) is float
