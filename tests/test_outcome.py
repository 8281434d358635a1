import json
import pickle

import numpy as np
import pytest

from askfew.clustering import cluster
from askfew.driver import Meter, RunEnd
from askfew.outcome import Outcome, outcome_of
from askfew.records import Batch, Certificate, Finding, Snapshot, Tally

NAMES = ["owl", "elk", "yak"], ["flies?", "big?"]


def meter() -> Meter:
    counted = Meter()
    for phase, count in (("search", 3), ("label", 2000)):
        rows = np.array([0])
        batch = Batch(rows, rows, np.array([count]), "", Snapshot(phase, rows))
        counted.record(batch, Tally(np.array([count]), np.array([0.0])))
    return counted


def finished() -> Outcome:
    certificate = Certificate(0.1, "All right with probability at least 0.9.", ("two groups",))
    finding = Finding(
        np.array([0, 1, 1]), question=1, certificate=certificate, evidence=np.array([9.0, 8.0, 7.0])
    )
    known = Snapshot("label", np.array([0, 1, -1]), evidence=np.array([9.0, 8.0, 0.5]))
    return outcome_of(RunEnd("done", "it stopped by itself", finding, known, meter()), *NAMES)


def stopped(known: Snapshot | None) -> Outcome:
    return outcome_of(RunEnd("budget", "the cap is reached", None, known, meter()), *NAMES)


def test_a_finished_run_has_what_was_found() -> None:
    outcome = finished()
    assert outcome.labels.tolist() == [0, 1, 1]
    assert (outcome.status, outcome.question, outcome.answers, outcome.batches) == (
        "done",
        1,
        2003,
        2,
    )
    assert outcome.groups == [["owl"], ["elk", "yak"]]
    assert outcome.evidence is not None
    assert outcome.evidence.tolist() == [9.0, 8.0, 7.0]  # not what was known before the last batch
    assert outcome.answers_by_phase == {"search": 3, "label": 2000}


def test_it_can_be_read() -> None:
    assert str(finished()) == (
        "done: it stopped by itself\n"
        "groups of 1 and 2 items\n"
        "2,003 answers in 2 batches (search 3, label 2,000)\n"
        "question that separates best: big?\n"
        "All right with probability at least 0.9.\nThis assumes:\n- two groups"
    )


def test_it_is_json() -> None:
    document = json.loads(json.dumps(finished().to_dict()))
    assert document["labels"] == [0, 1, 1]
    assert document["certificate"]["delta"] == 0.1
    assert document["certificate_text"].startswith("All right with probability at least 0.9.")
    assert set(document) == {
        "certificate_text",
        "status",
        "reason",
        "labels",
        "answers",
        "batches",
        "answers_by_phase",
        "question",
        "question_name",
        "evidence",
        "certificate",
        "guesses",
        "confidence",
        "undecided",
        "groups",
        "told",
        "rule",
        "checks",
    }


def test_the_certificate_speaks_of_items_and_questions_by_name() -> None:
    animals, asked = ["owl", "elk", "yak", "bat"], ["flies?", "big?"]
    outcome = cluster(
        lambda animal, question: question == "flies?" and animal in ("owl", "bat"),
        animals,
        asked,
        rng=1,
    )
    text, document = str(outcome), outcome.to_dict()
    assert outcome.certificate is not None
    assert "Labels rest on question flies?:" in text
    assert document["certificate_text"] in text
    assert document["certificate"]["question"] == document["question"] == 0
    assert document["question_name"] == "flies?"
    names = document["certificate"]["names"]
    assert (names["question"], names["undecided"]) == ("flies?", [])
    assert "Labels rest on question 0:" in str(outcome.certificate)


def test_a_stopped_run_has_what_was_known_last_and_promises_nothing() -> None:
    outcome = stopped(Snapshot("label", np.array([0, 1, -1]), question=0))
    assert outcome.labels.tolist() == [0, 1, -1]
    assert (outcome.status, outcome.question, outcome.certificate) == ("budget", 0, None)
    assert "groups of 1 and 1 items, 1 undecided" in str(outcome)
    assert "No certificate" in str(outcome)


def test_a_run_that_knew_nothing_has_no_labels() -> None:
    outcome = stopped(None)
    assert outcome.labels.tolist() == [-1, -1, -1]
    assert outcome.groups == []
    assert "no groups, 3 undecided" in str(outcome)


@pytest.mark.parametrize("status", ["undecided", "done"])
def test_a_finding_may_end_with_its_own_status(status: str) -> None:
    finding = Finding(np.array([0, -1, 1]), status=status)  # type: ignore[arg-type]
    outcome = outcome_of(RunEnd("done", "", finding, None, Meter()), *NAMES)
    assert outcome.status == status


def test_it_shows_itself_in_one_line() -> None:
    assert repr(finished()) == "<Outcome: done, groups of 1 and 2 items, 2,003 answers>"
    assert repr(stopped(None)) == "<Outcome: budget, no groups, 3 undecided, 2,003 answers>"


def test_it_is_a_table() -> None:
    assert finished().table == {
        "item": ["owl", "elk", "yak"],
        "group": [0, 1, 1],
        "guess": [0, 1, 1],
        "confidence": [1.0, 1.0, 1.0],
        "undecided": ["", "", ""],
        "evidence": [9.0, 8.0, 7.0],
    }
    assert stopped(None).table["evidence"] == [None, None, None]


def test_it_survives_pickling() -> None:
    assert str(pickle.loads(pickle.dumps(finished()))) == str(finished())
