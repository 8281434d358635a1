import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import askfew
from askfew import Number, Scale, YesNo, oracles
from askfew.errors import CellExhausted, InvalidInput
from askfew.records import Batch


def ask(oracle: oracles.TableOracle, *rows: tuple[int, int, int]) -> list[tuple[int, float]]:
    items, questions, repeats = np.array(rows).T
    tally = oracle(Batch(items, questions, repeats))
    return list(zip(tally.counts.tolist(), tally.sums.tolist(), strict=True))


def powers() -> list[list[list[object]]]:
    """Every recorded answer is a different power of two, so a sum tells which were drawn."""
    return [[[1, 2, 4], [8]], [[16, 32], [64, 128]]]


def test_a_cell_gives_what_is_left_and_then_says_so() -> None:
    oracle = oracles.table(powers(), Number(), rng=1)
    assert ask(oracle, (0, 0, 2))[0][0] == 2
    assert ask(oracle, (0, 0, 2))[0][0] == 1
    with pytest.raises(CellExhausted, match="used up, the first item 0, question 0"):
        ask(oracle, (0, 0, 1))


def test_an_exhausted_cell_costs_the_other_rows_nothing() -> None:
    oracle = oracles.table(powers(), Number(), rng=1)
    ask(oracle, (0, 1, 1))
    assert ask(oracle, (1, 0, 2), (0, 1, 1)) == [(2, 48.0), (0, 0.0)]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(1, 3)), max_size=9))
def test_every_recorded_answer_is_used_at_most_once(rows: list[tuple[int, int, int]]) -> None:
    oracle = oracles.table(powers(), Number(), rng=3)
    drawn = 0
    for row in rows:
        try:
            ((count, total),) = ask(oracle, row)
        except CellExhausted:
            continue
        assert int(total).bit_count() == count
        assert drawn & int(total) == 0
        drawn += int(total)


def test_a_cell_twice_in_one_batch_is_drawn_apart() -> None:
    oracle = oracles.table(powers(), Number(), rng=1)
    (one, first), (two, second) = ask(oracle, (0, 0, 2), (0, 0, 2))
    assert (one, two) == (2, 1)
    assert first + second == 7


def test_answers_come_in_random_order() -> None:
    firsts = Counter(
        ask(oracles.table([[[0, 1, 2]], [[0]]], Number(), rng=seed), (0, 0, 1))[0][1]
        for seed in range(3000)
    )
    assert all(abs(firsts[value] - 1000) < 130 for value in (0.0, 1.0, 2.0))


def test_an_exhausted_table_ends_a_run_with_status_exhausted() -> None:
    few: list[list[list[object]]] = [[[0, 0, 0], [1, 0]], [[1, 1, 1], [0, 1]]]
    outcome = askfew.cluster(oracles.table(few, rng=1), delta=0.1, method="paper", rng=2)
    assert outcome.status == "exhausted"
    assert outcome.answers <= 10
    assert outcome.labels.tolist() == [0, -1]
    assert outcome.certificate is None


def test_enough_records_finish_the_run() -> None:
    many: list[list[list[object]]] = [[[label] * 4000] for label in (0, 1, 0, 1)]
    outcome = askfew.cluster(oracles.table(many, rng=1), delta=0.1, method="paper", rng=2)
    assert outcome.status == "done"
    assert outcome.labels.tolist() == [0, 1, 0, 1]


def test_an_array_of_records_is_a_table_too() -> None:
    oracle = oracles.table(np.ones((3, 2, 4)), Scale(0, 1), rng=1)  # type: ignore[arg-type]
    assert oracle.problem == askfew.Problem(3, 2, Scale(0, 1))
    assert ask(oracle, (2, 1, 9)) == [(4, 4.0)]


WRONG_TABLES: dict[str, Any] = {
    "a hole": [[[1], []], [[1], [0]]],
    "a missing cell": [[[1], None], [[1], [0]]],
    "a number for a cell": [[1, 0], [0, 1]],
    "ragged": [[[1], [0]], [[1]]],
    "empty": [],
    "no questions": [[], []],
    "one item": [[[1], [0]]],
    "rows that are no lists": [1, 2],
    "NaN": [[[1], [float("nan")]], [[1], [0]]],
    "no answer": [[[1], [None]], [[1], [0]]],
    "outside yes and no": [[[1], [2]], [[1], [0]]],
    "text": [[[1], ["maybe"]], [[1], [0]]],
}


