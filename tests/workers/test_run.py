"""Workers from Python: no command line between."""

from pathlib import Path

import pytest

from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.workers import llm, python, simulate
from askfew.workers.desk import StoreDesk
from campaign_tools import sweep


def test_a_function_answers_to_the_end(store: Store) -> None:
    campaign = sweep(store)
    worked = python.run(StoreDesk(campaign, "f"), python.load_function("operator:eq"), threads=2)
    assert (worked.answered, worked.ended) == (6, "the campaign is over")
    assert campaign.state == "ended"


def test_a_crowd_answers_to_the_end(store: Store) -> None:
    campaign = sweep(store)
    desks = [StoreDesk(campaign, name) for name in ("ann", "bob")]
    assert sum(each.answered for each in simulate.run(desks, reliability=0.8)) == 6


def test_a_model_needs_a_name_and_a_price(store: Store, tmp_path: Path) -> None:
    desk = StoreDesk(sweep(store), "model")
    with pytest.raises(InvalidInput, match="a model must be named"):
        llm.run([desk], llm.Config(), "key", log=tmp_path / "log")
    with pytest.raises(InvalidInput, match="every model must have a price"):
        llm.run([desk], llm.Config(models=("m",)), "key", max_cost=1.0, log=tmp_path / "log")
    assert not (tmp_path / "log").exists()
