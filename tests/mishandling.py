"""Whole campaigns on a real store whose answers are handled badly, and how many certify an error.

Each of the four is a way in which what was said, or how long it took, once could decide what
counts. ``cheat`` puts the old behaviour back: then far more certified campaigns than delta are
wrong, which shows that a count of them can fail.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta
from sqlalchemy import and_, bindparam, func, select, update

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import RawTransaction
from askfew.campaigns.db.queries.answers import Offer, offers_for_step
from askfew.campaigns.db.schema import answers, slots, steps
from askfew.campaigns.exchange.answer_files import TellRow, read_answers
from askfew.campaigns.exchange.exporting import long_rows
from askfew.campaigns.exchange.importing import import_answers
from askfew.campaigns.slots.handout import revoke
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store
from campaign_tools import Clock, answer_all, frugal, sweep

DELTA = 0.1
TRUTH = (0, 1, 0, 1)
BELIEF = (0, 1, 0, 0)
"""What somebody who handles answers takes for true."""
YES = {0: 0.25, 1: 0.75}
"""How often people say yes about the items of a group, whatever is asked."""


@dataclass(frozen=True)
class Mishandling:
    """``play`` a campaign to its end; ``cheat`` makes it as dangerous as it once was."""

    name: str
    play: Callable[[Store, Path, Clock, int], Campaign]
    cheat: Callable[[pytest.MonkeyPatch], None]


def certified(how: Mishandling, folder: Path, runs: int) -> tuple[int, int]:
    """How many of so many campaigns had a certificate, and how many of those were wrong."""
    clock = Clock()
    store = Store(f"sqlite:///{folder / 'store.db'}", clock=clock)
    right = []
    for seed in range(runs):
        outcome = how.play(store, folder, clock, seed).outcome()
        if outcome is not None and outcome.status == "done":
            right.append(outcome.labels == list(TRUTH))
    store.close()
    return len(right), right.count(False)


def limits(wrong: int, runs: int, sure: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's for a share of which ``wrong`` of ``runs`` were seen."""
    tail = (1 - sure) / 2
    low = float(beta.ppf(tail, wrong, runs - wrong + 1)) if wrong else 0.0
    return low, float(beta.ppf(1 - tail, wrong + 1, runs - wrong)) if wrong < runs else 1.0


def says_yes(item: int, rng: np.random.Generator) -> int:
    return int(rng.random() < YES[TRUTH[item]])


def chance(seed: int) -> np.random.Generator:
    """Not the method's, which has the seed itself."""
    return np.random.default_rng([seed, 1])


def begin(store: Store, seed: int, columns: int = 2, reused: str | None = None) -> Campaign:
    return frugal(store, len(TRUTH), columns, reused, name=f"c{seed}", delta=DELTA, seed=seed)


# An owner reads all that is exported, and revokes everybody who says what they do not believe.
# There are always others to ask.


def _revoking(store: Store, _folder: Path, _clock: Clock, seed: int) -> Campaign:
    rng, campaign = chance(seed), begin(store, seed)
    gone: set[str] = set()
    for number in range(5000):
        asked = campaign.ask(f"w{number}", 2)
        for each in asked:
            campaign.tell(each.id, says_yes(int(each.item.id[1:]), rng))
        if not asked and campaign.state != "running":
            break
        for item, _, worker, said, *_ in long_rows(campaign):
            if said != BELIEF[int(item[1:])] and worker not in gone:
                gone.add(worker)
                campaign.revoke(worker)
    return campaign


_OPEN_STEP = (
    select(func.max(steps.c.number))
    .where(steps.c.campaign == bindparam("this_campaign"), steps.c.closed.is_(None))
    .scalar_subquery()
)


def _theirs(table: Any) -> Any:
    return and_(
        table.c.campaign == bindparam("this_campaign"),
        table.c.worker == bindparam("this_worker"),
        table.c.step == _OPEN_STEP,
    )


_TAKE_BACK = (
    update(slots)
    .where(_theirs(slots), slots.c.state == SlotState.ANSWERED.value)
    .values(state=SlotState.OPEN.value, value=None, worker=None, lease=None, expires=None)
)
_MARK_RETRACTED = update(answers).where(_theirs(answers)).values(retracted=True)


