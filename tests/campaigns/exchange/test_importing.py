import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.schema import slots
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange import crowd_kit
from askfew.campaigns.exchange.answer_files import read_answers
from askfew.campaigns.exchange.exporting import (
    LONG_COLUMNS,
    crowd_kit_rows,
    label_studio_tasks,
    long_rows,
)
from askfew.campaigns.exchange.files import csv_text, write_parquet
from askfew.campaigns.exchange.importing import ImportReport, import_answers
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from campaign_tools import answer_all, answers_of, sweep
from small_campaigns import TRUTH, answer, small_campaign, truth

pytestmark = pytest.mark.on_sqlite

HEAD = "item,question,worker,answer\n"


def read(campaign: Campaign, text: str, tmp_path: Path, **options: Any) -> ImportReport:
    file = tmp_path / "told.csv"
    file.write_text(text)
    return import_answers(campaign, read_answers(file, "csv"), **options)


def open_cells(campaign: Campaign) -> list[tuple[str, str]]:
    return [
        (task["data"]["item"], task["data"]["question"]) for task in label_studio_tasks(campaign)
    ]


def test_open_questions_are_answered(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    cells = open_cells(campaign)
    lines = [f"{item},{question},ann,yes" for item, question in cells[:2]]
    report = read(campaign, HEAD + "\n".join(lines), tmp_path)
    assert report == ImportReport(taken=2)
    status = status_of(campaign)
    assert (status.answers, status.cost, status.open) == (2, 1.0, len(cells) - 2)
    assert [worker.name for worker in status.workers] == ["ann"]
    assert examine_store(store.database).sound


def test_the_same_file_twice_counts_once(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    item, question = open_cells(campaign)[0]
    text = HEAD + f"{item},{question},ann,1\n{item},{question},ann,1\n"
    first = read(campaign, text, tmp_path)
    again = read(campaign, text, tmp_path)
    assert first.taken >= 1
    assert (again.taken, again.already) == (0, first.taken)
    assert len(answers_of(campaign)) == first.taken


def test_a_growing_file_counts_every_row_once_if_rows_have_times(
    store: Store, tmp_path: Path
) -> None:
    campaign = small_campaign(store)
    cells = open_cells(campaign)
    text = HEAD.strip() + ",time\n"
    for number, (item, question) in enumerate(cells[:3]):
        text += f"{item},{question},ann,1,2026-01-0{number + 1}T12:00:00Z\n"
        report = read(campaign, text, tmp_path)
        assert (report.taken, report.already) == (1, number)


def test_cumulative_files_without_times_count_nothing_twice(store: Store, tmp_path: Path) -> None:
    """Nothing marks a row but who said it about what: that is enough to know it again."""
    campaign = small_campaign(store)
    cells = sorted(set(open_cells(campaign)))
    text = HEAD
    for number, (item, question) in enumerate(cells[:4]):
        text += f"{item},{question},ann,{number % 2}\n"
        report = read(campaign, text, tmp_path)
        assert (report.taken, report.already) == (1, number)
    shuffled = HEAD + "".join(reversed(text.splitlines(keepends=True)[1:]))
    assert read(campaign, shuffled, tmp_path).already == 4
    assert len(answers_of(campaign)) == 4


def test_what_it_exported_itself_is_not_taken_again(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    answer(campaign, 30)
    rows = long_rows(campaign)
    assert rows
    report = read(campaign, csv_text(LONG_COLUMNS, rows), tmp_path)
    assert (report.taken, report.already) == (0, len(rows))


def wide_step(store: Store, name: str, limit: int, seed: int = 0) -> Campaign:
    """Every one of two cells twelve times, in one step."""
    return sweep(
        store,
        rows=2,
        columns=1,
        each=12,
        name=name,
        answers_per_worker_and_cell=limit,
        seed=seed,
    )


def taken_ids(campaign: Campaign) -> list[tuple[str, int]]:
    """What is counted where: the ids without the campaign's number."""
    return [(row.id.partition("-")[2], row.slot) for row in answers_of(campaign)]


def test_the_order_of_a_file_decides_nothing(store: Store, tmp_path: Path) -> None:
    """Sorted by answer or not, the same rows are taken, into the same slots."""
    rows = [f"i{number % 2},q0,w{number // 2},{number % 3 % 2}" for number in range(80)]
    found = []
    for name, order in {
        "as it is": rows,
        "yes last": sorted(rows, key=lambda row: row[-1]),
        "yes first": sorted(rows, key=lambda row: row[-1], reverse=True),
    }.items():
        campaign = wide_step(store, name.replace(" ", "-"), 1)
        assert read(campaign, HEAD + "\n".join(order), tmp_path).taken == 24
        found.append([(*each, row.value) for each, row in ids_and_rows(campaign)])
    assert found[0] == found[1] == found[2]
    other = wide_step(store, "other-seed", 1, seed=1)
    read(other, HEAD + "\n".join(rows), tmp_path)
    assert taken_ids(other) != taken_ids(store.campaign("as-it-is"))


def ids_and_rows(campaign: Campaign) -> list[tuple[tuple[str, int], Any]]:
    return list(zip(taken_ids(campaign), answers_of(campaign), strict=True))


def test_of_a_worker_s_rows_about_a_cell_any_may_be_the_one(store: Store, tmp_path: Path) -> None:
    """Everybody said no and then yes, and may be heard once: about half of them say yes."""
    rows = [
        f"i{item},q0,w{number},{said}" for said in (0, 1) for number in range(12) for item in (0, 1)
    ]
    said = []
    for seed in range(20):
        campaign = wide_step(store, f"seed{seed}", 1, seed)
        report = read(campaign, HEAD + "\n".join(rows), tmp_path)
        assert (report.taken, len(report.late)) == (24, 24)
        said += [row.value for row in answers_of(campaign)]
    assert 0.4 < np.mean(said) < 0.6


def test_a_worker_s_rows_about_a_cell_come_in_one_file_or_have_times(
    store: Store, tmp_path: Path
) -> None:
    """Of a sorted file that has one row more, nobody can say which is new."""
    campaign = wide_step(store, "rows", 5)
    assert read(campaign, HEAD + "i0,q0,ann,1\n", tmp_path) == ImportReport(taken=1)
    for said in (0, 1):
        grown = HEAD + f"i0,q0,ann,{said}\ni0,q0,ann,1\n"
        places = [f"{tmp_path}/told.csv line {line}" for line in (2, 3)]
        assert read(campaign, grown, tmp_path) == ImportReport(unclear=places)
    assert read(campaign, HEAD + "i0,q0,ann,0\n", tmp_path) == ImportReport(already=1)
    timed = HEAD.strip() + ",time\ni0,q0,ann,0,2026-01-01T12:00:00+01:00\n"
    assert read(campaign, timed, tmp_path) == ImportReport(taken=1)
    again = timed.replace("12:00:00+01:00", "11:00:00Z")
    assert read(campaign, again, tmp_path) == ImportReport(already=1)


def frank(asked: Assignment) -> int:
    """The truth without noise, so that no order of the answers makes a difference."""
    return 0 if asked.question.id == "q2" else TRUTH[int(asked.item.id[4:])]


def test_a_recorded_campaign_can_be_told_from_its_long_table(store: Store, tmp_path: Path) -> None:
    """Steps open as they fill: one file carries a campaign from its beginning to its end."""
    old = small_campaign(store)
    answer_all(old, answer=frank)
    new = small_campaign(store, "new")
    text = csv_text(LONG_COLUMNS, long_rows(old))
    report = read(new, text, tmp_path)
    assert report.taken == len(long_rows(old))
    assert new.outcome() == old.outcome()
    assert status_of(new).cost == status_of(old).cost
    assert examine_store(store.database).sound


def test_parquet_and_crowd_kit_say_the_same(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    old = small_campaign(store)
    answer_all(old, answer=frank)
    write_parquet(tmp_path / "a.parquet", LONG_COLUMNS, long_rows(old))
    (tmp_path / "a.csv").write_text(csv_text(crowd_kit.COLUMNS, crowd_kit_rows(old)))
    for name, file, kind in [("p", "a.parquet", "parquet"), ("c", "a.csv", "crowd-kit")]:
        campaign = small_campaign(store, name)
        import_answers(campaign, read_answers(tmp_path / file, kind))
        assert campaign.outcome() == old.outcome()


def test_a_worker_s_own_lease_is_answered_first(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    (asked,) = campaign.ask("ann")
    text = HEAD + f"{asked.item.id},{asked.question.id},ann,0"
    assert read(campaign, text, tmp_path).taken == 1
    status = status_of(campaign)
    assert (status.leased, status.answers) == (0, 1)
    assert not campaign.tell(asked.id, 1).ok  # it has been told by the file


def test_what_others_hold_is_late(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    held = campaign.ask("ann", 100)
    with store.database.write() as connection:  # nothing is open any more
        connection.execute(
            slots.update().where(slots.c.state == SlotState.OPEN).values(state=SlotState.EMPTY)
        )
    text = HEAD + f"{held[0].item.id},{held[0].question.id},bob,0"
    report = read(campaign, text, tmp_path)
    assert report.taken == 0
    assert report.late == [f"{tmp_path}/told.csv line 2"]


def test_nobody_answers_a_cell_too_often_nor_what_they_skipped(
    store: Store, tmp_path: Path
) -> None:
    campaign = small_campaign(store, answers_per_worker_and_cell=1)
    (asked,) = campaign.ask("ann")
    cell = f"{asked.item.id},{asked.question.id}"
    campaign.skip(asked.id)
    waiting = open_cells(campaign).count((asked.item.id, asked.question.id))
    report = read(campaign, HEAD + f"{cell},ann,1\n{cell},bob,1\n{cell},bob,0\n", tmp_path)
    assert report.taken == min(waiting, 2) if waiting > 1 else 1
    assert len(report.late) == 3 - report.taken
    assert examine_store(store.database).sound


def test_a_revoked_worker_is_not_heard(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    campaign.ask("eve")
    campaign.revoke("eve")
    item, question = open_cells(campaign)[0]
    report = read(campaign, HEAD + f"{item},{question},eve,1", tmp_path)
    assert report == ImportReport(revoked=[f"{tmp_path}/told.csv line 2"])


BAD = {
    "an unknown item": ("item9,q0,ann,1", "line 3: the item must be one of the campaign's"),
    "an unknown question": ("item0,q9,ann,1", "line 3: the question must be one of"),
    "an impossible answer": ("item0,q0,ann,2", "line 3: an answer must be yes"),
    "no answer": ("item0,q0,ann,", "line 3: an answer must be yes"),
    "no worker": ("item0,q0,,1", "line 3: a worker's name"),
    "a long worker": (f"item0,q0,{'x' * 201},1", "line 3: a worker's name"),
    "too few fields": ("item0,q0,ann", "line 3: a row must have 4 fields"),
    "a long text": (f"item0,q0,ann,{'1' * 1_000_000}", "line 3: a text must have at most"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_row_is_named_and_nothing_is_taken(what: str, store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    item, question = open_cells(campaign)[0]
    line, sentence = BAD[what]
    with pytest.raises(InvalidInput, match=f"{tmp_path}/told.csv {sentence}"):
        read(campaign, f"{HEAD}{item},{question},ann,1\n{line}\n", tmp_path)
    assert status_of(campaign).answers == 0
    assert status_of(campaign).workers == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "",
            "line 1: the first row must name the columns item,question,worker,answer"
            r" \(and may name seconds,cost,time\), got ''",
        ),
        ("item,question,worker\na,b,c\n", "line 1: .* add the column answer"),
        ("item,question,worker,answer,mood\n", "line 1: columns must be among"),
        (HEAD.strip() + ",seconds\nitem0,q0,ann,1,-3\n", "line 2: seconds must be"),
        (HEAD.strip() + ",cost\nitem0,q0,ann,1,free\n", "line 2: cost must be"),
        (HEAD.strip() + ",time\nitem0,q0,ann,1,noon\n", "line 2: time must be"),
        (HEAD + '"item0,q0,ann,1\n', "line 2: this must be a row of a CSV file"),
    ],
)
def test_a_malformed_table_is_refused(
    text: str, sentence: str, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read(small_campaign(store), text, tmp_path)


def test_bad_rows_may_be_left_out(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    item, question = open_cells(campaign)[0]
    text = HEAD + f"nobody,q0,ann,1\n{item},{question},ann,7\n{item},{question},ann,1\n"
    report = read(campaign, text, tmp_path, skip_bad=True)
    assert report == ImportReport(
        taken=1,
        unknown=[f"{tmp_path}/told.csv line 2"],
        invalid=[f"{tmp_path}/told.csv line 3"],
    )


def test_a_paused_campaign_takes_no_file(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    campaign.pause()
    with pytest.raises(InvalidInput, match="must be running"):
        read(campaign, HEAD, tmp_path)


def annotated(task: dict[str, Any], value: dict[str, Any], **more: Any) -> dict[str, Any]:
    result = [{"from_name": "answer", "to_name": "text", "type": "choices", "value": value}]
    about = {"completed_by": {"id": 3, "email": "a@b.org"}, "lead_time": 4.5, "id": 1, **more}
    return {**task, "id": 17, "annotations": [{"result": result, **about}]}


@pytest.mark.parametrize("lead_time", [float("nan"), float("inf"), -0.5, None, 10**400])
def test_a_label_studio_time_that_is_none_is_left_out(
    lead_time: float | None, store: Store, tmp_path: Path
) -> None:
    task, file = label_studio_tasks(small_campaign(store))[0], tmp_path / "done.json"
    document = [annotated(task, {"choices": ["yes"]}, lead_time=lead_time)]
    file.write_text(json.dumps(document))  # Python writes, and reads, NaN and Infinity
    (row,) = read_answers(file, "label-studio")
    assert row.seconds is None


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("time", [2**63 - 1, -(2**63), 1])
def test_parquet_times_of_any_age_are_read_or_refused(time: int, unit: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "told.parquet"
    texts = {name: ["x"] for name in ("item", "question", "worker", "answer")}
    when = pyarrow.array([time], pyarrow.timestamp(unit, tz="UTC"))
    parquet.write_table(pyarrow.table({**texts, "time": when}), file)
    try:
        read_answers(file, "parquet")
    except InvalidInput as error:
        said = str(error)
    else:
        return
    assert "with times of the years 1 to 9999, got an error" in said


def test_label_studio_annotations_are_told(store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store)
    tasks = label_studio_tasks(campaign)
    file = tmp_path / "done.json"
    document = [
        annotated(tasks[0], {"choices": ["yes"]}),
        annotated(tasks[1], {"choices": ["no"]}, completed_by=8),
        annotated(tasks[2], {}, was_cancelled=True),
        tasks[3],
    ]
    file.write_text(json.dumps(document))
    report = import_answers(campaign, read_answers(file, "label-studio"))
    assert report == ImportReport(taken=2)
    items, asked = campaign.items, campaign.questions
    told = {
        (items[row.item].id, asked[row.question].id, row.worker, row.value, row.seconds)
        for row in answers_of(campaign)
    }
    cells = [(task["data"]["item"], task["data"]["question"]) for task in tasks]
    assert told == {
        (*cells[0], "label-studio:a@b.org", 1.0, 4.5),
        (*cells[1], "label-studio:8", 0.0, 4.5),
    }


@pytest.mark.parametrize("value", [{"number": 3}, {"rating": 3}])
def test_label_studio_numbers(value: dict[str, Any], store: Store, tmp_path: Path) -> None:
    campaign = small_campaign(store, answers={"scale": [1, 5]})
    file = tmp_path / "done.json"
    file.write_text(json.dumps([annotated(label_studio_tasks(campaign)[0], value)]))
    assert import_answers(campaign, read_answers(file, "label-studio")).taken == 1
    assert [row.value for row in answers_of(campaign)] == [3.0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "line 1: this must be JSON"),
        ("[\n\n]]", "line 3: this must be JSON"),
        ("{}", "must be a list of tasks"),
        ("[3]", "task 1: a task must be one that askfew exported"),
        ('[{"data": {"item": "a"}}]', "task 1: a task must be"),
        (
            '[{"data": {"item": "item0", "question": "q0"}, "annotations": [{"result": []}]}]',
            "task 1: a task must be",
        ),
    ],
)
def test_other_json_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "done.json"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=sentence):
        read_answers(file, "label-studio")


def test_bad_parquet_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    file = tmp_path / "a.parquet"
    file.write_bytes(b"PAR1 no")
    with pytest.raises(InvalidInput, match="must be a Parquet file"):
        read_answers(file, "parquet")
    write_parquet(file, {"item": str, "mood": str}, [("a", "b")])
    with pytest.raises(InvalidInput, match="columns must be among"):
        read_answers(file, "parquet")
    write_parquet(file, {"item": str}, [("a",)])
    with pytest.raises(InvalidInput, match="must be a column question"):
        read_answers(file, "parquet")


def test_on_postgresql(fresh_database: str, tmp_path: Path) -> None:
    store = Store(fresh_database)
    campaign = small_campaign(store)
    rng = np.random.default_rng(0)
    for number in range(100):
        if campaign.state == "ended":
            break
        lines = [f"{i},{q},ann{number},{truth(i, q, rng)}" for i, q in open_cells(campaign)]
        assert read(campaign, HEAD + "\n".join(lines), tmp_path).late == []
    assert campaign.state == "ended"
    assert examine_store(store.database).sound
    store.close()
