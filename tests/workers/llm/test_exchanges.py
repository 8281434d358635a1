"""The log of exchanges: whole lines, no key, and what was spent before."""

import json
from pathlib import Path

import pytest

from askfew.errors import InvalidInput
from askfew.workers.llm.endpoint import Secret
from askfew.workers.llm.exchanges import ExchangeLog


def test_the_key_is_struck_out_wherever_it_appears(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    log = ExchangeLog(file, Secret("sk-secret"))
    log.write(error="Bearer sk-secret", request={"messages": [{"content": "sk-secret!"}]}, cost=1)
    log.close()
    (line,) = file.read_text().splitlines()
    assert json.loads(line)["request"] == {"messages": [{"content": "[key]!"}]}
    assert "sk-secret" not in line


def test_what_was_spent_is_read_again_also_after_a_cut_line(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text('{"cost": 0.5}\n{"cost": 0.25}\n{"cost": 100')
    log = ExchangeLog(file, Secret(""))
    assert log.spent == 0.75
    log.write(cost=0.125)
    log.close()
    again = ExchangeLog(file, Secret(""))
    assert again.spent == 0.875
    again.close()


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the log must be a writable file"):
        ExchangeLog(tmp_path, Secret(""))


def test_processes_that_share_a_log_see_what_the_others_spend(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    one, other = ExchangeLog(file, Secret("")), ExchangeLog(file, Secret(""))
    one.write(cost=0.5, response="long" * 10_000)
    other.write(cost=0.25)
    assert (one.spent_elsewhere(), other.spent_elsewhere()) == (0.25, 0.5)
    with file.open("ab") as beside:
        beside.write(b'{"run": "a third", "cost":')
        beside.flush()
        assert one.spent_elsewhere() == 0.25
        beside.write(b" 1}\n")
    assert one.spent_elsewhere() == 1.25
    one.write(cost=4)
    assert (one.spent_elsewhere(), other.spent_elsewhere()) == (1.25, 5.5)
    one.close()
    other.close()
