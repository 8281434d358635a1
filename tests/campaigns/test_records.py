"""The outcome of a campaign, as it is stored."""

import json

import numpy as np
import pytest

import askfew
from askfew.campaigns.records import StoredOutcome
from askfew.outcome import Outcome


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    rng = np.random.default_rng(0)
    return askfew.cluster(
        lambda item, question: bool(rng.random() < (0.9 if (item + question) % 2 else 0.1)),
        items=8,
        questions=3,
        method="frugal",
        rng=1,
    )


def test_what_is_stored_is_what_the_outcome_says(outcome: Outcome) -> None:
    stored = StoredOutcome.of(outcome)
    assert stored.to_json() == json.dumps(outcome.to_dict())
    assert StoredOutcome.from_json(stored.to_json()) == stored


def test_reasons_are_kept_by_item() -> None:
    stored = StoredOutcome("undecided", labels=[0, 1, -1], undecided={2: "between"})
    assert '"undecided": {"2": "between"}' in stored.to_json()
    assert StoredOutcome.from_json(stored.to_json()).undecided == {2: "between"}


def test_an_older_outcome_lacks_the_later_fields() -> None:
    old = StoredOutcome.from_json('{"status": "done", "reason": "", "labels": [0, 1], "x": 3}')
    assert old == StoredOutcome("done", labels=[0, 1])
    assert (old.guesses, old.needed, old.promised, old.representatives) == (None, None, False, ())


def test_a_certificate_that_the_answers_contradict_promises_nothing() -> None:
    certified = StoredOutcome("done", certificate={"needed": 4.5}, checks={"void": False})
    assert certified.promised
    assert certified.needed == 4.5
    assert not StoredOutcome("done", certificate={}, checks={"void": True}).promised
