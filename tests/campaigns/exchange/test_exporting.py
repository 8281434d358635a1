import csv
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askfew.answers import Number, Scale, YesNo
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange import label_studio
from askfew.campaigns.exchange.answer_files import read_answers
from askfew.campaigns.exchange.crowd_kit import join_task, split_task
from askfew.campaigns.exchange.exporting import (
    LONG_COLUMNS,
    crowd_kit_rows,
    label_studio_tasks,
    long_rows,
    text_of,
)
from askfew.campaigns.exchange.files import (
    csv_text,
    read_parquet,
    text_of_cell,
    write_parquet,
    write_whole,
)
from askfew.campaigns.exchange.moving import export_campaign, import_campaign
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, MissingExtra
from campaign_tools import Clock, answers_of, sweep
from small_campaigns import ITEMS, QUESTIONS, answer, small_campaign, small_settings

pytestmark = pytest.mark.on_sqlite

GIF = b"GIF89a and so on"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path}/other.db")
    small_campaign(opened, "first one")  # so that numbers differ
    yield opened
    opened.close()


def test_the_long_table_has_every_answer_that_counts(store: Store, clock: Clock) -> None:
    campaign = sweep(store)
    asked = campaign.ask("ann", 6)
    for value, each in enumerate(asked[:2]):
        campaign.tell(each.id, value, seconds=2.5, cost=0.25)
    told = datetime.fromtimestamp(clock(), UTC)
    clock.pass_seconds(5)
    again = campaign.retract(asked[0].id, "ann").lease
    assert again is not None
    assert long_rows(campaign) == []  # an open step's values are shown to nobody
    for lease in (*(each.id for each in asked[5:1:-1]), again):
        campaign.tell(lease, 1)
    rows = long_rows(campaign)
    assert rows[1][:6] == (asked[1].item.id, asked[1].question.id, "ann", 1.0, 2.5, 0.25)
    assert rows[1][6] == told
    assert [row[:2] for row in rows] == [(each.item.id, each.question.id) for each in asked]
    assert rows[0][3] == 1.0
    assert rows[0][6] > rows[1][6]  # by step and slot, however long an answer took


def test_of_a_campaign_that_was_closed_early_only_whole_steps_are_exported(store: Store) -> None:
    campaign = small_campaign(store)
    answer(campaign, 33)
    status = status_of(campaign)
    assert status.open
    campaign.close()
    with store.database.read() as connection:
        newest = connection.exec_driver_sql("SELECT max(number) FROM steps").scalar_one()
    whole = [row for row in answers_of(campaign) if row.step < newest]
    assert [row[3] for row in long_rows(campaign)] == [row.value for row in whole]
    assert 0 < len(whole) < status.answers


def test_csv_comes_back_as_it_was(store: Store) -> None:
    campaign = small_campaign(store)
    answer(campaign, 30)
    rows = long_rows(campaign)
    read = list(csv.DictReader(io.StringIO(csv_text(LONG_COLUMNS, rows))))
    assert [float(row["answer"]) for row in read] == [row[3] for row in rows]
    assert [datetime.fromisoformat(row["time"]) for row in read] == [row[6] for row in rows]
    assert {row["answer"] for row in read} == {"0", "1"}


