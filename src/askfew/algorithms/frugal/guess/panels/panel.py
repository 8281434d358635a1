"""Guesses for one panel: EXPLORE proposes a panel, CERTIFY asks its items and then the others.

Explore: a few items are asked many questions, latent classes are fitted, and the better half of the
questions is kept, until the classes are clear. Certify: choose the items, their questions, the
references and the bets. The worlds that the numbers were chosen on are named in ``model``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from askfew.algorithms.frugal.claim.panel import Panel, PanelClaim
from askfew.algorithms.frugal.claim.partitions import places
from askfew.algorithms.frugal.guess.panels.model import DOUBT, GroupModel
from askfew.estimates.cells import Mask
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
_SURE = 0.9
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
            return _certify_plan(self.model, panel, scarce=self._scarce)
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
        many = (self.model.chances > _SURE).sum(axis=0).min()
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
        explored = np.flatnonzero(sure > min(_SURE, 1 / self.groups + 1e-6))
        odds = np.minimum(np.log(sure / np.maximum(1 - sure, 1e-9)), 6.0)
        by_group = [explored[lean[explored] == group] for group in range(self.groups)]
        return [each[np.lexsort((-room[each], -nine_digits(odds[each])))] for each in by_group]


def _certify_plan(model: GroupModel, panel: Panel, *, scarce: bool) -> Plan:
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
        sides = np.where(chances.max(axis=1) > _SURE, chances.argmax(axis=1), -1)
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
            served = (self.model.chances[items, group] < _SURE).sum()
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