def _revoke_and_forget(raw: RawTransaction, campaign: int, worker: str, now: float) -> None:
    revoke(raw, campaign, worker, now)
    who = {"this_campaign": campaign, "this_worker": worker}
    raw.run(_TAKE_BACK, who)
    raw.run(_MARK_RETRACTED, who)


def _all_told(campaign: int) -> Any:
    return and_(answers.c.campaign == campaign, answers.c.retracted.is_(False))


def _show_and_forget_the_open_step(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("askfew.campaigns.campaign.revoke", _revoke_and_forget)
    patch.setattr("askfew.campaigns.db.queries.answers._counted", _all_told)


# A file is sorted by answer, as a spreadsheet leaves it: what was expected comes first.


def _sorted_file(store: Store, folder: Path, _clock: Clock, seed: int) -> Campaign:
    rng, campaign = chance(seed), begin(store, seed)
    rows = [
        (item, question, f"w{number}", says_yes(item, rng))
        for item in range(len(TRUTH))
        for question in range(2)
        for number in range(150)
    ]
    _tell_from_file(campaign, folder, sorted(rows, key=lambda row: row[3] != BELIEF[row[0]]))
    return campaign


def _take_rows_as_they_stand(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("askfew.campaigns.exchange.importing._turn", lambda _seed, _told: "")


# An older campaign asked every cell sixty times. Whoever said what was expected was quick.


def _slow_doubts(store: Store, _folder: Path, clock: Clock, seed: int) -> Campaign:
    rng = chance(seed)
    old = sweep(store, len(TRUTH), 1, each=60, name=f"old{seed}", answers_per_worker_and_cell=60)
    asked = old.ask("everybody", 1000)
    told = [(int(each.item.id[1:]), each.id) for each in asked]
    said = [(says_yes(item, rng), item, lease) for item, lease in told]
    for answer, _, lease in sorted(said, key=lambda each: each[0] != BELIEF[each[1]]):
        clock.pass_seconds(1.0)
        assert old.tell(lease, answer).ok
    assert old.state == "ended"
    campaign = begin(store, seed, columns=1, reused=old.settings.name)
    answer_all(campaign, "ann", lambda each: says_yes(int(each.item.id[1:]), rng), n=20)
    return campaign


def _reuse_in_order_of_arrival(patch: pytest.MonkeyPatch) -> None:
    in_order = offers_for_step

    def by_time(*about: Any) -> list[Offer]:
        return sorted(in_order(*about), key=lambda offer: offer.time)

    patch.setattr("askfew.campaigns.steps.reuse.offers_for_step", by_time)


# All answers so far are exported and imported every day, in whatever order. One person comes at
# first, then ever more.


def _cumulative_files(store: Store, folder: Path, _clock: Clock, seed: int) -> Campaign:
    rng, campaign = chance(seed), begin(store, seed)
    cells = [(item, question) for item in range(len(TRUTH)) for question in range(2)]
    rows: list[tuple[int, int, str, int]] = []
    have = 0
    for people in (*[1] * 20, 2, 4, 8, 16, 32, 64, 128):
        names = [f"w{number}" for number in range(have, people)]
        rows += [(*cell, name, says_yes(cell[0], rng)) for name in names for cell in cells]
        have = people
        if campaign.state == "running":
            _tell_from_file(campaign, folder, [rows[at] for at in rng.permutation(len(rows))])
    return campaign


def _know_rows_by_their_file(patch: pytest.MonkeyPatch) -> None:
    as_they_are = read_answers

    def keyed_by_file(path: Path, kind: str) -> list[TellRow]:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return [replace(row, mark=digest) for row in as_they_are(path, kind)]

    patch.setattr("mishandling.read_answers", keyed_by_file)


def _tell_from_file(
    campaign: Campaign, folder: Path, rows: list[tuple[int, int, str, int]]
) -> None:
    file = folder / "told.csv"
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(("item", "question", "worker", "answer"))
        writer.writerows((f"i{item}", f"q{question}", *said) for item, question, *said in rows)
    import_answers(campaign, read_answers(file, "csv"))


MISHANDLINGS = (
    Mishandling("an owner revokes whoever disagrees", _revoking, _show_and_forget_the_open_step),
    Mishandling("a file is sorted by answer", _sorted_file, _take_rows_as_they_stand),
    Mishandling(
        "reused answers: the unexpected took longer", _slow_doubts, _reuse_in_order_of_arrival
    ),
    Mishandling("cumulative files", _cumulative_files, _know_rows_by_their_file),
)
