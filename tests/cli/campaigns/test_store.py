"""``askfew doctor`` and ``store``."""

import sqlite3
from pathlib import Path

from bird_campaign import answer_all, document
from commands import Command


def test_doctor_names_what_is_wrong(birds: Command) -> None:
    answer_all(most=20)
    code, out, _ = birds("doctor")
    assert code == 0
    assert out.startswith("birds: sound (running; ")
    assert out.endswith("Nothing is wrong.\n")
    with sqlite3.connect("askfew.db") as connection:
        connection.execute("UPDATE answers SET value = 1 - value")
    connection.close()
    code, out, _ = birds("doctor")
    assert code == 1
    assert out.startswith("birds: WRONG")
    assert "but its answer says" in out
    found = document(birds("doctor", "--json"), code=1)
    assert found["sound"] is False
    assert len(found["campaigns"][0]["problems"]) == 20
    Path("askfew.db").write_bytes(b"not a database at all, only some text" * 100)
    for file in Path().glob("askfew.db-*"):
        file.unlink()
    assert birds("doctor")[0] == 1
    assert birds("status")[0] == 2


def test_store_upgrade(birds: Command) -> None:
    assert document(birds("store", "upgrade", "--json"))["upgraded"] is False
    assert "already" in birds("store", "upgrade")[1]
    assert birds("store", "upgrade", "--store", "sqlite:///none.db")[0] == 2
    assert not Path("none.db").exists()
