"""Functions of all shapes, and what becomes of their exceptions."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from askfew.answers import YesNo
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.reading.tallies import tallies_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, WorkerStopped
from askfew.workers.desk import Pictures, StoreDesk
from askfew.workers.python import FunctionAnswerer, load_function, run
from askfew.workers.shift import Shift, ShiftReport
from campaign_tools import answers_of, sweep

FUNCTIONS = """
import asyncio, os, threading
sizes, seen, threads = [], [], set()

def by_item(item, question):
    seen.append((item, question))
    return item.id == "i0"

async def asynchronous(item, question):
    await asyncio.sleep(0)
    return True

def plates(batch):
    sizes.append(len(batch))
    return [cell.item.id == "i0" for cell in batch]

async def async_plates(batch):
    return ["yes" for _ in batch]

class Meter:
    def measure(self, item, question):
        return 1

meter = Meter()

def none(item, question):
    return None

def invalid(item, question):
    return 17

def all_invalid(batch):
    return [17 for _ in batch]

def too_many(batch):
    return [1] * (len(batch) + 1)

def too_few(batch):
    return [1] * (len(batch) - 1)

def too_few_after_a_good_one(batch, calls=[]):
    calls.append(batch)
    return [1] * (len(batch) - (len(calls) > 1))

def nothing_at_all(batch):
    pass

def one_by_one(batch):
    yield from batch

def by_name(batch):
    return {cell.id: 1 for cell in batch}

def a_word(batch):
    return "yesyes"

def raises_for_one(batch):
    if any(cell.item.id == "i1" for cell in batch):
        raise RuntimeError("no i1")
    return [1 for _ in batch]

def raises(item, question):
    raise RuntimeError("broken")

def exits(item, question):
    raise SystemExit("bye")

def interrupts(item, question):
    raise KeyboardInterrupt

def raises_once(item, question, seen=set()):
    if (item.id, question.id) not in seen:
        seen.add((item.id, question.id))
        raise RuntimeError("not yet")
    return True

def raises_about_i1(item, question):
    if item.id == "i1":
        raise RuntimeError("no i1")
    return True

def dies(item, question):
    os._exit(3)

def slow(item, question):
    threads.add(threading.get_ident())
    gate.wait(20)
    return True

