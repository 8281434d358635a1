"""For any schedule, other values change neither which answers a step counts nor where they stand.

Nothing that has seen an answer's value may decide whether it counts. A schedule of asks, tells,
skips, undos, revocations, time-outs, imports and reuse is run twice, with the same names and times
and with other values; then every closed step must hold the same answers in the same slots. The
first method asks the same whatever it hears, so its steps can be compared to the end; the frugal
method's until their Batches differ.
"""

from __future__ import annotations

import atexit
import itertools
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from askfew.algorithms import METHODS
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import answers, slots, steps
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange.answer_files import read_answers
from askfew.campaigns.exchange.exporting import long_rows
from askfew.campaigns.exchange.importing import import_answers
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import NotAdmitted
from askfew.records import Batch, Finding, Problem, Procedure
from campaign_tools import Clock, items, questions

WORKERS = ("ann", "bob", "cid", "dora")
ITEMS, QUESTIONS = 4, 2
LEASE, PATIENCE = 60.0, 300.0


def deaf(problem: Problem, rng: np.random.Generator, *, delta: float) -> Procedure[Finding]:
    """Asks some cells, five times over, whatever it hears."""
    for _ in range(5):
        cells = rng.permutation(problem.items * problem.questions)[:4]
        yield Batch(
            cells // problem.questions, cells % problem.questions, rng.integers(1, 4, 4), "again"
        )
    return Finding(np.zeros(problem.items, dtype=np.int64))


# ------------------------------------------------------------------ schedules

worker = st.integers(0, len(WORKERS) - 1)
which = st.integers(0, 9)
yes = st.booleans()
pairs = st.tuples(yes, yes)  # what is said in one run, and in the other
imported = st.lists(
    st.tuples(st.integers(0, ITEMS - 1), st.integers(0, QUESTIONS - 1), worker, pairs),
    min_size=1,
    max_size=12,
)
event = st.one_of(
    st.tuples(st.just("ask"), worker, st.integers(1, 6)),
    st.tuples(st.just("tell"), which, pairs),
    st.tuples(st.just("tell"), which, pairs),
    st.tuples(st.just("ask and tell"), worker, st.lists(pairs, min_size=1, max_size=8)),
    st.tuples(st.just("skip"), which),
    st.tuples(st.just("release"), which),
    st.tuples(st.just("renew"), which),
    st.tuples(st.just("undo"), which),
    st.tuples(st.just("revoke"), worker),
    st.tuples(st.just("wait"), st.sampled_from([1.0, LEASE + 1, PATIENCE + 1])),
    st.tuples(st.just("import"), imported, st.booleans()),
)
schedules = st.lists(event, min_size=5, max_size=40)


class Run:
    """One run of a schedule; ``side`` says which of each pair is said."""

    def __init__(self, campaign: Campaign, clock: Clock, folder: Path, side: int) -> None:
        self.campaign, self.clock, self.folder, self.side = campaign, clock, folder, side
        self.leases: list[tuple[str, str]] = []
        """All that were ever handed out, and to whom."""
        self.rows: list[tuple[int, int, int, bool]] = []
        """All that was ever imported: files are cumulative."""

    def do(self, what: str, *how: Any) -> None:
        self.clock.pass_seconds(0.25)
        getattr(self, what.replace(" ", "_"))(*how)

    def ask(self, who: int, n: int) -> list[str]:
        try:
            asked = self.campaign.ask(WORKERS[who], n)
        except NotAdmitted:
            return []
        self.leases += [(each.id, WORKERS[who]) for each in asked]
        return [each.id for each in asked]

    def ask_and_tell(self, who: int, said: Sequence[tuple[bool, bool]]) -> None:
        for lease, values in zip(self.ask(who, len(said)), said, strict=False):
            self.campaign.tell(lease, values[self.side])

    def lease(self, number: int) -> tuple[str, str]:
        """One of the last few."""
        return self.leases[-1 - number % len(self.leases)] if self.leases else ("none", "ann")

    def tell(self, number: int, values: tuple[bool, bool]) -> None:
        self.campaign.tell(self.lease(number)[0], values[self.side])

    def skip(self, number: int) -> None:
        self.campaign.skip(self.lease(number)[0])

    def release(self, number: int) -> None:
        self.campaign.release(self.lease(number)[0])

    def renew(self, number: int) -> None:
        self.campaign.renew(self.lease(number)[0])

    def undo(self, number: int) -> None:
        lease, worker = self.lease(number)
        again = self.campaign.retract(lease, worker).lease
        if again is not None:
            self.leases.append((again, worker))

    def revoke(self, who: int) -> None:
        self.campaign.revoke(WORKERS[who])

    def wait(self, seconds: float) -> None:
        self.clock.pass_seconds(seconds)

    def import_(
        self, rows: Sequence[tuple[int, int, int, tuple[bool, bool]]], yes_first: bool
    ) -> None:
        """Sorted by what is said, which is another order in the other run."""
        self.rows += [(*row[:3], row[3][self.side]) for row in rows]
        lines = [
            f"i{item},q{question},{WORKERS[who]},{said:d}"
            for item, question, who, said in sorted(
                self.rows, key=lambda row: row[3], reverse=yes_first
            )
        ]
        file = self.folder / "told.csv"
        file.write_text("item,question,worker,answer\n" + "\n".join(lines))
        if self.campaign.state == "running":
            import_answers(self.campaign, read_answers(file, "csv"))

    def finish(self) -> None:
        """Others answer all that is left, so that reuse finds many answers about every cell."""
        for number in range(40):
            if self.campaign.state != "running":
                return
            self.clock.pass_seconds(LEASE + 1)
            for each in self.campaign.ask(f"late {number}", 20):
                said = zlib.crc32(f"{self.side} {each.id}".encode()) % 2
                self.campaign.tell(each.id, bool(said))


