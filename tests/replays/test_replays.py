"""Golden logs, recorded once, must replay to the same end: here, and without wide vectors.

NumPy's log and exp differ in the last bit between generations of processors. Switching the wide
instructions off makes this one behave like an old one.
"""

import importlib
import json
import os
import subprocess
import sys
import warnings
from ast import literal_eval
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import askfew
from askfew import Log
from askfew.algorithms.frugal.guess.pooled.hunt import Hunt
from askfew.algorithms.frugal.guess.pooled.sides import Sides
from askfew.algorithms.rule.guess.choose import Chooser
from askfew.algorithms.rule.guess.learn import Learner
from askfew.plans import Plan

HERE = Path(__file__).parent
LOGS = sorted(HERE.glob("*.json"))


def replay(path: Path) -> None:
    """Replay a log, step by step compared, and compare the outcome."""
    document = json.loads(path.read_text())
    log = Log.from_dict(document["log"])
    outcome: dict[str, Any] = document["outcome"]
    talk = resume(log, document["max_answers"])
    assert talk.outcome is not None, f"{path.name} must end, and goes on"
    found = talk.outcome.to_dict()
    for name in ("status", "labels", "answers", "batches", "question", "answers_by_phase"):
        assert found[name] == outcome[name], f"{path.name}: {name}"
    if outcome["evidence"] is not None:
        assert found["evidence"] == pytest.approx(outcome["evidence"], rel=1e-9, abs=1e-9)


def resume(log: Log, max_answers: int) -> askfew.Session:
    """A session that stands where the log ends."""
    recipe: Any = log.recipe
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the log was written with")  # other versions
        return askfew.session(
            log.problem.items,
            log.problem.questions,
            answers=log.problem.kind,
            method=recipe["method"],
            delta=recipe["delta"],
            budget=recipe["budget"],
            max_answers=max_answers,
            log=log,
            **{name: literal_eval(value) for name, value in recipe["options"].items()},
        )


def wide_features() -> list[str]:
    """The vector instructions this NumPy may use beyond its baseline, and this processor has."""
    umath = importlib.import_module("numpy._core._multiarray_umath")
    return [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]]


def test_there_are_logs_of_every_kind_of_end() -> None:
    ends = {json.loads(path.read_text())["outcome"]["status"] for path in LOGS}
    assert {"done", "budget"} <= ends


def test_there_are_logs_of_every_phase_of_the_promise_groups() -> None:
    logs = [json.loads(path.read_text()) for path in LOGS if path.stem.startswith("frugal-")]
    phases = {phase for each in logs for phase in each["outcome"]["answers_by_phase"]}
    two, more = {"search", "hunt", "label"}, {"classify", "screen", "probe"}
    assert phases == two | more | {"explore", "certify", "audit"}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_golden_log_replays(path: Path) -> None:
    replay(path)


@pytest.mark.parametrize("name", ["graded", "groups-auto", "panel", "cover", "audit"])
def test_a_run_that_is_cut_goes_on_as_it_did(name: str) -> None:
    """A guess knows what it was told of plans and answers, whether it made the plans or not."""
    # Not at the top: this file is also run as a script, which has no package.
    from .record import frugal_cases

    oracle, given = frugal_cases()[f"frugal-{name}"]
    log = Log(oracle.problem)
    askfew.cluster(oracle, log=log, **given)
    for share in (0.3, 0.7, 0.99):
        cut = int(share * len(log))
        batch = resume(Log(log.problem, log.recipe, log.steps[:cut]), 20_000).ask()
        assert batch is not None
        assert batch.asks_the_same_as(log.steps[cut].batch)


RULES = [path for path in LOGS if path.stem.startswith("rule-") and "learn" in path.stem]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_a_golden_log_goes_on_with_another_guess(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade of the heuristics strands nobody: plans are handed back, then made anew."""
    document = json.loads(path.read_text())
    monkeypatch.setattr(Learner, "propose", _gives_up)
    bets = Chooser._bets
    monkeypatch.setattr(Chooser, "_bets", lambda *given: tuple(b / 2 for b in bets(*given)))
    replay(path)  # the whole log: nothing is guessed any more
    log = Log.from_dict(document["log"])
    frozen = [any(plan.kind == "freeze" for plan in step.plans) for step in log.steps]
    half = Log(log.problem, log.recipe, log.steps[: frozen.index(True) + 2])
    talk = resume(half, 20_000)
    batch = talk.ask()
    assert batch is not None
    while (batch := talk.ask()) is not None:
        talk.tell(batch.repeats, batch.repeats * (batch.items % 2))
    outcome = talk.outcome
    assert outcome is not None
    assert outcome.status in ("done", "undecided", "budget")
    assert (outcome.labels >= 0).mean() > 0.5
    assert len(half) > frozen.index(True) + 2


FRUGAL = [HERE / f"frugal-{name}.json" for name in ("graded", "silent-cell", "tolerance")]


@pytest.mark.parametrize("path", FRUGAL, ids=lambda path: path.stem)
@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_a_golden_log_of_frugal_goes_on_with_another_guess(
    path: Path, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a step of any phase: a guess that asks twice as much and never hunts takes over."""
    document = json.loads(path.read_text())
    sizes = Sides._sizes
    monkeypatch.setattr(Sides, "_sizes", lambda *given: 2 * sizes(*given))
    monkeypatch.setattr(Hunt, "goes_on", lambda _: False)
    monkeypatch.setattr("askfew.algorithms.frugal.guess.pooled.search._LEAST", 12)
    replay(path)
    log = Log.from_dict(document["log"])
    begun = int(share * len(log))
    talk = resume(Log(log.problem, log.recipe, log.steps[:begun]), 20_000)
    truth = np.array(document["outcome"]["labels"])
    rng = np.random.default_rng(5)
    while (batch := talk.ask()) is not None:
        told_apart = document["outcome"]["question"] == batch.questions
        chance = np.where(told_apart, 0.1 + 0.8 * truth[batch.items], 0.5)
        talk.tell(batch.repeats, rng.binomial(batch.repeats, chance))
    assert talk.outcome is not None
    assert talk.outcome.status in ("done", "stalled")  # it never hunts: one item may stay silent
    decided = talk.outcome.labels >= 0
    assert decided.mean() > 0.9
    assert np.array_equal(talk.outcome.labels[decided], truth[decided])


def _gives_up(*_: object) -> Plan:
    return Plan("give up", {"agreement": None})


def test_golden_logs_replay_without_wide_vectors() -> None:
    wide = wide_features()
    if not wide:
        pytest.skip("this NumPy has no wide vector instructions to switch off on this processor")
    done = subprocess.run(
        [sys.executable, "-W", "error", __file__],
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(wide)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(len(LOGS)), "logs,", "wide:", "[]"]


if __name__ == "__main__":
    for log_path in LOGS:
        replay(log_path)
    print(len(LOGS), "logs, wide:", wide_features())  # noqa: T201
