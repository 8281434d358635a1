"""A forecast is made in a process of its own, which may be ended at any moment."""

import sys
import time

import pytest

from askfew.campaigns.forecast import Sizes
from askfew.web.pages import forecasts
from askfew.web.pages.forecasts import ForecastRequest, Forecasts

WISH = ForecastRequest('{"name": "x"}', Sizes(10, 3))


@pytest.mark.parametrize("written", ["b''", "pickle.dumps(1) + pickle.dumps('x' * 1000)[:500]"])
def test_a_process_that_was_ended_leaves_a_sentence(
    monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    """Else its page would wait for ever."""
    program = f"import pickle, sys; sys.stdout.buffer.write({written})"
    monkeypatch.setattr(forecasts, "_COMMAND", (sys.executable, "-c", program))
    job = Forecasts().get(WISH)
    end = time.monotonic() + 60
    while not job.sentence and time.monotonic() < end:
        time.sleep(0.01)
    assert "no forecast" in job.sentence
    assert job.forecast is None
