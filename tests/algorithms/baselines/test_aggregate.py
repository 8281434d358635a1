"""Tables of answers, added up in the usual ways."""

from typing import Any

import numpy as np
import pytest

from askfew import oracles
from askfew.algorithms import start
from askfew.algorithms.baselines.aggregate import dawid_skene_posterior
from askfew.driver import run
from askfew.errors import InvalidInput
from askfew.records import Finding, Oracle

ANSWERS = np.array(
    [
        [1, 1, 1, -1, 0],
        [1, 0, 1, 0, 1],
        [1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0],
        [1, 1, -1, 1, 1],
        [0, -1, 0, 0, 0],
        [-1, 1, 1, 0, 1],
        [0, 0, 0, 0, 1],
        [0, 0, -1, 1, 1],
        [-1, 0, -1, 1, 1],
        [1, -1, 1, -1, 1],
        [1, 1, 1, 1, 0],
    ]
)
"""Twelve items, five annotators, -1 where there is no answer."""
CROWD_KIT = [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.006108, 0.553332, 1.0, 1.0]
"""Chances of a yes by crowd-kit 1.4.2, ``DawidSkene``, on these answers: it stops after 4 turns."""


def test_dawid_and_skene_find_what_crowd_kit_finds() -> None:
    total = (ANSWERS >= 0).astype(float)
    yes = (ANSWERS == 1).astype(float)
    share = yes.sum(axis=1) / total.sum(axis=1)
    found = dawid_skene_posterior(yes, total, np.stack([1 - share, share], axis=1), turns=4)
    np.testing.assert_allclose(found[:, 1], CROWD_KIT, atol=1e-6)


LABELS = np.arange(40) % 2
LEVELS = np.array([[0.1, 0.8, 0.2, 0.5], [0.9, 0.2, 0.8, 0.5]])


def found(method: str, oracle: Oracle, **options: Any) -> Finding:
    rng = np.random.default_rng(5)
    ended = run(start(method, oracle.problem, rng, delta=0.1, **options), oracle)
    assert ended.result is not None
    return ended.result


@pytest.mark.parametrize("method", ["majority-vote", "dawid-skene", "latent-classes"])
def test_groups_are_found_whichever_way_the_questions_point(method: str) -> None:
    finding = found(method, oracles.bernoulli(LEVELS, labels=LABELS, rng=1), budget=40 * 4 * 5)
    assert (finding.labels == LABELS).mean() > 0.95
    assert finding.evidence is not None
    assert finding.certificate is None


@pytest.mark.parametrize("method", ["dawid-skene", "latent-classes", "naive-bayes"])
def test_anchors_name_the_groups(method: str) -> None:
    """Of three groups, and the number of the first item's is 2."""
    levels = np.array([[0.1, 0.1, 0.9], [0.9, 0.1, 0.1], [0.1, 0.9, 0.1]])
    labels = (np.arange(60) + 2) % 3
    anchors = {int(item): int(labels[item]) for item in range(9)}
    oracle = oracles.bernoulli(levels, labels=labels, rng=2)
    finding = found(method, oracle, budget=60 * 3 * 8, groups=3, anchors=anchors)
    assert finding.told is not None
    assert (finding.labels == labels).mean() > 0.95


def test_what_cannot_be_is_refused() -> None:
    oracle = oracles.bernoulli(LEVELS, labels=LABELS, rng=1)
    with pytest.raises(InvalidInput, match="begins with votes, which make two groups"):
        found("dawid-skene", oracle, budget=200, groups=3)
    with pytest.raises(InvalidInput, match="at least one anchor of each"):
        found("naive-bayes", oracle, budget=200, anchors={0: 0})
    with pytest.raises(InvalidInput, match="anchors must be items from 0 to 39"):
        found("latent-classes", oracle, budget=200, anchors={77: 0})
