from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askfew import oracles
from askfew.algorithms.paper import bandit_clustering
from askfew.answers import Number
from askfew.driver import STALLED_AFTER, AskTell, replay, run
from askfew.errors import InvalidBatch, InvalidTally, OutOfTurn, ReplayMismatch
from askfew.log import Log, Step
from askfew.records import Batch, Finding, Ints, Problem, Procedure, Snapshot, Tally
from askfew.testing import ForgetfulOracle, two_groups

PROBLEM = Problem(3, 2)


def cells(*repeats: int, known: Snapshot | None = None) -> Batch:
    rows = np.arange(len(repeats))
    return Batch(rows % 3, rows % 2, np.array(repeats), f"{len(repeats)} rows", known)


def steps(*batches: Batch) -> Procedure[list[float]]:
    """Asks each Batch in turn; returns the total of each Tally."""
    totals = []
    for batch in batches:
        tally = yield batch
        totals.append(float(tally.sums.sum()))
    return totals


def all_yes(session: AskTell[Any]) -> None:
    batch = session.ask()
    assert batch is not None
    session.tell(batch.repeats, batch.repeats)


class TestAskAndTell:
    def test_it_asks_in_turn_and_ends_with_the_result(self) -> None:
        session = AskTell(steps(cells(1), cells(2, 3)), PROBLEM)
        all_yes(session)
        assert session.ended is None
        session.tell([2, 0], [1, 0])
        assert session.ask() is None
        assert session.ended is not None
        assert (session.ended.status, session.ended.result) == ("done", [1.0, 1.0])
        assert (session.meter.answers, session.meter.batches, session.meter.cells) == (3, 2, 3)

    def test_asking_twice_gives_the_same_batch(self) -> None:
        session = AskTell(steps(cells(1), cells(2)), PROBLEM)
        assert session.ask() is session.ask()

    def test_a_procedure_that_asks_nothing_is_done_at_once(self) -> None:
        session = AskTell(steps(), PROBLEM)
        assert session.ended is not None
        assert (session.ended.status, session.ended.result) == ("done", [])

    def test_telling_after_the_end_is_out_of_turn(self) -> None:
        session = AskTell(steps(cells(1)), PROBLEM)
        all_yes(session)
        with pytest.raises(OutOfTurn, match="none is open"):
            session.tell([1], [1])
        assert session.meter.answers == 1

    @pytest.mark.parametrize(
        "told", [([2], [0]), ([1], [2]), ([1, 1], [0, 0]), ([1], [np.nan]), ([-1], [0])]
    )
    def test_what_is_refused_changes_nothing(self, told: tuple[Any, Any]) -> None:
        log = Log(PROBLEM)
        session = AskTell(steps(cells(1), cells(2)), PROBLEM, log=log)
        before = session.ask()
        with pytest.raises(InvalidTally):
            session.tell(*told)
        assert session.ask() is before
        assert (session.meter.answers, len(log)) == (0, 0)
        all_yes(session)
        assert (session.meter.answers, len(log)) == (1, 1)

    def test_the_latest_known_is_kept(self) -> None:
        first, second = Snapshot("one", np.full(3, -1)), Snapshot("two", np.array([0, -1, -1]))
        session = AskTell(steps(cells(1, known=first), cells(1), cells(1, known=second)), PROBLEM)
        assert session.known is first
        all_yes(session)
        assert session.known is first
        all_yes(session)
        assert session.known is second

    def test_the_tally_a_procedure_gets_is_not_the_caller_s_array(self) -> None:
        sums = np.array([1.0])
        session = AskTell(steps(cells(1), cells(1)), PROBLEM)
        session.tell([1], sums)
        sums[0] = 99.0
        all_yes(session)
        assert session.ended is not None
        assert session.ended.result == [1.0, 1.0]


class TestWrongProcedures:
    def test_a_forgotten_yield_from_is_rejected(self) -> None:
        def outer() -> Generator[Any, Tally, None]:
            yield steps(cells(1))

        with pytest.raises(InvalidBatch, match=r"got generator: was a 'yield from' forgotten\?"):
            AskTell(outer(), PROBLEM)

    def test_a_wrong_batch_later_on_leaves_nothing_open(self) -> None:
        def wrong() -> Procedure[None]:
            yield cells(1)
            yield Batch(np.array([9]), np.array([0]), np.array([1]))

        log = Log(PROBLEM)
        session = AskTell(wrong(), PROBLEM, log=log)
        with pytest.raises(InvalidBatch, match="items must lie between 0 and 2"):
            all_yes(session)
        assert session.ask() is None
        assert len(log) == 1
        with pytest.raises(OutOfTurn):
            session.tell([1], [1])

    def test_a_procedure_that_crashes_is_not_done(self) -> None:
        def crashing() -> Procedure[None]:
            yield cells(1)
            raise ZeroDivisionError

        session = AskTell(crashing(), PROBLEM)
        with pytest.raises(ZeroDivisionError):
            all_yes(session)
        assert session.ask() is None
        assert session.ended is None


