"""Stores that are half made, cut, overwritten or edited: every command says so in a sentence."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from askfew.campaigns.folder.template import write_template
from askfew.campaigns.store import Store
from commands import Command, command
from small_campaigns import answer, small_campaign

COMMANDS = (
    ("list",),
    ("status", "small"),
    ("status", "ended", "--json"),
    ("result", "ended"),
    ("ask", "small", "--worker", "ann"),
    ("tell", "LEASE", "yes"),
    ("report", "small", "--out", "report.html"),
    ("export", "small", "--out", "answers.csv"),
    ("export", "small", "--out", "small.askfew"),
    ("create", "birds"),
    ("token", "reset"),
    ("store", "upgrade"),
    ("doctor", "--mend"),
    ("doctor",),
)
TABLES = ("campaigns", "items", "questions", "workers", "steps", "slots", "answers")
VALUES = ("''", "'{'", "'[]'", "'null'", "x'00ff'", "7")
FIELDS = (
    *(("campaigns", field) for field in ("settings", "recipe", "state", "outcome", "forecast")),
    *(("steps", field) for field in ("items", "repeats", "counts", "sums", "known")),
    *(("slots", field) for field in ("item", "state", "value", "row")),
    *(("answers", field) for field in ("value", "time", "seconds", "question")),
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, str]:
    """A store with a campaign half way and one that has ended, and a lease."""
    file = tmp_path_factory.mktemp("good") / "store.db"
    store = Store(f"sqlite:///{file}")
    campaign = small_campaign(store)
    answer(campaign, 33)
    (asked,) = campaign.ask("zoe")
    answer(small_campaign(store, "ended"), 10**6)
    store.close()
    return file.read_bytes(), asked.id


def edited(content: bytes, folder: Path, statement: str) -> bytes:
    file = folder / "edited.db"
    file.write_bytes(content)
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute(statement)
    connection.commit()
    connection.close()
    return file.read_bytes()


def cut(content: bytes, _: Path, rng: random.Random) -> Iterator[bytes]:
    for size in (0, 10, 100, 4096, 8192, len(content) // 2, len(content) - 1):
        yield content[:size]
    yield b"no database at all" * 1000


def overwritten(content: bytes, _: Path, rng: random.Random) -> Iterator[bytes]:
    pages = len(content) // 4096
    for number in range(12):
        changed = bytearray(content)
        page = rng.randrange(pages) * 4096
        if number % 3 == 0:
            changed[page : page + 4096] = bytes(4096)
        elif number % 3 == 1:
            changed[page : page + 4096] = rng.randbytes(4096)
        else:
            for _each in range(300):
                changed[rng.randrange(100, len(changed))] = rng.randrange(256)
        yield bytes(changed)


def half_made(content: bytes, folder: Path, rng: random.Random) -> Iterator[bytes]:
    for table in (*TABLES, "alembic_version"):
        yield edited(content, folder, f"DROP TABLE {table}")
        yield edited(content, folder, f"DELETE FROM {table}")


def edited_fields(content: bytes, folder: Path, rng: random.Random) -> Iterator[bytes]:
    for table, field in FIELDS:
        yield edited(content, folder, f"UPDATE {table} SET {field} = {rng.choice(VALUES)}")


@pytest.mark.parametrize("damage", [cut, overwritten, half_made, edited_fields])
def test_no_command_ends_in_a_traceback(
    damage: Callable[[bytes, Path, random.Random], Iterator[bytes]],
    good: tuple[bytes, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    askfew: Command = command(tmp_path, monkeypatch, capfd)
    write_template("birds")
    content, lease = good
    rng = random.Random(5)
    for number, damaged in enumerate(damage(content, tmp_path, rng)):
        for old in tmp_path.glob("askfew.db*"):
            old.unlink()
        (tmp_path / "askfew.db").write_bytes(damaged)
        for name, *arguments in rng.sample(COMMANDS, 5):
            said = askfew(name, *(lease if each == "LEASE" else each for each in arguments))
            assert said[0] in (0, 1, 2), (number, name, said)
            if said[0]:  # a campaign that is created may have more to say
                assert len(said[2].strip().splitlines()) <= 3, (number, name, said)