gate = threading.Barrier(3)
three = lambda a, b, c: 1
number = 5
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of functions, new for every test."""
    name = f"functions_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def work(
    campaign: Campaign, function: str, plate: int = 1, slots: int = 1, processes: bool = False
) -> ShiftReport:
    desk = StoreDesk(campaign, "function")
    pictures = Pictures(desk)
    caller = FunctionAnswerer(
        load_function(function), YesNo(), pictures, workers=slots, processes=processes
    )
    try:
        return asyncio.run(Shift(desk, caller, slots, plate, idle=0.3).run())
    finally:
        caller.close()
        pictures.close()


def skips_of(campaign: Campaign) -> int:
    undecided = np.full(campaign.problem.items, -1)
    return sum(tallies_of(campaign, undecided).skips.values())


@pytest.mark.parametrize(
    ("name", "plate"),
    [("by_item", 1), ("asynchronous", 1), ("plates", 4), ("async_plates", 4), ("meter.measure", 1)],
)
def test_functions_of_all_shapes_answer(store: Store, module: str, name: str, plate: int) -> None:
    campaign = sweep(store)
    assert work(campaign, f"{module}:{name}", plate).answered == 6
    assert campaign.state == "ended"


def test_an_instrument_gets_whole_plates(store: Store, module: str) -> None:
    campaign = sweep(store, rows=50, columns=4)
    work(campaign, f"{module}:plates", plate=96)
    sizes: Sequence[int] = load_function(f"{module}:plates").call.__globals__["sizes"]
    assert sum(sizes) == 200
    assert max(sizes) == 96
    assert len(sizes) <= 5


def test_a_function_sees_texts_and_the_file_of_a_picture(store: Store, module: str) -> None:
    picture = b"GIF89a, more or less"
    campaign = store.create(
        Settings.from_dict({"name": "p", "method": "spectral", "options": {"budget": 3}}),
        [Item("i0", "One", picture), Item("i1", "Two"), Item("i2", "Three")],
        [Question("q", "Is it?")],
    )
    desk = StoreDesk(campaign, "function")
    pictures = Pictures(desk)
    contents = []

    def look(item: object, question: object) -> bool:
        file = item.image  # type: ignore[attr-defined]
        contents.append(None if file is None else (file.suffix, file.read_bytes()))
        return bool(item.text) and question.text == "Is it?"  # type: ignore[attr-defined]

    found = load_function(f"{module}:by_item")
    caller = FunctionAnswerer(type(found)("look", look, False, False), YesNo(), pictures)
    assert asyncio.run(Shift(desk, caller).run()).answered == 3
    caller.close()
    pictures.close()
    assert contents.count((".gif", picture)) == 1
    assert contents.count(None) == 2


def test_threads_call_at_the_same_time(store: Store, module: str) -> None:
    assert work(sweep(store), f"{module}:slow", slots=3).answered == 6
    threads: set[int] = load_function(f"{module}:slow").call.__globals__["threads"]
    assert len(threads) == 3
    assert threading.get_ident() not in threads


def test_processes_call_too(store: Store, module: str) -> None:
    campaign = sweep(store)
    assert work(campaign, f"{module}:by_item", slots=2, processes=True).answered == 6
    assert load_function(f"{module}:by_item").call.__globals__["seen"] == []
    assert {row.value for row in answers_of(campaign) if row.item == 0} == {1.0}


def test_a_process_that_dies_is_said(store: Store, module: str) -> None:
    with pytest.raises(WorkerStopped, match="processes of the function must live"):
        work(sweep(store), f"{module}:dies", processes=True)


@pytest.mark.parametrize("name", ["none", "invalid"])
def test_none_and_invalid_values_are_no_answer(store: Store, module: str, name: str) -> None:
    worked = work(sweep(store), f"{module}:{name}")
    assert (worked.answered, worked.skipped) == (0, 6)


def test_an_exception_releases_the_question(
    store: Store, module: str, caplog: pytest.LogCaptureFixture
) -> None:
    campaign = sweep(store)
    worked = work(campaign, f"{module}:raises_once")
    assert (worked.answered, worked.handed_back, worked.skipped) == (6, 6, 0)
    assert campaign.state == "ended"
    assert "raised RuntimeError: not yet" in caplog.text
    assert caplog.text.count("Traceback") == 1  # six alike are told in a line each
    assert "raise RuntimeError" in caplog.text
    assert "run_in_executor" not in caplog.text  # only what is the function's own


@pytest.mark.parametrize(("name", "plate"), [("invalid", 1), ("all_invalid", 25)])
def test_a_function_whose_values_are_never_answers_stops_the_worker(
    store: Store, module: str, name: str, plate: int
) -> None:
    campaign = sweep(store, rows=10, columns=10)
    many = r"got (20|25) values in a row that cannot be one \(an answer must be yes .* got 17"
    with pytest.raises(WorkerStopped, match=many):
        work(campaign, f"{module}:{name}", plate=plate)
    assert status_of(campaign).leased == 0


def test_who_waits_after_values_that_were_no_answers_stops(
    store: Store, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("askfew.workers.shift._STUCK_AFTER", 0.1)
    function = load_function(f"{module}:invalid")
    with pytest.raises(WorkerStopped, match=r"invalid must return .* got 6 values in a row"):
        run(StoreDesk(sweep(store), "function"), function)
    nothing = load_function(f"{module}:none")
    desk = StoreDesk(sweep(store, name="none"), "function")
    assert run(desk, nothing, idle=0.5).skipped == 6  # None is no failure of the function


def test_a_function_that_always_raises_stops_the_worker(store: Store, module: str) -> None:
    campaign = sweep(store, rows=10, columns=10)
    with pytest.raises(WorkerStopped, match=r"20 exceptions in a row, .* RuntimeError \(broken\)"):
        work(campaign, f"{module}:raises", slots=8)
    with pytest.raises(WorkerStopped, match=r"20 exceptions in a row, .* SystemExit \(bye\)"):
        work(campaign, f"{module}:exits", slots=8)


@pytest.mark.parametrize("slots", [1, 4])
def test_a_function_that_interrupts_ends_the_worker_with_a_sentence(
    store: Store, module: str, slots: int
) -> None:
    campaign = sweep(store)
    with pytest.raises(WorkerStopped, match="interrupts must answer, got KeyboardInterrupt"):
        work(campaign, f"{module}:interrupts", slots=slots)
    assert len(campaign.ask("bob", 100)) == 6  # all of it was handed back


@pytest.mark.parametrize(
    ("name", "came"),
    [
        ("too_many", "got 7:"),
        ("too_few", "got 5:"),
        ("nothing_at_all", "got NoneType instead of a list"),
        ("one_by_one", "got generator instead of a list"),
        ("by_name", "got dict instead of a list"),
        ("a_word", "got str instead of a list"),
    ],
)
def test_a_batch_that_is_not_answered_one_by_one_stops_the_worker_and_is_handed_back(
    store: Store, module: str, name: str, came: str
) -> None:
    campaign = sweep(store)
    sentence = rf"{name} must return one answer for each question of a batch \(6\), {came}"
    with pytest.raises(WorkerStopped, match=sentence):
        work(campaign, f"{module}:{name}", plate=6)
    assert answers_of(campaign) == []
    assert skips_of(campaign) == 0
    assert status_of(campaign).leased == 0
    assert len(campaign.ask("somebody else", 10)) == 6


def test_answers_before_a_batch_that_is_too_short_are_kept(store: Store, module: str) -> None:
    campaign = sweep(store)
    with pytest.raises(WorkerStopped, match=r"for each question of a batch \(3\), got 2:"):
        work(campaign, f"{module}:too_few_after_a_good_one", plate=3)
    assert len(answers_of(campaign)) == 3
    assert skips_of(campaign) == 0


def test_a_batch_that_raises_is_handed_back_until_the_worker_stops(
    store: Store, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("askfew.workers.python._PAUSE", 0.0)
    campaign = sweep(store)
    with pytest.raises(WorkerStopped, match=r"20 exceptions in a row, .* RuntimeError \(no i1\)"):
        work(campaign, f"{module}:raises_for_one", plate=6)
    assert skips_of(campaign) == 0
    assert status_of(campaign).leased == 0


def test_a_question_that_alone_raises_again_and_again_goes_to_somebody_else(
    store: Store, module: str
) -> None:
    campaign = sweep(store, rows=3, columns=1)
    worked = work(campaign, f"{module}:raises_about_i1")
    assert (worked.answered, worked.handed_back, worked.skipped) == (2, 2, 1)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nothing", "must be written module:function"),
        ("no_such_module_here:f", r"must be importable, got ModuleNotFoundError"),
        ("{}:gone", "must be importable, got AttributeError"),
        ("{}:number", "must be a function"),
        ("{}:three", r"must take \(item, question\), or \(batch\)"),
    ],
)
def test_a_function_that_cannot_be_had_is_one_sentence(
    module: str, name: str, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        load_function(name.format(module))


@pytest.mark.parametrize("says", ["raise SystemExit(3)", "import sys; sys.exit('bye')"])
def test_a_module_that_exits_is_a_sentence(
    says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = f"exits_{len(says)}"
    (tmp_path / f"{name}.py").write_text(says)
    with pytest.raises(InvalidInput, match=r"must be importable, got SystemExit \((3|bye)\)"):
        load_function(f"{name}:answer")
