"""How long people wait: twelve of them at one campaign, and one leaves in the middle.

    python benchmarks/waiting.py [--campaigns 3] [--reliability 0.9 0.8] [--processes 1]

Each is simulated as the answering page behaves (``web/static/answer``): it shows one question and
may have the next ready, holds the newest answer back for an undo, and looks again when there is
nothing. They share one real store, whose clock is simulated: between two events no time passes, so
what the server itself needs is not in it. An answer takes five seconds on average (log-normal).
The one who leaves shuts the lid: nothing is handed back, an answer that was held back is lost, and
what they hold is free when its lease runs out. With several ``--processes`` each request goes to
any of so many servers, as with ``serve --workers``. The last results are kept in waiting.md.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import tempfile
from dataclasses import dataclass, field

import numpy as np

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.web.pages.answering import may_hold

PEOPLE, SECONDS, SPREAD = 12, 5.0, 0.4
LEAVES_AFTER = 5 * 60.0
HOLD_BACK, IN_HAND, LOOK_AGAIN = 3.0, 2, (0.7, 1.0, 1.5, 2.0, 3.0)
"""As in main.js."""
ITEMS, QUESTIONS, CARRYING = 100, 15, 6
HEADER = """\
| servers | reliability | seed | ended | answers | steps | minutes | idle | worst, s | run |
|---|---|---|---|---|---|---|---|---|---|
"""


class Clock:
    """Goes on from event to event."""

    now = 1_000_000.0

    def __call__(self) -> float:
        """Seconds since the epoch."""
        return self.now


@dataclass
class Person:
    """One page, and the person before it."""

    name: str
    held: list[Assignment] = field(default_factory=list)
    unsent: tuple[str, bool, float] | None = None
    vain: int = 0
    gone: bool = False
    took: float = 0.0
    busy: float = 0.0
    idle_since: float | None = None
    waits: list[float] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    """How many items in a row each question was about."""
    asked: int | None = None


class Room:
    """Everybody at one campaign; the first of them leaves."""

    def __init__(self, servers: list[Campaign], clock: Clock, seed: int, reliable: float) -> None:
        self.servers, self.clock, self.reliable = servers, clock, reliable
        self.rng, self.routes = np.random.default_rng([seed, 7]), np.random.default_rng([seed, 8])
        self.people = [Person(f"p{number}") for number in range(PEOPLE)]
        self.events: list[tuple[float, int, str, Person, str]] = []
        self.order = itertools.count()

    def run(self) -> None:
        """From the first who comes to the last who is told that all is done."""
        for person in self.people:
            person.idle_since = self.clock.now
            self._later(self.rng.uniform(0, SECONDS), "fetch", person)
        self._later(LEAVES_AFTER, "leave", self.people[0])
        while self.events:
            self.clock.now, _, what, who, about = heapq.heappop(self.events)
            if not who.gone:
                getattr(self, f"_{what}")(who, about)

    def _later(self, seconds: float, what: str, who: Person, about: str = "") -> None:
        event = (self.clock.now + seconds, next(self.order), what, who, about)
        heapq.heappush(self.events, event)

    def _leave(self, who: Person, _: str) -> None:
        who.gone = True

    def _fetch(self, who: Person, _: str = "") -> None:
        if len(who.held) >= IN_HAND:
            return
        campaign = self._any_server()
        room = may_hold(campaign, who.name) - len(who.held)
        came = campaign.ask(who.name, room) if room > 0 else []
        nothing_shown = not who.held
        who.held += came
        if came:
            who.vain = 0
            if nothing_shown:
                self._show(who)
        if not came and campaign.state != "running":
            who.idle_since, who.gone = None, True
        elif len(who.held) < IN_HAND:
            self._later(LOOK_AGAIN[min(who.vain, len(LOOK_AGAIN) - 1)], "fetch", who)
            who.vain += 1

    def _show(self, who: Person) -> None:
        if who.idle_since is not None:
            who.waits.append(self.clock.now - who.idle_since)
            who.idle_since = None
        who.took = SECONDS * self.rng.lognormal(-(SPREAD**2) / 2, SPREAD)
        who.busy += who.took
        self._later(who.took, "answer", who)

    def _answer(self, who: Person, _: str) -> None:
        question = who.held.pop(0)
        item, asked = int(question.item.id[1:]), int(question.question.id[1:])
        if asked != who.asked:
            who.asked = asked
            who.runs.append(0)
        who.runs[-1] += 1
        right = self.reliable if asked < CARRYING else 0.5
        self._send(who)
        said = (item % 2 == 0) == (self.rng.random() < right)
        who.unsent = question.id, said, who.took
        self._later(HOLD_BACK, "let_go", who, question.id)
        if who.held:
            self._show(who)
        else:
            who.idle_since = self.clock.now
        self._fetch(who)

    def _let_go(self, who: Person, lease: str) -> None:
        if who.unsent is not None and who.unsent[0] == lease:
            self._send(who)
            self._fetch(who)

    def _send(self, who: Person) -> None:
        if who.unsent is not None:
            lease, said, seconds = who.unsent
            self._any_server().tell(lease, said, seconds=seconds)
            who.unsent = None

    def _any_server(self) -> Campaign:
        """The campaign as one of the server processes has it open."""
        return self.servers[int(self.routes.integers(len(self.servers)))]


def played(seed: int, reliable: float, processes: int = 1) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        store, *others = (
            Store(f"sqlite:///{folder}/store.db", clock=clock) for _ in range(processes)
        )
        chosen = {"error": "share", "people": PEOPLE, "max_answers": 100_000}
        campaign = store.create(
            Settings.from_dict({"name": "c", "seed": seed, **chosen}),
            [Item(f"i{number}") for number in range(ITEMS)],
            [Question(f"q{number}", "?") for number in range(QUESTIONS)],
        )
        servers = [campaign, *(each.campaign("c") for each in others)]
        began, room = clock.now, Room(servers, clock, seed, reliable)
        room.run()
        waits = [wait for each in room.people[1:] for wait in each.waits]
        idle, busy = sum(waits), sum(each.busy for each in room.people[1:])
        runs = [run for each in room.people for run in each.runs]
        status = status_of(campaign)
        for each in (store, *others):
            each.close()
    return (
        f"| {processes} | {reliable} | {seed} | {status.phase} | {status.answers:,}"
        f" | {status.steps} | {(clock.now - began) / 60:.1f} | {idle / (idle + busy):.1%}"
        f" | {max(waits):.0f} | {sum(runs) / len(runs):.1f} |"
    )


def main() -> None:
    """Play, and print a line for each campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=3)
    parser.add_argument("--reliability", type=float, nargs="+", default=[0.9, 0.8])
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    print(HEADER, end="", flush=True)
    for reliable in options.reliability:
        for seed in range(options.campaigns):
            print(played(seed, reliable, options.processes), flush=True)


if __name__ == "__main__":
    main()
