import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import askfew
from askfew import Batch, Log, Number, Problem, Scale, Tally, YesNo, oracles, sessions
from askfew.errors import (
    AnswerFailed,
    AskfewError,
    InvalidAnswer,
    InvalidInput,
    InvalidTally,
    ReplayMismatch,
)

LABELS = [0, 1, 0, 1, 1]
CHANCES = [[0.05, 0.5], [0.95, 0.5]]


def crowd(seed: int = 1) -> oracles.BernoulliOracle:
    return oracles.bernoulli(CHANCES, labels=LABELS, rng=seed)


class Person:
    """Answers one cell at a time, counts how often it is asked, and may fail at one call."""

    def __init__(self, fail_at: int | None = None, error: Exception | None = None) -> None:
        self.calls = 0
        self.fail_at, self.error = fail_at, error or OSError("line is down")
        self.rng = np.random.default_rng(3)

    def __call__(self, item: int, question: int) -> bool:
        self.calls += 1
        if self.calls == self.fail_at:
            raise self.error
        return bool(self.rng.random() < CHANCES[LABELS[item]][question])


def test_the_front_door_is_what_it_says() -> None:
    assert all(hasattr(askfew, name) for name in askfew.__all__)
    assert 10 <= len(askfew.__all__) <= 16


def test_an_oracle_brings_its_own_sizes() -> None:
    outcome = askfew.cluster(crowd(), delta=0.1, method="paper", rng=7)
    assert outcome.status == "done"
    assert outcome.labels.tolist() == LABELS
    assert outcome.question == 0
    assert outcome.certificate is not None
    assert outcome.certificate.delta == 0.1


def test_a_function_of_item_and_question() -> None:
    person = Person()
    outcome = askfew.cluster(
        person, 5, 2, answers=YesNo(), delta=0.2, method="paper", rng=7, max_answers=10**6
    )
    assert outcome.labels.tolist() == LABELS
    assert outcome.answers == person.calls


def test_a_function_of_a_batch() -> None:
    world = crowd()

    def answer(batch: Batch) -> Tally:
        return world(batch)

    most = 10**6  # more than a function is asked unless told so
    by_function = askfew.cluster(answer, 5, 2, delta=0.2, method="paper", rng=7, max_answers=most)
    by_oracle = askfew.cluster(crowd(), delta=0.2, method="paper", rng=7)
    assert by_function.to_dict() == by_oracle.to_dict()


def test_names_are_what_the_function_gets_and_the_outcome_says() -> None:
    birds, questions = ["owl", "elk", "tit", "yak", "cow"], ["flies?", "pretty?"]
    person = Person()

    def ask(bird: str, question: str) -> bool:
        return person(birds.index(bird), questions.index(question))

    outcome = askfew.cluster(
        ask, birds, questions, delta=0.2, method="paper", rng=7, max_answers=10**6
    )
    assert outcome.groups == [["owl", "tit"], ["elk", "yak", "cow"]]
    assert "question that separates best: flies?" in str(outcome)


@pytest.mark.parametrize(
    ("noise", "world"),
    [
        ("number", oracles.gaussian([[0.0, 0.0], [0.0, 9.0]], labels=LABELS, rng=1)),
        ("scale", oracles.scale([[1.2, 3.0], [4.8, 3.0]], 1, 5, labels=LABELS, rng=1)),
    ],
)
def test_other_kinds_of_answers(noise: str, world: askfew.oracles.GaussianOracle) -> None:
    outcome = askfew.cluster(world, delta=0.1, method="paper", rng=7)
    assert outcome.labels.tolist() == LABELS


def test_a_budget_method_spends_its_budget() -> None:
    outcome = askfew.cluster(crowd(), method="spectral", budget=1000, rng=7)
    assert (outcome.status, outcome.answers, outcome.certificate) == ("done", 1000, None)
    assert outcome.labels.tolist() == LABELS


def test_the_cap_ends_a_run_without_a_traceback() -> None:
    outcome = askfew.cluster(crowd(), delta=0.1, method="paper", rng=7, max_answers=50)
    assert outcome.status == "budget"
    assert outcome.answers <= 50
    assert outcome.labels.tolist() == [0, -1, -1, -1, -1]
    assert outcome.certificate is None


def test_same_seed_same_run() -> None:
    one, same, other = (
        askfew.cluster(crowd(), delta=0.1, method="paper", rng=seed).to_dict() for seed in (7, 7, 8)
    )
    assert one == same
    assert one["answers"] != other["answers"]