# ------------------------------------------------------------------ what is compared


def counted_in(campaign: Campaign) -> list[tuple[Any, ...]]:
    """Step by step: what was asked, and which answers stand where. Without what they say."""
    with campaign.database.read() as connection:
        closed = connection.execute(
            select(steps).where(steps.c.campaign == campaign.id, steps.c.closed.is_not(None))
        ).all()
        told = connection.execute(
            select(slots, answers.c.time)
            .outerjoin(answers, (answers.c.id == slots.c.lease) & answers.c.retracted.is_(False))
            .where(slots.c.campaign == campaign.id)
            .order_by(slots.c.step, slots.c.number)
        ).all()
    found = []
    for step in sorted(closed, key=lambda each: each.number):
        here = [row for row in told if row.step == step.number]
        stands = [(row.number, row.state, row.lease, row.worker, row.time) for row in here]
        found.append(((step.items, step.questions, step.repeats), step.counts, stands))
    return found


@cache
def _empty_store() -> str:
    """Its tables made once: that takes longer than most schedules."""
    file = f"{tempfile.mkdtemp(prefix='askfew-test-')}/empty.db"
    Store(f"sqlite:///{file}").close()
    atexit.register(shutil.rmtree, Path(file).parent)
    return file


@contextmanager
def the_same_leases() -> Iterator[None]:
    """Ids that are drawn by chance, the same in both runs."""
    numbers = itertools.count()
    with mock.patch("secrets.token_hex", side_effect=lambda _: f"{next(numbers):016x}"):
        yield


def played(schedule: Sequence[tuple[Any, ...]], side: int, **changes: object) -> list[Any]:
    """What the campaign counted, and what one counted that reuses its answers."""
    with tempfile.TemporaryDirectory() as folder, the_same_leases():
        clock = Clock()
        shutil.copy(_empty_store(), f"{folder}/store.db")
        store = Store(f"sqlite:///{folder}/store.db", clock=clock)
        usual = {
            "name": "first",
            "method": "deaf",
            "lease_seconds": LEASE,
            "step_timeout": PATIENCE,
            "answers_per_worker_and_cell": 2,
        }
        try:
            made = Settings.from_dict({**usual, **changes})
            campaign = store.create(made, items(ITEMS), questions(QUESTIONS))
            run = Run(campaign, clock, Path(folder), side)
            for what, *how in schedule:
                run.do("import_" if what == "import" else what, *how)
            if made.method == "deaf":  # whose reuse is compared
                run.finish()
            again = Settings.from_dict({**usual, **changes, "name": "second", "seed": 5})
            second = store.create(again, items(ITEMS), questions(QUESTIONS), reuse="first")
            assert examine_store(store.database).sound
            exported = [(*row[:3], *row[4:]) for row in long_rows(campaign)]
            return [counted_in(campaign), counted_in(second), exported]
        finally:
            store.close()


@pytest.fixture(scope="module", autouse=True)
def _deaf_method() -> Iterator[None]:
    METHODS["deaf"] = deaf
    yield
    del METHODS["deaf"]


@settings(max_examples=30)
@given(schedules)
def test_other_values_change_nothing_of_what_is_counted(
    schedule: list[tuple[Any, ...]],
) -> None:
    first, second = (played(schedule, side) for side in (0, 1))
    assert first == second


@settings(max_examples=12)
@given(schedules)
def test_nor_with_a_method_that_listens_until_it_asks_something_else(
    schedule: list[tuple[Any, ...]],
) -> None:
    runs = [played(schedule, side, method="frugal", delta=0.1) for side in (0, 1)]
    for first, second in zip(runs[0][0], runs[1][0], strict=False):
        if first[0] != second[0]:  # another Batch: from here on they are different campaigns
            break
        assert first == second