class TestBudget:
    def test_a_batch_that_would_cross_the_cap_is_not_asked(self) -> None:
        labels = np.array([0, 1, -1])
        last = cells(3, known=Snapshot("last", labels))
        session = AskTell(steps(cells(4), cells(3), last), PROBLEM, max_answers=9)
        all_yes(session)
        all_yes(session)
        assert session.ask() is None
        assert session.ended is not None
        assert session.ended.status == "budget"
        assert session.ended.result is None
        assert session.ended.known is not None
        assert session.ended.known.labels.tolist() == [0, 1, -1]
        assert session.meter.answers == 7
        assert "the cap is 9 answers and 7 are spent" in session.ended.reason

    def test_the_cap_itself_may_be_spent(self) -> None:
        session = AskTell(steps(cells(4), cells(5)), PROBLEM, max_answers=9)
        all_yes(session)
        all_yes(session)
        assert session.ended is not None
        assert session.ended.status == "done"

    def test_the_procedure_is_closed(self) -> None:
        closed = []

        def careful() -> Procedure[None]:
            try:
                yield cells(9)
            finally:
                closed.append(True)

        AskTell(careful(), PROBLEM, max_answers=3)
        assert closed == [True]


class TestStalled:
    def test_three_batches_without_any_answer_end_the_run(self) -> None:
        session = AskTell(steps(*[cells(2, 2)] * 9), PROBLEM)
        for _ in range(STALLED_AFTER):
            assert session.ended is None
            session.tell([0, 0], [0, 0])
        assert session.ended is not None
        assert (session.ended.status, session.ended.result) == ("stalled", None)
        assert session.ended.meter.batches == 3

    def test_one_answer_in_between_is_life(self) -> None:
        session = AskTell(steps(*[cells(2, 2)] * 9), PROBLEM)
        for count in (0, 0, 1, 0, 0, 1, 0, 0):
            session.tell([0, count], [0, 0])
        assert session.ended is None


def live_run(seed: int = 3, delta: float = 0.2) -> tuple[Log, Any]:
    log = Log(Problem(4, 3, Number(1.0)))
    ended = run(method(seed, delta), two_groups(log.problem, seed=5), log=log)
    return log, ended


def method(seed: int = 3, delta: float = 0.2) -> Procedure[Finding]:
    return bandit_clustering(Problem(4, 3, Number(1.0)), delta, np.random.default_rng(seed))


def told_otherwise(log: Log, index: int, row: int = 0) -> Log:
    """The same log with one sum changed by a hair, its seals left as they were."""
    step = log.steps[index]
    sums = step.tally.sums.copy()
    sums[row] = np.nextafter(sums[row], np.inf)
    tally = Tally(step.tally.counts, sums, step.tally.squares)
    changed = [*log.steps]
    changed[index] = Step(step.batch, tally, step.seal)
    return Log(log.problem, log.recipe, changed, complete=log.complete)


