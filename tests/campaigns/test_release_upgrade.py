"""A store that askfew 0.1.0 wrote: one campaign that has ended, and one that is half way.

``stores/0.1.0.sql`` is the dump of a SQLite file made by the code of that version.
"""

import json
import sqlite3
from pathlib import Path

import pytest

from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from commands import Command, command

WRITTEN = Path(__file__).parent / "stores" / "0.1.0.sql"
FOLDER = {
    "campaign.toml": '[campaign]\nname = "again"\nmethod = "frugal"\nseed = 3\n'
    "answers_per_worker_and_cell = 1000\n",
    "items.csv": "id,text\n" + "".join(f"bird {n},Bird {n}\n" for n in range(8)),
    "questions.csv": "id,text\ncrest,Has it a crest?\nnice,Is it nice?\n",
}


@pytest.fixture
def askfew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    old = sqlite3.connect(tmp_path / "askfew.db")
    old.execute("PRAGMA journal_mode=WAL")  # as askfew has it, and the dump has not
    old.executescript(WRITTEN.read_text())
    old.close()
    (tmp_path / "again").mkdir()
    for name, content in FOLDER.items():
        (tmp_path / "again" / name).write_text(content)
    return command(tmp_path, monkeypatch, capfd)


def test_before_the_upgrade_the_doctor_says_whom_it_touches_and_then_nothing_is_paid_twice(
    askfew: Command, tmp_path: Path
) -> None:
    untouched = (tmp_path / "askfew.db").read_bytes()
    code, out, err = askfew("doctor", "--json")
    assert (code, err) == (1, "")
    found = json.loads(out)
    assert found["tables"]["version"] == "0003"
    assert [(each["campaign"], each["open"]) for each in found["touched"]] == [
        ("done", False),
        ("open", True),
    ]
    code, out, _ = askfew("doctor")
    assert code == 1
    assert "'askfew create DIR --reuse open'" in " ".join(out.split())
    assert (tmp_path / "askfew.db").read_bytes() == untouched
    code, _, err = askfew("status", "open")
    assert code == 2
    assert "run 'askfew doctor', then 'askfew store upgrade'" in err

    assert askfew("store", "upgrade")[0] == 0
    code, out, _ = askfew("result", "done", "--json")  # what was found stands
    assert groups_of(out) == [0, 1] * 4
    code, out, _ = askfew("doctor", "--json")
    assert code == 1
    assert all(each["other_claim"] for each in json.loads(out)["campaigns"])
    assert "got 1: use the askfew that began it" in " ".join(askfew("doctor")[1].split())

    code, out, _ = askfew("create", "again", "--reuse", "open", "--json")
    assert code == 0
    store = Store(f"sqlite:///{tmp_path / 'askfew.db'}")
    campaign = store.campaign("again")
    reused = sum(worker.reused for worker in status_of(campaign).workers)
    assert reused == json.loads(out)["answers"] > 0
    fresh = 0
    while campaign.state == "running":
        for asked in campaign.ask("Bo", 100):
            odd = int(asked.item.id.split()[1]) % 2 == 1
            campaign.tell(asked.id, odd if asked.question.id == "crest" else fresh % 2 == 0)
            fresh += 1
    status = status_of(campaign)
    assert status.answers == fresh + sum(worker.reused for worker in status.workers)
    assert campaign.state == "ended"
    store.close()
    assert groups_of(askfew("result", "again", "--json")[1]) == [0, 1] * 4


def groups_of(said: str) -> list[int]:
    return [each["group"] for each in json.loads(said)["items"]]