FORMULAS = ("=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "'=1", "''=1", "'tis", "plain", " -1")


@pytest.mark.parametrize("kind", ["csv", "crowd-kit"])
def test_csv_neutralises_formulas_and_reads_them_back(
    kind: str, store: Store, tmp_path: Path
) -> None:
    things = [Item(each) for each in FORMULAS]
    asking = [Question(f"{each}?", "?") for each in FORMULAS]
    settings = small_settings(method="spectral", options={"budget": len(FORMULAS) ** 2})
    campaign = store.create(settings, things, asking)
    for worker in FORMULAS:
        for asked in campaign.ask(worker, 10):
            assert campaign.tell(asked.id, 1).ok
    rows = long_rows(campaign)
    assert {row[2] for row in rows} == set(FORMULAS)
    text, _ = text_of(campaign, kind)
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert {cell for cell in cells if cell[:1] in tuple("=+-@\t\r ")} == set()
    (tmp_path / "told.csv").write_text(text)
    back = read_answers(tmp_path / "told.csv", kind)
    assert [(row.item, row.question, row.worker) for row in back] == [row[:3] for row in rows]
    assert [float(str(row.answer)) for row in back] == [row[3] for row in rows]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_text_in_a_cell_comes_back(text: str) -> None:
    _, (cell,) = csv.reader(io.StringIO(csv_text(["a"], [[text]])))
    assert text_of_cell(cell) == text
    assert not cell.startswith(("=", "+", "-", "@"))


def test_parquet_comes_back_as_it_was(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    campaign = small_campaign(store)
    answer(campaign, 30)
    file = tmp_path / "answers.parquet"
    write_parquet(file, LONG_COLUMNS, long_rows(campaign))
    columns, rows = read_parquet(file)
    assert columns == list(LONG_COLUMNS)
    assert rows == long_rows(campaign)


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"askfew\[parquet\]"):
        write_parquet(tmp_path / "x.parquet", {"item": str}, [])


def test_crowd_kit_tasks_can_be_taken_apart(store: Store) -> None:
    campaign = small_campaign(store)
    answer(campaign, 10)
    rows = [(*split_task(task), worker, label) for task, worker, label in crowd_kit_rows(campaign)]
    assert rows == [row[:4] for row in long_rows(campaign)]


@given(st.text(min_size=1), st.text(min_size=1))
def test_any_ids_make_a_task(item: str, question: str) -> None:
    assert split_task(join_task(item, question)) == (item, question)


@pytest.mark.parametrize("task", ["", "a", "|", "a|", "|b", "a|b|c", "a\\", "a|b\\"])
def test_what_is_no_task_is_refused(task: str) -> None:
    with pytest.raises(InvalidInput, match=r"item\|question"):
        split_task(task)


def test_open_questions_are_label_studio_tasks(store: Store) -> None:
    items = (Item("pic", image=GIF, image_name="a.gif"), *ITEMS)
    campaign = store.create(small_settings(), items, QUESTIONS)
    total = status_of(campaign).open
    held = campaign.ask("ann", 2)
    tasks = label_studio_tasks(campaign)
    assert len(tasks) == total - len(held)
    json.dumps(tasks)
    data = [task["data"] for task in tasks]
    assert {each["question"] for each in data} <= {"q0", "q1", "q2"}
    assert all(each["asked"].startswith("Question ") for each in data)
    for each in data:
        assert ("image" in each) == (each["item"] == "pic")
        if each["item"] == "pic":
            assert each["image"].startswith("data:image/gif;base64,R0lGODlh")


@pytest.mark.parametrize("kind", [YesNo(), Scale(1, 5), Number(2.0)])
def test_the_label_studio_interface_is_xml_with_an_answer(
    kind: YesNo | Scale | Number,
) -> None:
    text = label_studio.interface(kind, 'Say "yes" & <go>', pictures=True)
    view = ElementTree.fromstring(text)
    assert [each.get("name") for each in view if each.get("toName")] == ["answer"]
    assert view.find("Header") is not None


def test_a_result_counts_answers_by_item(store: Store) -> None:
    campaign = small_campaign(store)
    assert [each.item for each in result_of(campaign).undecided] == [item.id for item in ITEMS]
    answer(campaign, 10**6)
    found = result_of(campaign)
    assert found.status == "done"
    assert found.groups == [["item0", "item1", "item3"], ["item2", "item4", "item5"]]
    assert sum(each.answers for each in found.items) == found.answers == len(long_rows(campaign))
    assert found.question in ("q0", "q1")
    assert found.certificate is not None
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    write_whole(file, b"new")
    assert file.read_bytes() == b"new"
    with pytest.raises(InvalidInput, match="writable"):
        write_whole(tmp_path / "none" / "a.csv", b"")
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def twin(campaign: Campaign, other: Store, file: Path) -> Campaign:
    export_campaign(campaign, file)
    return import_campaign(other, file)


@pytest.mark.parametrize("answered", [0, 7, 40, 10**6])
def test_a_campaign_goes_on_in_another_store_as_it_would_have_here(
    answered: int, store: Store, other: Store, tmp_path: Path
) -> None:
    campaign = small_campaign(store)
    answer(campaign, answered)
    copy = twin(campaign, other, tmp_path / "small.askfew")
    assert status_of(copy) == status_of(campaign)
    assert long_rows(copy) == long_rows(campaign)
    assert result_of(copy) == result_of(campaign)
    # Opened anew, as the copy is: a process remembers where everybody was among the questions.
    answer(store.campaign(campaign.settings.name), 10**6, seed=5)
    answer(copy, 10**6, seed=5)
    assert copy.outcome() == campaign.outcome()
    assert [row[:6] for row in long_rows(copy)] == [row[:6] for row in long_rows(campaign)]
    assert examine_store(other.database).sound


def test_leases_stay_behind_and_refusals_come_along(
    store: Store, other: Store, tmp_path: Path
) -> None:
    campaign = small_campaign(store)
    asked = campaign.ask("ann", 2)
    campaign.skip(asked[0].id, "no idea")
    copy = twin(campaign, other, tmp_path / "small.askfew")
    assert status_of(copy).leased == 0
    assert status_of(copy).open == status_of(campaign).open + 1
    assert not copy.tell(asked[1].id, 1).ok
    assert campaign.tell(asked[1].id, 1).ok
    everything = copy.ask("ann", 100)
    assert len(everything) < status_of(copy).open + len(everything)  # not what ann has skipped
    assert examine_store(other.database).sound


def test_what_was_taken_back_stays_with_its_worker(
    store: Store, other: Store, tmp_path: Path
) -> None:
    campaign = small_campaign(store)
    (asked,) = campaign.ask("ann")
    campaign.tell(asked.id, 1)
    again = campaign.retract(asked.id, "ann").lease
    assert again is not None
    copy = twin(campaign, other, tmp_path / "small.askfew")
    assert status_of(copy).leased == 1
    there = f"{copy.id}-{again.partition('-')[2]}"
    assert copy.tell(there, 0).ok
    assert sorted((row.value, row.retracted) for row in answers_of(copy)) == [(0, False), (1, True)]
    assert examine_store(other.database).sound


def test_pictures_travel(store: Store, other: Store, tmp_path: Path) -> None:
    items = (Item("pic", image=GIF, image_name="a.gif"), *ITEMS)
    campaign = store.create(small_settings(), items, QUESTIONS)
    copy = twin(campaign, other, tmp_path / "small.askfew")
    assert copy.items == campaign.items
    assert label_studio_tasks(copy) == label_studio_tasks(campaign)


def test_a_text_that_looks_encoded_stays_as_it_is(
    store: Store, other: Store, tmp_path: Path
) -> None:
    items = (Item("a", "base64:AAAA"), Item("b", '{"base64": "AAAA"}'))
    campaign = store.create(small_settings(), items, QUESTIONS)
    assert twin(campaign, other, tmp_path / "small.askfew").items == campaign.items


def test_a_name_in_use_is_refused_and_another_name_may_be_given(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "small.askfew"
    export_campaign(small_campaign(store), file)
    with pytest.raises(InvalidInput, match="new in its store"):
        import_campaign(store, file)
    copy = import_campaign(store, file, "copy")
    assert copy.settings.name == "copy"
    assert store.names() == ["small", "copy"]
    with pytest.raises(InvalidInput, match="letters, digits"):
        import_campaign(store, file, "//")


@pytest.mark.parametrize("at", [0.2, 0.4, 0.6])
def test_a_damaged_file_is_refused_and_nothing_is_created(
    at: float, store: Store, other: Store, tmp_path: Path
) -> None:
    campaign = small_campaign(store)
    answer(campaign, 30)
    file = tmp_path / "small.askfew"
    export_campaign(campaign, file)
    content = bytearray(file.read_bytes())
    place = int(at * len(content))
    cut = bytes(content[:place])
    content[place : place + 200] = bytes(200)
    for damaged in (bytes(content), cut, b"", b"PK"):
        file.write_bytes(damaged)
        with pytest.raises(InvalidInput, match="as 'askfew export' wrote it"):
            import_campaign(other, file)
        assert other.names() == ["first one"]


def test_an_edited_file_is_refused(store: Store, other: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    answer(campaign, 30)
    file, edited = tmp_path / "small.askfew", tmp_path / "edited.askfew"
    export_campaign(campaign, file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(edited, "w") as new:
        for part in old.namelist():
            content = old.read(part)
            if part == "answers.jsonl":
                content = content.replace(b'"ann"', b'"eve"')
            new.writestr(part, content)
    with pytest.raises(InvalidInput, match=r"answers\.jsonl changed"):
        import_campaign(other, edited)
    with pytest.raises(InvalidInput, match="must exist"):
        import_campaign(other, tmp_path / "none.askfew")


def test_an_unsound_campaign_is_refused(store: Store, other: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    answer(campaign, 30)
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE answers SET value = 1 - value")
    export_campaign(campaign, tmp_path / "small.askfew")
    with pytest.raises(InvalidInput, match="must be sound"):
        import_campaign(other, tmp_path / "small.askfew")
    assert other.names() == ["first one"]


def test_from_sqlite_to_postgresql_and_back(
    store: Store, fresh_database: str, tmp_path: Path
) -> None:
    campaign = small_campaign(store)
    answer(campaign, 40)
    server = Store(fresh_database)
    there = twin(campaign, server, tmp_path / "there.askfew")
    assert long_rows(there) == long_rows(campaign)
    answer(there, 10**6, seed=5)
    export_campaign(there, tmp_path / "back.askfew")
    back = import_campaign(store, tmp_path / "back.askfew", "back")
    answer(campaign, 10**6, seed=5)
    assert back.outcome() == campaign.outcome()
    assert examine_store(store.database).sound
    assert examine_store(server.database).sound
    server.close()
