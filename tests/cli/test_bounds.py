import json
import math
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from askfew import theory
from askfew.cli import app
from askfew.errors import InvalidInput

PROBLEM = ["--items", "20", "--questions", "1000", "--useful", "53", "--gap", "2"]


def bounds(*options: str) -> Result:
    return CliRunner().invoke(app, ["bounds", *options])


def document(*options: str) -> dict[str, Any]:
    result = bounds(*PROBLEM, "--json", *options)
    assert result.exit_code == 0, result.output
    read: dict[str, Any] = json.loads(result.stdout)
    return read


def values(read: dict[str, Any]) -> dict[str, float]:
    return {bound["name"]: bound["value"] for bound in read["bounds"]}


def test_the_numbers_are_those_of_the_theory() -> None:
    read = document()
    found, gaps = values(read), [2.0] * 53 + [0.0] * 947
    assert found["Labelling, mean"] == theory.labelling_mean(20, 2.0, 0.05).value
    assert found["Lemma D.2"] == theory.flipping_mean(20, 2.0, 0.05).value
    assert found["Theorem 4.1, finding"] == theory.theorem_4_1(gaps, 20, 0.5, 0.05).value
    assert found["Theorem 3.1"] == theory.theorem_3_1(gaps, 20, 0.5, 0.05).value
    assert found["First separating pair"] == pytest.approx(2000 / 53)
    assert read["effective_sparsity"] == 53
    assert read["complexity"] == theory.complexity(gaps, 20, 0.5)


def test_every_bound_says_what_it_is() -> None:
    for bound in document()["bounds"]:
        for part in ("name", "kind", "of", "when", "formula", "reference", "unit"):
            assert bound[part]
        assert bound["void"] is None or bound["void"].startswith("void")


def test_sigma_scales_lower_bounds() -> None:
    one, three = values(document()), values(document("--sigma", "3"))
    for name in ("Labelling, mean", "Labelling, quantile", "Lemma D.2", "Theorem 4.1, finding"):
        assert three[name] == pytest.approx(9 * one[name])
    assert three["Everyone asked"] == one["Everyone asked"]


def test_the_share_is_that_of_whole_items() -> None:
    """2 % of 20 items is one item, as in a simulated world."""
    assert document("--balance", "0.02")["theta"] == 0.05
    assert document("--balance", "0.98")["theta"] == pytest.approx(0.05)


def test_a_scale_answer_is_four_yes_no_answers() -> None:
    yes_no = values(document("--gap", "0.6", "--noise", "yes-no"))
    scale = values(document("--gap", "0.6", "--noise", "scale"))
    assert yes_no["Labelling, mean"] == pytest.approx(4 * scale["Labelling, mean"])
    kl = theory.binary_kl(0.5, 0.8)
    assert yes_no["Theorem 4.1, finding"] == pytest.approx(math.log(1 / 0.3) / kl * 1000 / 53)


def test_decay_makes_gaps_graded() -> None:
    read = document("--decay", "1")
    assert read["norm_squared"] == pytest.approx(4 * sum(1 / j**2 for j in range(1, 54)))
    assert read["effective_sparsity"] == 1
    assert read["largest_gap"] == 2


def test_certain_answers_are_valid_json() -> None:
    read = document("--gap", "1", "--noise", "yes-no")
    assert read["divergence"] is None
    assert values(read)["Labelling, mean"] == 0
    assert values(read)["Everyone asked"] > 17


def test_the_table_is_readable_and_void_bounds_say_so() -> None:
    result = bounds(*PROBLEM, "--delta", "0.8")
    assert result.exit_code == 0
    words = " ".join(result.stdout.replace("│", " ").split())
    assert "log(1/(4.8 delta)) is negative" in words
    assert "a forecast, not a bound" in words
    assert "at least -" not in words
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


@pytest.mark.parametrize(
    "options",
    [
        ["--items", "1"],
        ["--items", "0"],
        ["--gap", "0"],
        ["--gap", "-1"],
        ["--gap", "nan"],
        ["--sigma", "0"],
        ["--delta", "0"],
        ["--delta", "1"],
        ["--useful", "1001"],
        ["--noise", "loud"],
        ["--noise", "yes-no"],
        ["--balance", "1"],
    ],
)
def test_bad_input_is_one_sentence(options: list[str]) -> None:
    result = bounds(*PROBLEM, *options)
    assert isinstance(result.exception, InvalidInput)


def test_the_problem_must_be_given() -> None:
    assert bounds("--items", "9").exit_code == 2


def test_numbers_have_bounds_without_the_location_and_yes_no_answers_have_not() -> None:
    found = values(document())
    assert found["Gap told, mean"] == theory.told_gap_mean(20, 2.0, 0.05).value
    assert found["Gap untold, mean"] == theory.untold_gap_mean(20, 2.0, 0.05).value
    assert "Gap told, mean" not in values(document("--gap", "0.6", "--noise", "yes-no"))


def test_groups_have_the_rate_of_the_best_mix() -> None:
    yes_no = ["--gap", "0.7", "--noise", "yes-no", "--useful", "8"]
    read = document(*yes_no, "--groups", "5")
    assert set(values(read)) == {"Groups, mean", "Groups, labelling"}
    assert 0 < values(read)["Groups, mean"] < values(read)["Groups, labelling"]
    assert 0 < read["rate"] < theory.yes_no_divergence(0.85, 0.15)
    assert read["questions_a_group"] <= 4
    assert read["questions_in_all"] < read["pairs_of_groups"] == 10
    scale = document("--gap", "0.7", "--noise", "scale", "--useful", "8", "--groups", "5")
    assert scale["rate"] == pytest.approx(4 * read["rate"])
    words = bounds(*PROBLEM, *yes_no, "--groups", "5").stdout
    assert "a forecast, not a bound" in " ".join(words.replace("│", " ").split())


def test_certain_answers_about_groups_are_void() -> None:
    read = document("--gap", "1", "--noise", "yes-no", "--groups", "3")
    assert read["rate"] is None
    assert values(read)["Groups, mean"] == 0