class TestReplay:
    def test_it_equals_the_live_run(self) -> None:
        log, ended = live_run()
        session = replay(method(), log)
        assert session.ended is not None
        assert session.ended.status == ended.status == "done"
        assert session.ended.result is not None
        assert session.ended.result.labels.tolist() == ended.result.labels.tolist()
        assert vars(session.ended.meter) == vars(ended.meter)

    def test_it_goes_on_from_anywhere(self) -> None:
        log, ended = live_run()
        for cut in (0, 1, len(log) // 2, len(log) - 1):
            part = Log(log.problem, steps=log.steps[:cut])
            session = replay(method(), part)
            for step in log.steps[cut:]:
                session.tell(step.tally.counts, step.tally.sums, step.tally.squares)
            assert session.ended is not None
            assert session.ended.result is not None
            assert session.ended.result.labels.tolist() == ended.result.labels.tolist()
            assert [step.seal for step in part] == [step.seal for step in log]
            assert part.complete

    @pytest.mark.parametrize("where", ["first", "middle", "last"])
    def test_one_changed_answer_is_caught_at_its_step(self, where: str) -> None:
        log, _ = live_run()
        index = {"first": 0, "middle": len(log) // 2, "last": len(log) - 1}[where]
        with pytest.raises(ReplayMismatch, match=f"step {index} of the log") as caught:
            replay(method(), told_otherwise(log, index))
        assert caught.value.step == index

    def test_every_row_of_the_last_step_is_sealed(self) -> None:
        log, _ = live_run()
        last = len(log) - 1
        for row in range(len(log.steps[last].batch)):
            with pytest.raises(ReplayMismatch):
                replay(method(), told_otherwise(log, last, row))

    def test_another_seed_is_caught_with_both_batches(self) -> None:
        log, _ = live_run()
        with pytest.raises(ReplayMismatch, match="seed") as caught:
            replay(method(seed=4), log)
        error = caught.value
        assert error.asked is not None
        assert error.would_ask is not None
        assert error.asked.asks_the_same_as(log.steps[error.step].batch)
        assert not error.would_ask.asks_the_same_as(error.asked)

    def test_another_delta_is_caught_where_it_first_matters(self) -> None:
        log, _ = live_run()
        with pytest.raises(ReplayMismatch) as caught:
            replay(method(delta=1e-9), log)
        assert 0 < caught.value.step <= len(log)

    def test_a_log_cut_short_that_says_it_is_complete(self) -> None:
        log, _ = live_run()
        short = Log(log.problem, steps=log.steps[:-1], complete=True)
        with pytest.raises(ReplayMismatch) as caught:
            replay(method(), short)
        assert caught.value.step == len(short)
        assert caught.value.asked is None
        assert caught.value.would_ask is not None

    def test_a_log_that_goes_on_after_the_end(self) -> None:
        log, _ = live_run()
        length = len(log)
        log.append(log.steps[0].batch, log.steps[0].tally)
        with pytest.raises(ReplayMismatch) as caught:
            replay(method(), log)
        assert caught.value.step == length
        assert caught.value.would_ask is None

    def test_two_steps_swapped(self) -> None:
        log, _ = live_run()
        log.steps[0], log.steps[1] = log.steps[1], log.steps[0]
        with pytest.raises(ReplayMismatch) as caught:
            replay(method(), log)
        assert caught.value.step == 0

    def test_a_replayed_session_goes_on_writing_its_log(self) -> None:
        log = Log(PROBLEM)
        first = AskTell(steps(cells(1), cells(2)), PROBLEM, log=log)
        all_yes(first)
        second = replay(steps(cells(1), cells(2)), log)
        all_yes(second)
        assert len(log) == 2
        assert log.complete

    def test_it_stalls_where_the_live_run_did(self) -> None:
        log = Log(PROBLEM)
        session = AskTell(steps(*[cells(2)] * 9), PROBLEM, log=log)
        for _ in range(3):
            session.tell([0], [0])
        again = replay(steps(*[cells(2)] * 9), log)
        assert again.ended is not None
        assert again.ended.status == "stalled"


class TestRun:
    def test_an_exhausted_table_ends_the_run_with_what_is_known(self) -> None:
        table = oracles.table([[[1, 0], [1]], [[1], [1]], [[0], [0, 1]]], rng=0)
        known = Snapshot("here", np.array([0, -1, 1]))
        asked_again = steps(cells(1, 1), cells(1, 1), cells(1, 1, known=known))
        ended = run(asked_again, table)
        assert (ended.status, ended.known) == ("exhausted", known)
        assert "cells are used up" in ended.reason
        assert ended.meter.answers == 3  # two cells, one of which had a second answer

    def test_an_unfinished_log_is_not_asked_again(self) -> None:
        log, _ = live_run()
        asked: list[int] = []
        world = two_groups(log.problem, seed=5)

        class Counting:
            problem = world.problem

            def __call__(self, batch: Batch, /) -> Tally:
                asked.append(len(batch))
                return world(batch)

        part = Log(log.problem, steps=log.steps[:-3])
        ended = run(method(), Counting(), log=part)
        assert ended.status == "done"
        assert ended.meter.batches == len(part) == len(part.steps)
        assert len(asked) == len(part) - (len(log) - 3)


def test_an_oracle_that_answers_something_else_gets_a_sentence() -> None:
    class Careless:
        problem = PROBLEM

        def __call__(self, batch: Batch, /) -> Any:
            return batch.repeats

    with pytest.raises(InvalidTally, match="must answer a Batch with a Tally, got ndarray"):
        run(steps(cells(1)), Careless())


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), max_size=6), st.data())
def test_the_meter_equals_the_sum_of_counts(asked: list[list[int]], data: st.DataObject) -> None:
    log = Log(PROBLEM)
    session = AskTell(steps(*[cells(*repeats) for repeats in asked]), PROBLEM, log=log)
    total = 0
    while (batch := session.ask()) is not None:
        counts = [data.draw(st.integers(0, int(most))) for most in batch.repeats]
        session.tell(counts, [0] * len(counts))
        total += sum(counts)
    assert session.meter.answers == log.answers == total
    assert session.meter.batches == len(log)


def keeping(shares: Iterator[float]) -> Any:
    def keep(step: int, repeats: Ints) -> Ints:
        share = next(shares, 1.0)
        return np.floor(repeats * share * (np.arange(len(repeats)) % 3 / 2)).astype(np.int64)

    return keep


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(0, 5))
def test_missing_answers_never_break_the_paper_s_method(shares: list[float], seed: int) -> None:
    problem = Problem(4, 3, Number(1.0))
    oracle = ForgetfulOracle(two_groups(problem, seed), keeping(iter(shares)))
    ended = run(method(seed), oracle, max_answers=3000)
    assert ended.status in ("done", "budget", "stalled")
    assert ended.known is not None
    assert len(ended.known.labels) == 4
