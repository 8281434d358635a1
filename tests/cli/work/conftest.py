import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.store import Store
from campaign_tools import sweep
from commands import Command

JUDGE = """
import time
def answer(item, question):
    return item.id in ("i0", "i1")
def plate(batch):
    return [True for _ in batch]
async def asynchronous(item, question):
    return True
def sleeps(item, question):
    time.sleep(0.1)
    return True
"""


@pytest.fixture
def work(wide: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A key for models, and a module ``judge`` with functions that answer."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-0123456789")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "judge", raising=False)
    (tmp_path / "judge.py").write_text(JUDGE)
    return wide


@pytest.fixture
def campaign(work: Command) -> Iterator[Campaign]:
    """One step of 24 questions, in the default store."""
    store = Store("sqlite:///askfew.db")
    yield sweep(store, rows=6, columns=4, name="birds")
    store.close()
