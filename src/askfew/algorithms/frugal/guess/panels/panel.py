"""Guesses for one panel: EXPLORE finds questions that tell the groups apart, and proposes a panel.

A few items are asked many questions, latent classes are fitted, and the better half of the
questions is kept, until the classes are clear. What is asked of the panel and the others
afterwards is in ``certify``. The worlds that the numbers were chosen on are named in ``model``.
"""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.claim.panel import PanelClaim
from askfew.algorithms.frugal.claim.partitions import places
from askfew.algorithms.frugal.guess.panels.certify import SURE, certify_plan
from askfew.algorithms.frugal.guess.panels.model import DOUBT, GroupModel
from askfew.evidence import nine_digits
from askfew.plans import Plan
from askfew.records import Batch, Ints, Tally

__all__ = ["PanelGuesser"]

_SHARE = 1 / 3
"""The share of a cell's answers that may be spent on exploring; they never count."""
_FIRST = 8
"""Answers of a question in the first round. Tried were 8, 10 and 12."""
_ENOUGH = 1.0
"""Exploring ends when the questions carry this multiple of the evidence needed. Tried were 1 and
1.5."""
_PLENTY = 3.0
"""Where fresh cells carry this multiple of the evidence needed, the panel is certified first."""
_LONGEST = 50
"""Exploring ends after this many answers per question, times the groups less one. Where there was
something to find, two groups took less in 40 worlds; 50 in all were too few for three groups."""
_HOPELESS = 0.5
"""The rest is asked only if the questions promise this share of the evidence needed."""
_HOPELESS_FEW = 0.8
"""The same from one or two answers per cell, where nothing tests the split: noise promised .56 to
.76 of it, 12 useful questions of 30 .87 to 1.25 (8 worlds each)."""
_TESTED = 3
"""Answers per cell from which on later answers can test a split."""
_GOLDEN = 0.6180339887498949
"""Multiples of it fill [0, 1) evenly."""


