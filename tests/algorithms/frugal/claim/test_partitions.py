"""All ways to divide a panel: none is missing, none is there twice, and what excludes one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from askfew.algorithms.frugal.claim.partitions import Partitions, places


@pytest.mark.parametrize(
    ("size", "groups", "many"),
    [(1, 2, 1), (4, 2, 8), (4, 3, 14), (4, 4, 15), (6, 6, 203), (12, 2, 2048)],
)
def test_every_partition_is_there_once(size: int, groups: int, many: int) -> None:
    rows = Partitions(size, groups, 3.0).all
    assert len({frozenset(row[row > 0].tolist()) for row in rows}) == len(rows) == many
    assert (rows.sum(axis=1) == 2**size - 1).all()  # every member is in one block


def test_a_panel_is_as_large_as_its_partitions_allow() -> None:
    for groups in range(2, 11):
        assert groups <= places(groups) <= 12


def test_before_any_answer_nothing_speaks_against_anything() -> None:
    partitions = Partitions(3, 2, 3.0)
    assert partitions.against(partitions.all) == pytest.approx(0.0)
    partitions.sift()
    assert len(partitions.left) == 4


def test_what_has_enough_against_it_is_excluded() -> None:
    """Members 0 and 1 are not alike: only partitions that keep them apart are left."""
    partitions = Partitions(3, 2, 3.0)
    together = (partitions.inside[:, :2] > 0).all(axis=1)
    partitions.weigh(np.where(together, 5.0, 0.0))
    partitions.sift()
    block = partitions.block_of(partitions.left)
    assert len(block) == 2
    assert (block[:, 0] != block[:, 1]).all()


def test_evidence_that_was_lost_early_is_forgotten_in_part() -> None:
    """An average over starts: a later one has not seen the loss."""
    partitions = Partitions(2, 2, 3.0)
    together = np.array([0.0, 0.0, 0.0, 1.0])
    for step in range(8):
        partitions.weigh(together * (-20.0 if step < 5 else 4.0))
    nats = partitions.against(np.array([[3, 0]]))[0]
    assert nats == pytest.approx(math.log(0.2) + 12.0, abs=1e-6)
