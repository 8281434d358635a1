"""Which questions carry a split, agree with it, or go their own way."""

import numpy as np
import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.checks.questions import QuestionCheck, questions_of
from askfew.estimates.cells import CellSums
from askfew.records import Floats, Ints, Problem


def cells_of(rng: np.random.Generator, means: Floats, times: int = 1) -> CellSums:
    where = np.indices(means.shape).reshape(2, -1)
    sums = rng.binomial(times, means).astype(float).ravel()
    return CellSums(where[0], where[1], np.full(sums.size, times), sums, sums)


def asked(
    cells: CellSums,
    groups: Ints,
    count: int,
    carrying: list[int],
    voting: list[int] | None,
    kind: AnswerKind | None = None,
) -> dict[int, QuestionCheck]:
    problem = Problem(int(cells.item.max()) + 1, int(cells.question.max()) + 1, kind or YesNo())
    found = questions_of(
        problem,
        cells,
        groups[cells.item],
        count,
        carrying=carrying,
        voting=voting,
        identical=False,
    )
    return {each.question: each for each in found}


def table(rng: np.random.Generator, groups: Ints) -> Floats:
    """Five questions follow the groups, three do not, and one has a split of its own."""
    means = np.full((len(groups), 9), 0.5)
    means[:, :5] = np.where(groups == 1, 0.9, 0.1)[:, np.newaxis]
    means[:, 8] = rng.choice([0.1, 0.9], len(groups))
    return means


def test_each_question_has_its_role() -> None:
    rng = np.random.default_rng(1)
    groups = np.arange(120) % 2
    found = asked(cells_of(rng, table(rng, groups)), groups, 2, [0, 1, 2], [0, 1, 2])
    assert [found[q].role for q in range(3)] == ["carries"] * 3
    assert [found[q].role for q in (3, 4)] == ["agrees"] * 2
    assert [found[q].role for q in (5, 6, 7, 8)] == ["own way"] * 4
    assert all(each.low <= each.gap <= each.high for each in found.values())  # type: ignore[operator]


def test_few_answers_say_nothing() -> None:
    rng = np.random.default_rng(1)
    groups = np.arange(6) % 2
    found = asked(cells_of(rng, table(rng, groups)), groups, 2, [0], [0])
    assert {found[q].role for q in (5, 6, 7)} == {"unknown"}


def test_a_question_does_not_vote_for_itself() -> None:
    """Groups that are nothing but one noisy question's answers: it alone seems to carry them."""
    rng = np.random.default_rng(2)
    cells = cells_of(rng, np.full((200, 8), 0.5))
    groups = cells.sum.reshape(200, 8)[:, 0].astype(np.int64)
    credulous = asked(cells, groups, 2, [0], [])
    assert credulous[0].gap == 1.0
    honest = asked(cells, groups, 2, [0], [0])
    assert honest[0].gap is not None
    assert not honest[0].honest or honest[0].gap < 0.5


def test_all_questions_voted_where_groups_are_guessed() -> None:
    rng = np.random.default_rng(4)
    groups = np.arange(150) % 2
    cells = cells_of(rng, table(rng, groups))
    found = asked(cells, groups, 2, [], None)
    assert all(found[q].role == "agrees" and found[q].honest for q in range(5))
    assert found[8].role == "own way"


def test_of_several_groups_the_two_farthest_apart_count() -> None:
    rng = np.random.default_rng(5)
    groups = np.arange(150) % 3
    means = np.full((150, 3), 0.5)
    means[:, 0] = np.array([0.1, 0.5, 0.9])[groups]
    means[:, 1] = np.array([0.1, 0.1, 0.9])[groups]
    found = asked(cells_of(rng, means), groups, 3, [0], [])
    assert found[1].role == "agrees"
    assert found[1].gap == pytest.approx(0.8, abs=0.15)
    assert found[2].role == "own way"


@pytest.mark.parametrize("times", [1, 6])
@pytest.mark.parametrize("spread", [0.0, 0.14])
def test_intervals_hold_as_often_as_they_say(times: int, spread: float) -> None:
    """With repeats too: a second answer about an item says less than one about another."""
    rng = np.random.default_rng(6)
    held = total = 0
    groups = np.arange(24) % 2
    for _ in range(200):
        centres = table(rng, groups)[:, :8]
        means = np.clip(centres + rng.normal(0, spread * 0.8, centres.shape), 0, 1)
        true = np.array([0.8] * 5 + [0.0] * 3)
        if spread:  # what was drawn, for items beyond these
            true = np.full(8, np.nan)
            true[5:] = 0.0
        for question, each in asked(cells_of(rng, means, times), groups, 2, [], []).items():
            if np.isfinite(true[question]):
                assert each.low is not None
                assert each.high is not None
                held += each.low <= true[question] <= each.high
                total += 1
    assert held / total > 0.93


@pytest.mark.parametrize("kind", [Scale(1, 5), Number(0.5)])
def test_scales_and_numbers_too(kind: AnswerKind) -> None:
    rng = np.random.default_rng(3)
    groups = np.arange(100) % 2
    where = np.indices((100, 6)).reshape(2, -1)
    values = 3 + (where[1] < 3) * (2 * groups[where[0]] - 1) * 1.5 + rng.normal(0, 0.2, 600)
    values = np.clip(values, 1, 5)
    cells = CellSums(where[0], where[1], np.ones(600, dtype=np.int64), values, values**2)
    found = asked(cells, groups, 2, [0, 1], [0, 1], kind)
    assert [found[q].role for q in range(6)] == ["carries"] * 2 + ["agrees"] + ["own way"] * 3
    assert found[2].gap == pytest.approx(3.0, abs=0.1)
