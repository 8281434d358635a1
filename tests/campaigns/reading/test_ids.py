"""What a method says by numbers is said by ids."""

from pathlib import Path

import pytest

from askfew.campaigns.reading.status import in_ids
from askfew.campaigns.store import Store
from campaign_tools import frugal


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("hunt: 3 questions on items [0, 4], best so far 2", "items i0 and i4, best so far q2"),
        (
            "search: compare 5 pairs of items, mostly [1, 2] on question 1",
            "mostly i1 and i2 on question q1",
        ),
        ("label: 4 items open on question 0", "label: 4 items open on question q0"),
        ("label: 4 items open on question 99", "question 99"),
    ],
)
def test_numbers_become_ids(said: str, shown: str, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'store.db'}")
    assert shown in in_ids(said, frugal(store))
    store.close()
