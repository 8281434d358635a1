"""The template's campaign of birds, changed and answered, for tests of commands."""

import itertools
import json
from pathlib import Path
from typing import Any

from askfew.campaigns.store import Store
from commands import Said

SWIMMERS = {"mallard", "puffin", "swan", "penguin"}


def change(folder: str, old: str, new: str) -> None:
    file = Path(folder) / "campaign.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def document(said: Said, code: int = 0) -> Any:
    assert said[0] == code, said
    return json.loads(said[1])


def answer_all(name: str = "birds", most: int = 10**6, *, guess_odd: bool = True) -> int:
    """Let two people answer by what birds do; returns how many answers they gave."""
    store = Store("sqlite:///askfew.db")
    campaign = store.campaign(name)
    told = 0
    for worker in itertools.cycle(["ann", "bob"]):
        asked = campaign.ask(worker, min(50, most - told)) if told < most else []
        for number, each in enumerate(asked):
            odd = each.question.id in ("night", "song")
            guess = guess_odd and (told + number) % 2 if odd else each.item.id in SWIMMERS
            assert campaign.tell(each.id, int(guess)).ok
        told += len(asked)
        if told == most or campaign.state != "running":
            break
    store.close()
    return told
