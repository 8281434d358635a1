import re
from pathlib import Path

import pytest

from askfew import sessions
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.store import Store
from small_campaigns import answer, small_campaign

pytestmark = pytest.mark.on_sqlite

SLOT = "campaign = 1 AND step = 0 AND number = 0"
ANSWER = "campaign = 1 AND step = 0 AND slot = 0"

WAYS = {
    "a changed answer": (
        f"UPDATE answers SET value = 1 - value WHERE {ANSWER}",
        "slot 0-0 holds ., but its answer says",
    ),
    "a changed slot": (
        f"UPDATE slots SET value = 1 - value WHERE {SLOT}",
        r"step 0 row \d+ was tallied as . answers adding up to .*, but its slots hold",
    ),
    "a lost answer": (
        f"DELETE FROM answers WHERE {ANSWER}",
        "slot 0-0 is answered, but has 0 answers",
    ),
    "an answer that counts twice": (
        "INSERT INTO answers SELECT 'twice', campaign, step, slot, worker, item, question, value,"
        f" raw, seconds, cost, time, retracted FROM answers WHERE {ANSWER}",
        "slot 0-0 is answered, but has 2 answers",
    ),
    "an answer taken back behind our back": (
        f"UPDATE answers SET retracted = 1 WHERE {ANSWER}",
        "slot 0-0 is answered, but has 0 answers",
    ),
    "an answer of somebody else": (
        f"UPDATE answers SET worker = 'eve' WHERE {ANSWER}",
        "slot 0-0 and its answer .* name different workers",
    ),
    "an answer about something else": (
        f"UPDATE answers SET item = (item + 1) % 6 WHERE {ANSWER}",
        "slot 0-0 and its answer .* are about different cells",
    ),
    "an impossible answer": (
        f"UPDATE answers SET value = 7 WHERE {ANSWER};UPDATE slots SET value = 7 WHERE {SLOT}",
        "says 7, which is not among yes/no answers",
    ),
    "a changed tally": (
        "UPDATE steps SET sums = zeroblob(length(sums)) WHERE campaign = 1 AND number = 1",
        "its log does not replay: step 1 of the log must be as it was recorded",
    ),
    "a changed seal": (
        "UPDATE steps SET seal = 'x' WHERE campaign = 1 AND number = 1",
        "its log does not replay: step 1 of the log",
    ),
    "a changed Batch": (
        "UPDATE steps SET questions = zeroblob(length(questions)) WHERE campaign = 1"
        " AND number = 0",
        "step 0 row . has other slots than its Batch asks for",
    ),
    "an open step that nobody would ask": (
        "UPDATE steps SET questions = zeroblob(length(questions)) WHERE campaign = 1"
        " AND closed IS NULL",
        "is open, but is not what the method asks",
    ),
    "a Batch that is no array": (
        "UPDATE steps SET items = x'00' WHERE campaign = 1 AND closed IS NULL",
        "has a Batch that cannot be read",
    ),
    "a changed seed": (
        "UPDATE campaigns SET settings = replace(settings, '\"seed\": 3', '\"seed\": 4')"
        " WHERE id = 1",
        "its log does not replay: the log was recorded with the seed of",
    ),
    "a changed delta": (
        "UPDATE campaigns SET settings = replace(settings, '\"delta\": 0.1', '\"delta\": 0.2')"
        " WHERE id = 1",
        "its log does not replay: the log was recorded with delta",
    ),
    "settings that are none": (
        "UPDATE campaigns SET settings = '{' WHERE id = 1",
        "its settings cannot be used",
    ),
    "a reopened slot": (
        f"UPDATE slots SET state = 0 WHERE {SLOT}",
        "slot 0-0 waits for an answer, but its step is closed",
    ),
    "a slot in no state": (
        f"UPDATE slots SET state = 9 WHERE {SLOT}",
        "slot 0-0 is in no known state",
    ),
    "a lease to nobody": (
        "UPDATE slots SET state = 1 WHERE campaign = 1 AND state = 0",
        "is leased, but to nobody",
    ),
    "another slot's lease": (
        f"UPDATE slots SET lease = '1-5-5-abc' WHERE {SLOT}",
        "slot 0-0 has another slot's lease",
    ),
    "a slot refused too often": (
        f"UPDATE slots SET failures = 3 WHERE {SLOT}",
        "slot 0-0 has been refused 3 times",
    ),
    "a lost slot": (
        f"DELETE FROM slots WHERE {SLOT}",
        r"step 0 row \d+ has other slots than its Batch asks for",
    ),
    "a reopened step": (
        "UPDATE steps SET closed = NULL WHERE campaign = 1 AND number = 0",
        "step 0 is open, although there are later ones",
    ),
    "a lost step": (
        "DELETE FROM steps WHERE campaign = 1 AND number = 1",
        "its steps are not numbered",
    ),
    "a campaign that has not ended": (
        "UPDATE campaigns SET state = 'ended' WHERE id = 1",
        "it has ended, but the method would ask more",
    ),
    "another result": (
        "UPDATE campaigns SET outcome = replace(outcome, '\"labels\": [0', '\"labels\": [1')"
        " WHERE id = 2",
        "its result is not what the method finds",
    ),
    "too many answers of one worker": (
        "UPDATE campaigns SET settings ="
        " replace(settings, 'per_worker_and_cell\": 10000', 'per_worker_and_cell\": 1')"
        " WHERE id = 1",
        "worker '...' has item ., question . . times, and only 1 are allowed",
    ),
}