class TestAFunctionThatFails:
    def test_its_traceback_is_the_cause_and_nothing_answered_is_lost(self) -> None:
        person = Person(fail_at=500)
        with pytest.raises(AnswerFailed, match="line is down") as caught:
            askfew.cluster(person, 5, 2, delta=0.2, method="paper", rng=7)
        error = caught.value
        assert error.__cause__ is person.error
        assert error.__cause__.__traceback__ is not None
        assert error.log is not None
        assert error.log.answers == 499
        assert error.log.partial is not None

    @pytest.mark.parametrize("through_json", [False, True])
    def test_the_run_goes_on_from_the_log_without_asking_again(self, through_json: bool) -> None:
        whole = Person()
        outcome = askfew.cluster(whole, 5, 2, delta=0.2, method="paper", rng=7)
        person = Person(fail_at=500)
        with pytest.raises(AnswerFailed) as caught:
            askfew.cluster(person, 5, 2, delta=0.2, method="paper", rng=7)
        log = caught.value.log
        assert log is not None
        if through_json:
            log = Log.from_dict(json.loads(json.dumps(log.to_dict())))
        resumed = askfew.cluster(person, 5, 2, delta=0.2, method="paper", log=log)
        assert resumed.to_dict() == outcome.to_dict()
        assert person.calls == whole.calls + 1  # only the call that failed came twice

    def test_it_may_fail_again_and_again(self) -> None:
        whole = Person()
        outcome = askfew.cluster(whole, 5, 2, delta=0.2, method="paper", rng=7)
        person, log, failures = Person(), None, 0
        for fail_at in (3, 400, 401, 700):
            person.fail_at = fail_at
            with pytest.raises(AnswerFailed) as caught:
                askfew.cluster(
                    person, 5, 2, delta=0.2, method="paper", rng=None if log else 7, log=log
                )
            failures += 1
            log = caught.value.log
            assert log is not None
            assert log.answers == person.calls - failures
        resumed = askfew.cluster(person, 5, 2, delta=0.2, method="paper", log=log)
        assert resumed.labels.tolist() == outcome.labels.tolist()
        assert resumed.answers == person.calls - failures

    def test_an_oracle_made_from_a_function_loses_nothing_either(self) -> None:
        oracle = oracles.function(Person(fail_at=500), Problem(5, 2))
        with pytest.raises(AnswerFailed) as caught:
            askfew.cluster(oracle, delta=0.2, method="paper", rng=7)
        assert caught.value.log is not None
        assert caught.value.log.answers == 499

    @pytest.mark.parametrize("answer", [float("nan"), float("inf"), 0.5, 2, "maybe"])
    def test_an_impossible_answer_is_refused_with_its_cell(self, answer: object) -> None:
        answers = iter([True, True, answer])

        def ask(item: str, question: str) -> object:
            return next(answers)

        with pytest.raises(InvalidAnswer, match=r"for item '.', question 'q.'") as caught:
            askfew.cluster(ask, list("abcde"), ["q1", "q2"], delta=0.2, method="paper", rng=7)
        assert caught.value.log is not None
        assert caught.value.log.answers == 2

    def test_an_answer_outside_the_scale_is_refused(self) -> None:
        with pytest.raises(InvalidAnswer, match="a number from 1 to 5, got 6"):
            askfew.cluster(lambda i, q: 6, 5, 2, answers=Scale(1, 5), method="paper", rng=7)

    def test_a_wrong_tally_keeps_the_log(self) -> None:
        def answer(batch: Batch) -> Tally:
            right = crowd()(batch)
            calls.append(1)
            return right if len(calls) < 3 else Tally(right.counts, right.sums + 0.5)

        calls: list[int] = []
        with pytest.raises(InvalidTally, match="must be possible for yes/no answers") as caught:
            askfew.cluster(answer, 5, 2, method="paper", rng=7)
        assert caught.value.log is not None
        assert len(caught.value.log) == 2

    def test_a_function_of_a_batch_that_raises(self) -> None:
        def answer(batch: Batch) -> Tally:
            raise KeyError("no such bird")

        with pytest.raises(AnswerFailed) as caught:
            askfew.cluster(answer, 5, 2, method="paper", rng=7)
        assert isinstance(caught.value.__cause__, KeyError)

    def test_a_function_of_a_batch_must_return_a_tally(self) -> None:
        def answer(batch: Batch) -> list[int]:
            return [1] * len(batch)

        with pytest.raises(InvalidAnswer, match="must return a Tally, got list"):
            askfew.cluster(answer, 5, 2, method="paper", rng=7)

    def test_nobody_answering_is_a_stalled_run(self) -> None:
        outcome = askfew.cluster(lambda item, question: None, 5, 2, method="paper", rng=7)
        assert (outcome.status, outcome.answers, outcome.batches) == ("stalled", 0, 3)


