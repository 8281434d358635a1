import numpy as np
import pytest

from askfew.algorithms.paper import candidate_row
from askfew.answers import Number
from askfew.driver import AskTell, run
from askfew.records import Problem
from askfew.simulation import Instance

EXPERIMENT_1 = Instance(items=20, questions=1000, useful=53, gap=15 / 53**0.5)


def test_it_finds_an_item_of_the_other_group_at_about_the_published_cost() -> None:
    """CR(0.4) alone on Experiment 1, s = 53: 2246 answers on average, 1.6 % errors."""
    runs, wrong, answers = 300, 0, 0
    for seed in np.random.SeedSequence(1).spawn(runs):
        for_world, for_method = seed.spawn(2)
        world = EXPERIMENT_1.draw(for_world)
        procedure = candidate_row(world.oracle.problem, 0.4, np.random.default_rng(for_method))
        ended = run(procedure, world.oracle)
        assert ended.result is not None
        wrong += int(world.labels[ended.result] == 0)
        answers += ended.meter.answers
    assert answers / runs == pytest.approx(2246, rel=0.35)
    assert wrong <= 15


def test_it_never_proposes_the_reference() -> None:
    problem = Problem(2, 1, Number(1.0))
    session = AskTell(candidate_row(problem, 0.1, np.random.default_rng(0)), problem)
    while (batch := session.ask()) is not None:
        session.tell(batch.repeats, 9.0 * batch.repeats * batch.items)
    assert session.ended is not None
    assert session.ended.result == 1


def test_a_larger_sigma_asks_for_more() -> None:
    def cost(sigma: float) -> int:
        problem = Problem(4, 2, Number(sigma))
        session = AskTell(candidate_row(problem, 0.1, np.random.default_rng(0)), problem)
        while (batch := session.ask()) is not None:
            session.tell(batch.repeats, 1.0 * batch.repeats * batch.items)
        return session.meter.answers

    assert cost(0.1) <= cost(1.0) < cost(10.0) < cost(30.0)


def test_no_difference_is_never_found() -> None:
    problem = Problem(4, 2, Number(1.0))
    session = AskTell(
        candidate_row(problem, 0.1, np.random.default_rng(0)), problem, max_answers=20_000
    )
    while (batch := session.ask()) is not None:
        session.tell(batch.repeats, np.zeros(len(batch)))
    assert session.ended is not None
    assert session.ended.status == "budget"
    assert session.ended.known is not None
    assert session.ended.known.labels.tolist() == [0, -1, -1, -1]