@pytest.mark.parametrize("recorded", WRONG_TABLES.values(), ids=WRONG_TABLES.keys())
def test_a_wrong_table_is_refused(recorded: Any) -> None:
    with pytest.raises(InvalidInput):
        oracles.table(recorded)


def test_the_sentence_names_the_cell() -> None:
    with pytest.raises(InvalidInput, match=r"got 9 for item 1, question 0: fix the table"):
        oracles.table([[[1]], [[9]]], Scale(0, 5))


def recorded_crowd(rng: int = 5) -> oracles.TableOracle:
    """Twelve answers for each cell of 40 items and 6 questions that tell two groups apart."""
    draws = np.random.default_rng(0)
    chances = np.where(np.arange(40) % 2 == 0, 0.15, 0.85)
    answers = [[(draws.random(12) < p).astype(int).tolist() for _ in range(6)] for p in chances]
    return oracles.table(answers, rng=rng)


@pytest.mark.parametrize("loaded_again", [False, True])
@pytest.mark.parametrize("method", ["frugal", "rule"])
def test_a_run_that_goes_on_from_its_log_gets_no_answer_twice(
    method: str, loaded_again: bool
) -> None:
    """It ends as the run that was never stopped, with the same object and with a new one."""
    given: dict[str, Any] = {"method": method, "delta": 0.05, "rng": 1}
    whole = askfew.cluster(recorded_crowd(), max_answers=3000, **given)
    table = recorded_crowd()
    log = askfew.Log(table.problem)
    assert askfew.cluster(table, max_answers=300, log=log, **given).status == "budget"
    if loaded_again:
        table = recorded_crowd()
    rest = askfew.cluster(table, max_answers=3000, log=log, **given)
    assert (rest.status, rest.answers) == (whole.status, whole.answers)
    assert rest.labels.tolist() == whole.labels.tolist()
    asked = np.zeros((40, 6))
    for step in log.steps:
        np.add.at(asked, (step.batch.items, step.batch.questions), step.tally.counts)
    assert (asked + table.per_cell == 12).all()


def test_steps_that_are_alike_are_used_up_one_by_one() -> None:
    answers: list[list[list[object]]] = [[[1, 1, 1, 1, 0]], [[0]]]
    table = oracles.table(answers, Number(), rng=1)
    batch = Batch(np.array([1]), np.array([0]), np.array([1]))
    answered = [(batch, table(batch))]
    batch = Batch(np.array([0]), np.array([0]), np.array([1]))
    answered += [(batch, table(batch)) for _ in range(4)]
    assert len({float(tally.sums[0]) for _, tally in answered}) < len(answered)
    loaded_again = oracles.table(answers, Number(), rng=1)
    for each in (table, loaded_again, loaded_again):  # what is used up stays used up, once
        each.catch_up(answered)
        assert each.per_cell.tolist() == [[1.0], [0.0]]


def test_a_log_of_other_draws_is_refused_and_uses_nothing_up() -> None:
    log = askfew.Log(recorded_crowd().problem)
    askfew.cluster(recorded_crowd(), delta=0.05, rng=1, max_answers=300, log=log)
    shuffled = recorded_crowd(rng=6)
    with pytest.raises(InvalidInput, match="load the same record with the same rng"):
        askfew.cluster(shuffled, delta=0.05, rng=1, max_answers=3000, log=log)
    assert (shuffled.per_cell == 12).all()


def test_a_record_has_one_fingerprint_in_whichever_order_its_rows_come() -> None:
    rows = [("owl", "flies?", 1.0), ("elk", "flies?", 0.0), ("owl", "flies?", 0.0)]
    rows += [("elk", "antlers?", 1.0), ("owl", "antlers?", 0.0)]

    def fingerprint(ordered: list[tuple[str, str, float]]) -> str:
        items, questions, values = zip(*ordered, strict=True)
        rng = np.random.default_rng(0)
        return oracles.TableOracle.of_rows(items, questions, values, YesNo(), rng).fingerprint

    known = fingerprint(rows)
    assert all(fingerprint(list(each)) == known for each in itertools.permutations(rows))
    assert fingerprint([*rows[:-1], ("owl", "antlers?", 1.0)]) != known
    assert fingerprint(rows[:-1]) != known
