"""CERTIFY by one panel: choose the items, their questions, the references and the bets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from askfew.algorithms.frugal.claim.panel import Panel
from askfew.algorithms.frugal.guess.panels.model import GroupModel
from askfew.estimates.cells import Mask
from askfew.evidence import nine_digits
from askfew.plans import Plan
from askfew.records import Ints

__all__ = ["SURE", "certify_plan"]

# The worlds that these numbers were chosen on are named in ``model``.
SURE = 0.9
"""Chance of a group from which an item may be on the panel or a reference."""
_LEAST = 0.03
"""Nats below which a scarce answer is not asked for: a bet on a useless question loses."""
_PATIENCE = 40
"""Answers about a member of the panel after which it is given up."""
_TEMPER = 0.5
"""Power of the chances that are bet: EM is too sure of itself, and one member on the wrong side
costs the whole panel."""
_STEP = 0.25
"""One Batch asks for this share of the evidence that is still missing."""
_ALIKE = 0.6
"""An item may take a question worth this share of its best one, so that items share references."""
_FOCUS = 0.7
"""How sharply the worth of an answer follows what is missing most."""


def certify_plan(model: GroupModel, panel: Panel, *, scarce: bool) -> Plan:
    """The next Batch, or a plan to end, or to try another panel, where nothing helps.

    Unless answers are ``scarce``, the panel is certified before anybody else is asked.
    """
    named = bool((panel.labels >= 0).any())
    waiting = np.flatnonzero((panel.labels < 0) & ~panel.excluded.all(axis=1))
    if not scarce and not named:
        waiting = waiting[np.isin(waiting, panel.members)]
        if panel.used.sum() > _PATIENCE * len(panel.members):
            return Plan("again")
    step = _Step(model, panel, waiting, scarce=scarce)
    if not step.live.any():
        return Plan("end" if named or scarce else "again")
    rows = step.rows()
    cells = sorted(rows)
    items, columns = (np.array(each, dtype=np.int64) for each in zip(*cells, strict=True))
    chances = np.maximum(model.chances[np.unique(items)], 1e-6) ** _TEMPER
    return Plan(
        "certify",
        {},
        {
            "items": items,
            "questions": model.ledger.deck[columns],
            "repeats": np.array([rows[cell] for cell in cells], dtype=np.int64),
            "levels": model.on_scale(model.levels[:, np.unique(columns)]).ravel(),
            "chances": (chances / chances.sum(axis=1, keepdims=True)).ravel(),
        },
    )


@dataclass
class _Step:
    """One Batch: what an answer of each waiting item to each question is worth."""

    model: GroupModel
    panel: Panel
    waiting: Ints
    scarce: bool

    def __post_init__(self) -> None:
        model, panel, waiting, k = self.model, self.panel, self.waiting, self.model.groups
        named = bool((panel.labels >= 0).any())
        self.refers = self._presumed()
        self.room = model.ledger.open_room
        capacity = np.stack([self.room[self.refers == g].sum(axis=0) for g in range(k)])
        if not named:  # any member may turn out to be a reference of any group
            capacity[:] = self.room[panel.members].sum(axis=0)
        # An answer is worth nothing against a group that has no references left (g x h x q).
        self.rates = model.rates(0.5) * model.likely() * (capacity >= 1)
        missing = np.maximum(panel.item_needed - panel.evidence[waiting], 0.3)
        missing[panel.excluded[waiting]] = 0.0
        self.lean = model.chances[waiting].argmax(axis=1)
        others = missing.copy()
        others[np.arange(len(waiting)), self.lean] = 0
        self.needed = others.max(axis=1)
        """Nats that each waiting item lacks most."""
        self.weight = np.exp(_FOCUS * (missing - self.needed[:, np.newaxis])).clip(max=1)
        self.weight *= missing > 0
        worth = np.einsum("xg,xh,ghq->xq", model.chances[waiting], self.weight, self.rates)
        self.worth = np.where(self.room[waiting] >= 1, worth, 0.0)
        self.best = self.worth.max(axis=1, initial=0.0)
        self.live: Mask = self.best > (_LEAST if self.scarce else 1e-2)
        if named:  # do not begin what the room left cannot finish
            hope = (self.room[waiting] * self.worth).sum(axis=1)
            self.live &= 2 * hope + 2 > self.needed

    def _presumed(self) -> Ints:
        """Groups that items may be references of: labels, and of the panel what is presumed."""
        panel = self.panel
        chances = self.model.chances[panel.members]
        sides = np.where(chances.max(axis=1) > SURE, chances.argmax(axis=1), -1)
        refers = panel.labels.copy()
        unsure = refers[panel.members] < 0
        refers[panel.members[unsure]] = sides[unsure]
        return refers

    def rows(self) -> dict[tuple[int, int], int]:
        """Repeats of every (item, question) to ask, references included."""
        chosen = self._questions()
        rows: dict[tuple[int, int], int] = {}
        for q in np.unique(chosen[chosen >= 0]).tolist():
            here = np.flatnonzero(chosen == q)
            items = self.waiting[here]
            rate = (self.weight[here] * self.rates[self.lean[here], :, q]).max(axis=1)
            size = np.ceil(_STEP * self.needed[here] / rate.clip(min=1e-2)).astype(np.int64)
            size = np.minimum(size.clip(min=1), self.room[items, q])
            for item, many in zip(items.tolist(), size.tolist(), strict=True):
                rows[item, q] = many
            self._add_references(rows, q, items, float(size.mean()))
        return rows

    def _questions(self) -> Ints:
        """A question for each item, few different ones: references then serve many items.

        Where answers are scarce, a Batch has one question, for all items that may answer it.
        """
        chosen = np.full(len(self.worth), -1)
        if self.scarce:
            wanted = self.live[:, np.newaxis] & (self.worth > _LEAST)
            worth = np.where(wanted, self.worth, 0.0)
            q = int(np.argmax(nine_digits(worth.sum(axis=0))))
            chosen[worth[:, q] > 0] = q
            return chosen
        relative = self.worth / np.maximum(self.best, 1e-12)[:, np.newaxis]
        good = np.where(relative >= _ALIKE, relative, 0.0)
        todo = self.live.copy()
        while todo.any():
            q = int(np.argmax(nine_digits(good[todo].sum(axis=0))))
            take = todo & (good[:, q] > 0)
            chosen[take] = q
            todo &= ~take
        return chosen

    def _add_references(
        self, rows: dict[tuple[int, int], int], q: int, items: Ints, size: float
    ) -> None:
        """Add references of each group to the Batch.

        They give about the root of the items times the answers of one item: that ratio is the
        cheapest. Where answers are scarce, all references there are may be asked.
        """
        for group in range(self.model.groups):
            served = (self.model.chances[items, group] < SURE).sum()
            if not served:
                continue
            have = sum(
                many
                for (item, column), many in rows.items()
                if column == q and self.refers[item] == group
            )
            ratio = 2 * served if self.scarce else math.sqrt(served)
            wanted = math.ceil(ratio * size) - have
            members = np.flatnonzero((self.refers == group) & (self.room[:, q] > 0))
            members = members[[(int(m), q) not in rows for m in members]]
            members = members[np.argsort(-self.room[members, q], kind="stable")]
            each = max(1, math.ceil(wanted / max(len(members), 1)))
            for member in members.tolist():
                if wanted <= 0:
                    break
                many = int(min(each, wanted, self.room[member, q]))
                rows[member, q] = many
                wanted -= many
