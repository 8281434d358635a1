"""Intervals of the report: few answers do not make them certain."""

import numpy as np

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.tallies import tallies_of
from askfew.campaigns.store import Store
from campaign_tools import answer_all, sweep


def test_the_report_does_not_call_five_answers_certain(store: Store) -> None:
    campaign: Campaign = sweep(store, rows=6, columns=1, name="few")
    answer_all(campaign, answer=lambda asked: asked.item.id in ("i0", "i1", "i2"))
    (question,) = tallies_of(campaign, np.array([0, 0, 0, 1, 1, 1])).questions
    assert question.gap == 1.0
    assert question.low is not None
    assert question.low < 0.5
    assert "1.00 (1.00 to 1.00)" not in report_html(campaign)
