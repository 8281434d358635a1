"""Ask and tell: for answers that come at their own pace, and survive a restart.

    python examples/ask_and_tell.py

The log is the state. It is saved after every batch; run the script again after a crash and it goes
on where it stopped.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import askfew

SAMPLES, ASSAYS = 12, 6
saved = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("assays.json")
log = askfew.Log.from_dict(json.loads(saved.read_text())) if saved.exists() else None
session = askfew.session(
    items=SAMPLES, questions=ASSAYS, answers=askfew.Number(sigma=1.0), delta=0.05, rng=7, log=log
)
noise = np.random.default_rng(session.answers)  # a laboratory would measure here

while (batch := session.ask()) is not None:
    levels = 3.0 * (batch.items % 2) * (batch.questions == 4)  # only assay 4 tells them apart
    sums = batch.repeats * levels + np.sqrt(batch.repeats) * noise.standard_normal(len(batch))
    session.tell(batch.repeats, sums)
    saved.write_text(json.dumps(session.log.to_dict()))

print(session.outcome)