@pytest.fixture
def half_way(store: Store) -> Campaign:
    """One campaign half way in an open step, and one that has ended."""
    campaign = small_campaign(store)
    answer(campaign, 33)
    ended = small_campaign(store, "ended")
    answer(ended, 10**6)
    assert (campaign.state, ended.state) == ("running", "ended")
    return campaign


def spoil(store: Store, statements: str) -> None:
    with store.database.engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        for statement in statements.split(";"):
            changed = connection.exec_driver_sql(statement).rowcount
            assert changed, "the test spoils nothing"
        connection.exec_driver_sql("BEGIN")
    store.database.engine.dispose()


def test_a_store_in_use_is_sound(store: Store, half_way: Campaign) -> None:
    half_way.skip(half_way.ask("ann")[0].id)
    half_way.release(half_way.ask("bob")[0].id)
    (asked,) = half_way.ask("bob")
    half_way.tell(asked.id, 1)
    half_way.retract(asked.id, "bob")
    half_way.ask("cat", 2)
    found = examine_store(store.database)
    assert found.sound, found
    assert [verdict.campaign for verdict in found.campaigns] == ["small", "ended"]
    assert found.campaigns[0].answers == 34


@pytest.mark.parametrize("way", WAYS)
def test_what_is_wrong_is_named(way: str, store: Store, half_way: Campaign) -> None:
    statements, sentence = WAYS[way]
    spoil(store, statements)
    found = examine_store(store.database)
    assert not found.sound
    wrong = "ended" if "id = 2" in statements else "small"
    verdicts = {verdict.campaign: verdict for verdict in found.campaigns}
    assert [name for name, verdict in verdicts.items() if not verdict.sound] == [wrong]
    said = "\n".join(verdicts[wrong].problems)
    assert re.search(sentence, said), said


def test_rows_that_belong_to_nothing_are_counted(store: Store, half_way: Campaign) -> None:
    spoil(store, "DELETE FROM items WHERE campaign = 1;DELETE FROM campaigns WHERE id = 1")
    found = examine_store(store.database)
    assert not found.sound
    assert "3 rows of questions belong to no row of campaigns" in found.problems


def test_a_broken_file_is_said_to_be_broken(
    store: Store, half_way: Campaign, tmp_path: Path
) -> None:
    store.close()
    file = tmp_path / "store.db"
    content = bytearray(file.read_bytes())
    for page in range(8, len(content) // 4096, 3):
        content[page * 4096 : page * 4096 + 1000] = bytes(1000)
    file.write_bytes(content)
    found = examine_store(store.database)
    assert not found.sound
    assert found.problems


def test_another_version_is_a_note_and_no_problem(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as another:
        another.setattr(sessions, "version", lambda _: "90.1.0")
        answer(small_campaign(store), 33)
    found = examine_store(store.database)
    assert found.sound
    assert "was written with" in found.campaigns[0].notes[0]


def test_another_recipe_is_no_log_of_this_campaign(store: Store, half_way: Campaign) -> None:
    spoil(
        store,
        'UPDATE campaigns SET recipe = replace(recipe, \'"askfew": "\', \'"askfew": "9\')',
    )
    problems = examine_store(store.database).campaigns[0].problems
    assert "step 0 of the log must be as it was recorded" in problems[0]


def test_on_postgresql(fresh_database: str) -> None:
    store = Store(fresh_database)
    answer(small_campaign(store), 33)
    assert examine_store(store.database).sound
    with store.database.write() as connection:
        connection.exec_driver_sql(f"UPDATE answers SET value = 1 - value WHERE {ANSWER}")
    (verdict,) = examine_store(store.database).campaigns
    assert "its answer says" in verdict.problems[0]
    store.close()