class PanelGuesser:
    """Proposes the next plan; what it knows comes from plans and Tallies alone."""

    def __init__(self, claim: PanelClaim, root: int) -> None:
        self.claim, self.ledger, self.groups = claim, claim.ledger, claim.groups
        n, d = self.ledger.counts.shape
        rng = np.random.default_rng([root, 0])
        self._order = rng.permutation(n)
        """Items in the order in which they are explored."""
        whole = self.ledger.per_cell * _SHARE
        extra = whole - math.floor(whole)
        # A Latin square, so that every item and every question gives its share of whole cells.
        turn = (rng.permutation(n)[:, np.newaxis] + rng.permutation(d)) % max(n, d)
        self._allowance = math.floor(whole) + ((turn * _GOLDEN) % 1.0 < extra).astype(np.int64)
        """How often each cell may be explored."""
        self._fresh = self.ledger.per_cell - self._allowance.mean()
        self._explored = min(n, math.ceil(max(_FIRST, 2 * self.groups) / min(whole, 1.0)))
        """How many items are explored."""
        self._active = np.arange(d)
        self._rounds = 0
        self._failed = False
        """Whether the last panel failed and nothing was planned since."""
        self._scarce = False
        self.model = GroupModel(self.ledger, self.groups, root, self._fresh)

    def propose(self) -> Plan:
        """The next plan: explore, name a panel or give up; once there is a panel, certify."""
        panel = self.claim.panel
        if panel is not None:
            return certify_plan(self.model, panel, scarce=self._scarce)
        active, explored = self._active, self._explored
        plan = self._explore()
        self._active, self._explored = active, explored
        return plan

    def accept(self, plan: Plan) -> None:
        """Note what was decided, now or in the log."""
        if plan.kind == "explore":
            self._rounds += 1
            self._active, self._explored = plan.ints("active"), int(plan.facts["explored"])
        elif plan.kind == "panel":
            self._scarce = self.model.promised() < _PLENTY * self.claim.needed
        self._failed = False
        if plan.kind not in {"explore", "certify"}:
            self._prepare()

    def learn(self, plan: Plan, batch: Batch, tally: Tally) -> None:
        """Take in what came back on a plan, after the claim has."""
        del batch, tally  # the ledger has them
        if plan.kind == "explore":
            self.model.explore(self._order[: self._explored])
        else:
            self._prepare()
        self.model.remember()

    def _prepare(self) -> None:
        """Update the model after a panel was named, asked or given up."""
        if self.claim.over:
            return
        if self.claim.panel is not None:
            self.model.certify(self.claim.panel.labels)
        else:
            self.model.forget()
            self._failed = True

    def _explore(self) -> Plan:
        if self._rounds and not self._failed:
            if self._clear() or self._long():
                return self._panel()
            self._narrow()
        while True:
            plan = self._round()
            if plan is None and len(self._active) < len(self.ledger.deck) and not self._promising():
                # The questions that were kept do not confirm the split: consider all of them again.
                self._active = np.arange(len(self.ledger.deck))
                plan = self._round()
            if plan is not None:
                return plan
            if self._explored >= len(self._order) or self._long():
                return self._panel()
            self._explored = min(2 * self._explored, len(self._order))

    def _round(self) -> Plan | None:
        """One more answer, or some if few questions are left, of every cell that has room."""
        items = np.sort(self._order[: self._explored])
        spent = self.ledger.counts + self.ledger.missed
        room = (self._allowance - spent)[np.ix_(items, self._active)].clip(min=0)
        many = max(1, round(_FIRST / 2 / max(len(self._active), 1)))
        row, column = np.nonzero(room)
        if not len(row):
            return None
        return Plan(
            "explore",
            {"explored": self._explored},
            {
                "active": self._active,
                "items": items[row],
                "questions": self.ledger.deck[self._active[column]],
                "repeats": np.minimum(room[row, column], many),
            },
        )

    def _clear(self) -> bool:
        """Whether the questions carry enough and every group has sure items."""
        many = (self.model.chances > SURE).sum(axis=0).min()
        return bool(many >= 2 and self.model.confirmed() >= _ENOUGH * self.claim.needed)

    def _long(self) -> bool:
        """Whether exploring has taken longer than it should where there is something to find."""
        return self.ledger.answers > _LONGEST * (self.groups - 1) * len(self.ledger.deck)

    def _promising(self) -> bool:
        return self.model.confirmed() > 0.3 * self.claim.needed

    def _narrow(self) -> None:
        """Keep the better half of the questions, but as many as will be needed."""
        model, many = self.model, len(self._active)
        rate = np.maximum(model.rates(0).max(axis=(0, 1)).max(), 0.2)
        needed = math.ceil(2 * self.claim.needed / (max(self._fresh, 1e-9) * rate))
        keep = max(min(max(needed, self.groups), many), math.ceil(many / 2))
        gap = abs(model.levels[:, np.newaxis] - model.levels)
        best = ((gap + DOUBT * model.errors) / model.spread).max(axis=(0, 1))
        order = np.argsort(-nine_digits(best[self._active]), kind="stable")
        self._active = np.sort(self._active[order[:keep]])

    def _panel(self) -> Plan:
        """A panel of the surest explored items, evenly from all groups; or a plan to give up."""
        carried, least = self.model.promised(), _HOPELESS_FEW
        if self.ledger.per_cell >= _TESTED:
            carried, least = min(carried, self.model.confirmed() / 0.6), _HOPELESS
        if carried < least * self.claim.needed:
            useful = int((self.model.likely().max(axis=(0, 1)) > 0.9).sum())
            return Plan("hopeless", {"carried": carried, "useful": useful})
        most = min(places(self.groups), len(self._order))
        ranked = self._surest()
        members = [int(each[at]) for at in range(most) for each in ranked if len(each) > at]
        members += [i for i in self._order.tolist() if i not in members][
            : max(self.groups - len(members), 0)
        ]
        return Plan("panel", {}, {"members": np.array(members[:most], dtype=np.int64)})

    def _surest(self) -> list[Ints]:
        """Explored items by the group they lean to: the surest first, then those with most room."""
        chances = self.model.chances
        lean, sure = chances.argmax(axis=1), nine_digits(chances.max(axis=1))
        room = self.ledger.room @ self.model.rates(DOUBT).max(axis=(0, 1))
        explored = np.flatnonzero(sure > min(SURE, 1 / self.groups + 1e-6))
        odds = np.minimum(np.log(sure / np.maximum(1 - sure, 1e-9)), 6.0)
        by_group = [explored[lean[explored] == group] for group in range(self.groups)]
        return [each[np.lexsort((-room[each], -nine_digits(odds[each])))] for each in by_group]