def recorded() -> Log:
    log = Log(Problem(5, 2))
    askfew.cluster(crowd(), delta=0.2, method="paper", rng=7, log=log)
    return Log.from_dict(json.loads(json.dumps(log.to_dict())))


class TestALog:
    def test_a_whole_log_gives_the_same_outcome_and_asks_nothing(self) -> None:
        person = Person()
        live = askfew.cluster(crowd(), delta=0.2, method="paper", rng=7)
        again = askfew.cluster(person, 5, 2, delta=0.2, method="paper", rng=7, log=recorded())
        assert again.to_dict() == live.to_dict()
        assert person.calls == 0

    @pytest.mark.parametrize(
        "changed",
        [
            {"rng": 8},
            {"delta": 0.19},
            {"method": "spectral", "budget": 1000},
        ],
        ids=["seed", "delta", "method"],
    )
    def test_a_changed_setting_is_caught(self, changed: dict[str, Any]) -> None:
        settings: dict[str, Any] = {"delta": 0.2, "method": "paper", "rng": 7, **changed}
        with pytest.raises(ReplayMismatch, match="recorded with") as caught:
            askfew.cluster(crowd(), log=recorded(), **settings)
        assert caught.value.step == 0

    def test_a_changed_last_answer_is_caught_at_its_step(self) -> None:
        values = recorded().to_dict()
        values["steps"][-1]["sums"][0] -= 1
        log = Log.from_dict(values)
        with pytest.raises(ReplayMismatch) as caught:
            askfew.cluster(crowd(), delta=0.2, method="paper", rng=7, log=log)
        assert caught.value.step == len(log) - 1

    def test_a_log_of_another_problem_is_refused(self) -> None:
        log = recorded()
        with pytest.raises(ReplayMismatch, match="the log is for"):
            askfew.cluster(Person(), 6, 2, delta=0.2, method="paper", rng=7, log=log)

    def test_other_versions_warn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as another:
            another.setattr(sessions, "version", lambda _: "90.1.0")
            log = recorded()
        with pytest.warns(UserWarning, match="the log was written with"):
            askfew.cluster(crowd(), delta=0.2, method="paper", rng=7, log=log)

    def test_a_function_is_not_called_for_ever(self) -> None:
        calls = []

        def yes(item: int, question: int) -> bool:
            calls.append((item, question))
            return True

        outcome = askfew.cluster(yes, 5, 2, rng=7)
        assert outcome.status == "budget"
        assert len(calls) <= 10_000

    def test_somebody_may_watch(self) -> None:
        seen: list[tuple[int, int]] = []
        outcome = askfew.cluster(
            crowd(), rng=7, progress=lambda batch, answers: seen.append((len(batch), answers))
        )
        assert len(seen) == outcome.batches
        assert seen[0][1] == 0

    @pytest.mark.parametrize("name", ["PCG64", "Philox", "SFC64", "MT19937"])
    def test_any_bit_generator_is_restored(self, name: str) -> None:
        rng = np.random.Generator(getattr(np.random, name)(3))
        log = Log(Problem(5, 2))
        live = askfew.cluster(crowd(), delta=0.2, method="paper", rng=rng, log=log)
        log = Log.from_dict(json.loads(json.dumps(log.to_dict())))
        assert (
            askfew.cluster(crowd(), delta=0.2, method="paper", log=log).to_dict() == live.to_dict()
        )

    def test_a_capped_run_goes_on_under_a_higher_cap(self) -> None:
        log = Log(Problem(5, 2))
        world = crowd()
        settings: dict[str, Any] = {"delta": 0.2, "method": "paper", "log": log}
        capped = askfew.cluster(world, rng=7, max_answers=200, **settings)
        assert capped.status == "budget"
        whole = askfew.cluster(world, **settings)
        assert (
            whole.to_dict() == askfew.cluster(crowd(), delta=0.2, method="paper", rng=7).to_dict()
        )


