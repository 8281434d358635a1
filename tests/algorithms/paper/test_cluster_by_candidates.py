import numpy as np
import pytest

from askfew.algorithms.paper import cluster_by_candidates
from askfew.answers import Number
from askfew.driver import AskTell, run
from askfew.records import Ints, Problem
from askfew.simulation import Instance

EXPERIMENT_1 = Instance(items=20, questions=1000, useful=53, gap=15 / 53**0.5)


def test_it_labels_everything_at_about_the_published_cost() -> None:
    """CBC(0.4) alone on Experiment 1, s = 53: 56 703 answers on average, no errors."""
    runs, wrong, answers = 60, 0, 0
    for seed in np.random.SeedSequence(1).spawn(runs):
        for_world, for_method = seed.spawn(2)
        world = EXPERIMENT_1.draw(for_world)
        candidate = int(np.flatnonzero(world.labels)[0])
        rng = np.random.default_rng(for_method)
        ended = run(cluster_by_candidates(world.oracle.problem, 0.4, candidate, rng), world.oracle)
        assert ended.result is not None
        labels, _ = ended.result
        wrong += int((labels != world.labels).any())
        answers += ended.meter.answers
    assert answers / runs == pytest.approx(56_703 * 1.05, rel=0.2)
    assert wrong <= 1


def noiseless(problem: Problem, candidate: int, max_answers: int) -> AskTell[tuple[Ints, int]]:
    """A world where items 2 and 3 differ from items 0 and 1, by 4, on question 1."""
    procedure = cluster_by_candidates(problem, 0.1, candidate, np.random.default_rng(0))
    session = AskTell(procedure, problem, max_answers=max_answers)
    while (batch := session.ask()) is not None:
        differs = (batch.items >= 2) & (batch.questions == 1)
        session.tell(batch.repeats, 4.0 * batch.repeats * differs)
    return session


def test_the_question_that_separates_is_returned() -> None:
    ended = noiseless(Problem(4, 3, Number(1.0)), candidate=3, max_answers=10**6).ended
    assert ended is not None
    assert ended.result is not None
    labels, question = ended.result
    assert (labels.tolist(), question) == ([0, 0, 1, 1], 1)


def test_a_wrong_candidate_never_ends_by_itself() -> None:
    ended = noiseless(Problem(4, 3, Number(1.0)), candidate=1, max_answers=20_000).ended
    assert ended is not None
    assert ended.status == "budget"


def test_labels_wait_until_every_answer_has_come() -> None:
    """Fewer answers than planned would void the bound, so the missing ones are asked again."""
    problem = Problem(4, 1, Number(1.0))
    session = AskTell(cluster_by_candidates(problem, 0.1, 3, np.random.default_rng(0)), problem)
    labelling = []
    while (batch := session.ask()) is not None:
        counts = batch.repeats.copy()
        if "label every item" in batch.why:
            labelling.append(batch)
            counts = -(-counts // 2)
        session.tell(counts, 3.0 * counts * (batch.items >= 2))
    assert len(labelling) > 1
    assert labelling[1].repeats.sum() < labelling[0].repeats.sum()
    assert session.ended is not None
    assert session.ended.result is not None
    assert session.ended.result[0].tolist() == [0, 0, 1, 1]