class TestASession:
    def told_to_the_end(self, talk: askfew.Session) -> askfew.Outcome:
        world = crowd()
        while (batch := talk.ask()) is not None:
            tally = world(batch)
            talk.tell(tally.counts, tally.sums)
        assert talk.outcome is not None
        return talk.outcome

    def test_it_is_cluster_one_step_at_a_time(self) -> None:
        talk = askfew.session(5, 2, delta=0.2, method="paper", rng=7)
        assert talk.outcome is None
        outcome = self.told_to_the_end(talk)
        live = askfew.cluster(crowd(), delta=0.2, method="paper", rng=7)
        assert outcome.to_dict() == live.to_dict()
        assert talk.answers == live.answers == talk.log.answers

    def test_another_process_goes_on_from_its_log(self) -> None:
        first = askfew.session(5, 2, delta=0.2, method="paper", rng=7)
        world = crowd()
        for _ in range(9):
            batch = first.ask()
            assert batch is not None
            tally = world(batch)
            first.tell(tally.counts, tally.sums)
        log = Log.from_dict(json.loads(json.dumps(first.log.to_dict())))
        second = askfew.session(5, 2, delta=0.2, method="paper", log=log)
        one, other = first.ask(), second.ask()
        assert one is not None
        assert other is not None
        assert one.asks_the_same_as(other)
        assert first.answers == second.answers
        assert second.known is not None


BAD: dict[str, dict[str, Any]] = {
    "delta 0": {"delta": 0},
    "delta 1": {"delta": 1},
    "delta -1": {"delta": -1},
    "delta NaN": {"delta": float("nan")},
    "delta text": {"delta": "x"},
    "delta None": {"delta": None},
    "one item": {"items": 1},
    "no items": {"items": []},
    "items bool": {"items": True},
    "items float": {"items": 5.0},
    "no questions": {"questions": 0},
    "questions float": {"questions": 2.5},
    "no sizes": {"items": None},
    "answers text": {"answers": "yes-no"},
    "unknown method": {"method": "papper"},
    "method None": {"method": None},
    "unknown option": {"flavour": 3},
    "budget for a method that stops by itself": {"budget": 100},
    "no budget": {"method": "kmeans"},
    "budget 0": {"method": "kmeans", "budget": 0},
    "budget text": {"method": "kmeans", "budget": "many"},
    "budget float": {"method": "kmeans", "budget": 99.5},
    "budget too small": {"method": "kmeans", "budget": 9},
    "cap negative": {"max_answers": -1},
    "cap NaN": {"max_answers": float("nan")},
    "cap text": {"max_answers": "x"},
    "no source": {"source": None},
    "source a number": {"source": 3},
    "items a text": {"items": "birds.csv"},
    "questions a text": {"questions": "birds.csv"},
    "seed a text": {"rng": "seven"},
    "seed negative": {"rng": -1},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence(bad: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"source": Person(), "items": 5, "questions": 2, "method": "paper"}
    with pytest.raises(InvalidInput) as caught:
        askfew.cluster(**{**settings, **bad})
    sentence = str(caught.value)
    assert ", got " in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("bad", [{"delta": 0}, {"items": 1}, {"items": 2.5}, {"flavour": 3}])
def test_a_session_refuses_the_same(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        askfew.session(**{"items": 5, "questions": 2, "method": "paper", **bad})


@pytest.mark.parametrize(
    "sizes", [{"items": 6}, {"questions": 3}, {"answers": Number()}, {"items": 0}, {"items": []}]
)
def test_sizes_must_agree_with_the_oracle_s(sizes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        askfew.cluster(crowd(), method="paper", **sizes)


def test_names_for_an_oracle_s_items() -> None:
    names = np.array(["a", "b", "c", "d", "e"])
    outcome = askfew.cluster(crowd(), names, delta=0.2, method="paper", rng=7)
    assert [len(group) for group in outcome.groups] == [2, 3]


def test_all_errors_are_one_family() -> None:
    with pytest.raises(AskfewError):
        askfew.cluster(crowd(), delta=2)


@pytest.mark.parametrize("kind", [iter, set, dict.fromkeys, tuple])
def test_names_may_come_in_any_collection(kind: Callable[[list[str]], Any]) -> None:
    outcome = askfew.cluster(
        lambda item, question: item in "abc", kind(list("abcdef")), kind(["x"]), rng=7
    )
    assert {"".join(sorted(map(str, group))) for group in outcome.groups} == {"abc", "def"}


def test_a_session_says_where_it_stands() -> None:
    talk = askfew.session(3, 2, method="kmeans", budget=6, rng=7)
    assert repr(talk) == "<Session: asking, 0 answers so far>"
    batch = talk.ask()
    assert batch is not None
    talk.tell(batch.repeats, batch.repeats * (batch.items == 2))
    assert repr(talk) == "<Session: done, 6 answers so far>"
