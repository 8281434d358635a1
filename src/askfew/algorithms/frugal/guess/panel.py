"""Guesses under a cap: which questions tell the groups apart, who is on the panel, whom to ask.

EXPLORE asks a few items many questions, fits latent classes, and goes on with the better half of
the questions until the classes are clear. Then it proposes a panel, and for every Batch the rows,
the groups' means and each item's chances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from askfew.algorithms.frugal.claim.panel import Ledger, Panel, places
from askfew.answers import Number
from askfew.estimates.cells import Mask
from askfew.estimates.classes import CellMeans, Classes, fit, log_likelihood
from askfew.evidence import log_evidence, nine_digits
from askfew.plans import Plan
from askfew.records import Floats, Ints

__all__ = ["Guesser", "Tuning"]


@dataclass(frozen=True)
class Tuning:
    """Chosen on 30 to 40 worlds (seeds from 1000 on) of 60 items and 40 questions, yes/no, caps 1,
    5, 12 and 40. Tried for ``first`` 8, 10, 12; ``enough`` 1, 1.5; ``luck`` 10, 30.
    """

    share: float = 1 / 3
    """Of a cell that may be explored."""
    prior: float = 1.0
    """Answers at the overall mean that each group is lent on each question."""
    least: float = 0.03
    """Nats below which a scarce answer is not asked for: a bet on a useless question loses."""
    first: int = 8
    """Answers of a question in the first round."""
    enough: float = 1.0
    """Explored until the questions carry so many times the evidence needed."""
    doubt: float = 1.0
    """Standard errors by which a gap is taken smaller when it is asked whether that is enough."""
    luck: float = 10.0
    """Odds, before anything is asked, that a question tells two groups apart: one in so many."""
    plenty: float = 3.0
    """Where fresh cells carry so many times what is needed, the panel is certified first."""
    patience: int = 40
    """Answers about a member of the panel after which it is given up."""
    same: float = 0.85
    """Share of items that stay where they were if a new model is the same split."""
    temper: float = 0.5
    """Power of the chances that are bet."""
    longest: int = 50
    """Answers a question, for every group but one, after which exploring ends: with something to
    find two groups took less in 40 worlds; three groups did not end well with 50 in all."""
    hopeless: float = 0.5
    """Of the evidence needed: what questions must promise for the rest to be asked at all."""
    hopeless_few: float = 0.8
    """The same from one or two answers per cell, where nothing tests the split: noise promised .56
    to .76 of it, 12 useful questions of 30 .87 to 1.25 (8 worlds each)."""
    sure: float = 0.9
    """Chance of a group from which an item may be on the panel or a reference."""
    step: float = 0.25
    """Of the evidence that is still missing, asked for in one Batch."""
    alike: float = 0.6
    """An item takes another's question if it is worth so much of its own best one."""


class Guesser:
    """The model of all answers so far, and what follows from it."""

    def __init__(self, ledger: Ledger, groups: int, needed: float, root: int) -> None:
        self.ledger, self.groups, self.needed = ledger, groups, needed
        self.tuning, self.root = Tuning(), root
        n, d = ledger.counts.shape
        rng = np.random.default_rng([root, 0])
        self.order = rng.permutation(n)
        """Items in the order in which they are explored."""
        whole = ledger.per_cell * self.tuning.share
        extra = whole - math.floor(whole)
        # A Latin square, so that every item and every question gives its share of whole cells.
        turn = (rng.permutation(n)[:, np.newaxis] + rng.permutation(d)) % max(n, d)
        turn = (turn * 0.6180339887498949) % 1.0
        self.allowance = math.floor(whole) + (turn < extra).astype(np.int64)
        """How often each cell may be explored."""
        least = max(self.tuning.first, 2 * groups)
        self.explored = min(n, math.ceil(least / min(whole, 1.0)))
        """How many items are explored."""
        self.active = np.arange(d)
        self.rounds = 0
        self.model: Classes | None = None
        self.chances = np.full((n, groups), 1 / groups)
        self.levels = np.zeros((groups, d))
        self.errors = np.ones((groups, groups, d))
        self.spread = np.ones(d)
        self.tested = np.zeros((2, groups, d))
        """Answers, and their sum, that came after the group they are counted for was guessed."""
        self.before = ledger.counts.copy(), ledger.sums.copy()
        self.scarce = False

    # EXPLORE

    def explore(self, again: bool = False) -> Plan:
        """The next round of exploring, a panel, or no hope; ``again``: the last panel failed."""
        active, explored = self.active, self.explored
        plan = self._next(again)
        self.active, self.explored = active, explored
        return plan

    def accept(self, plan: Plan) -> None:
        """Note what was decided, now or in the log."""
        if plan.kind == "explore":
            self.rounds += 1
            self.active, self.explored = plan.ints("active"), int(plan.facts["explored"])
            self.before = self.ledger.counts.copy(), self.ledger.sums.copy()
        else:
            self.scarce = self._promised() < self.tuning.plenty * self.needed

    def _next(self, again: bool) -> Plan:
        if self.rounds and not again:
            if self._clear() or self._long():
                return self._panel()
            self._narrow()
        while True:
            plan = self._round()
            if plan is None and len(self.active) < len(self.ledger.deck) and not self._promising():
                self.active = np.arange(len(self.ledger.deck))  # a wrong track: begin again
                plan = self._round()
            if plan is not None:
                return plan
            if self.explored >= len(self.order) or self._long():
                return self._panel()
            self.explored = min(2 * self.explored, len(self.order))

    def learn(self) -> None:
        """Test the last model on the answers that came since, then fit a new one."""
        counts, sums = self.ledger.counts - self.before[0], self.ledger.sums - self.before[1]
        fresh = CellMeans.of(self.ledger.problem.kind, counts, sums, discount=0.0)
        known = self.model is not None
        if known:
            seen = self._seen()
            total = self.chances[seen].T
            self.tested[0] += total @ fresh.weights[seen]
            self.tested[1] += total @ (fresh.weights * fresh.means)[seen]
        before = self.chances.copy()
        self._fit()
        if known:
            order = _matching(before.T @ self.chances)
            self.chances = self.chances[:, order]
            self._measure()
            seen = self._seen() & (before.max(axis=1) > 1 / self.groups + 1e-9)
            same = before[seen].argmax(axis=1) == self.chances[seen].argmax(axis=1)
            if same.mean() < self.tuning.same:
                self.tested[:] = 0  # it has become another split

    def forget(self) -> None:
        """The split was none: it must prove itself again."""
        self.tested[:] = 0

    def _seen(self) -> Mask:
        return np.asarray(self.chances.max(axis=1) > 1 / self.groups + 1e-9)

    def _round(self) -> Plan | None:
        """One more answer, or some if few questions are left, of every cell that has room."""
        items = np.sort(self.order[: self.explored])
        spent = self.ledger.counts + self.ledger.missed
        room = (self.allowance - spent)[np.ix_(items, self.active)].clip(min=0)
        many = max(1, round(self.tuning.first / 2 / max(len(self.active), 1)))
        row, column = np.nonzero(room)
        if not len(row):
            return None
        repeats = np.minimum(room[row, column], many)
        return Plan(
            "explore",
            {"explored": self.explored},
            {
                "active": self.active,
                "items": items[row],
                "questions": self.ledger.deck[self.active[column]],
                "repeats": repeats,
            },
        )

    def _fit(self) -> None:
        """Latent classes of the explored items, from several starts."""
        items = self.order[: self.explored]
        answered = self._answered(items)
        rng = np.random.default_rng([self.root, self.ledger.answers])
        self.model = fit(answered, self.groups, rng)
        self.chances[:] = 1 / self.groups
        self.chances[items] = self.model.posterior
        self._measure()

    def refit(self, panel: Panel) -> None:
        """EM from what is known, the labels clamped."""
        seen = panel.labels >= 0
        if seen.any():
            self._rename(panel.labels)
        answered = self._answered(np.arange(len(self.order)))
        for _ in range(3):
            self.chances[seen] = np.eye(self.groups)[panel.labels[seen]]
            self._measure()
            shares = (self.chances.sum(axis=0) + 1) / (len(self.chances) + self.groups)
            odds = log_likelihood(answered, self.levels, self._variances()) + np.log(shares)
            raised = np.exp(odds - odds.max(axis=1, keepdims=True))
            self.chances = raised / raised.sum(axis=1, keepdims=True)
        self.chances[seen] = np.eye(self.groups)[panel.labels[seen]]
        self._measure()

    def _rename(self, labels: Ints) -> None:
        """Call the groups as the claim does."""
        seen = labels >= 0
        known = np.eye(self.groups)[labels[seen]]
        self.chances = self.chances[:, _matching(known.T @ self.chances[seen])]

    def _answered(self, items: Ints) -> CellMeans:
        counts, sums = self.ledger.counts[items], self.ledger.sums[items]
        return CellMeans.of(self.ledger.problem.kind, counts, sums, discount=0.0)

    def _variances(self) -> Floats | None:
        kind = self.ledger.problem.kind
        if not isinstance(kind, Number):
            return None
        return np.full(len(self.ledger.deck), kind.sigma**2)

    def _measure(self) -> None:
        """Means of the groups on every question, on the scale 0 to 1, and standard errors."""
        answered = self._answered(np.arange(len(self.order)))
        known = self._seen()
        weight = self.chances[known].T @ answered.weights[known]
        total = self.chances[known].T @ (answered.weights * answered.means)[known]
        overall = answered.overall
        prior = self.tuning.prior
        self.levels = (total + prior * overall) / (weight + prior)
        if answered.sigma is None:
            self.levels = np.clip(self.levels, 0.02, 0.98)
            spread = np.sqrt(np.maximum(overall * (1 - overall), 0.05))
        else:
            spread = np.full(len(overall), answered.sigma)
        inverse = 1 / (weight + 1)
        self.errors = spread * np.sqrt(inverse[:, np.newaxis] + inverse)
        self.spread = spread

    def _rates(self, doubt: float, ratio: float = 3.0) -> Floats:
        """Nats an answer about an item of g is worth against h (g x h x questions)."""
        return self._rates_of(self.levels, self.errors, doubt, ratio)

    def _rates_of(self, levels: Floats, errors: Floats, doubt: float, ratio: float) -> Floats:
        one, other = levels[:, np.newaxis], levels[np.newaxis]
        gap = other - one
        less = np.sign(gap) * np.minimum(abs(gap), doubt * errors) / 2
        one, other = one + less, other - less
        kind = self.ledger.problem.kind
        if not isinstance(kind, Number):
            low, width = kind.low, kind.high - kind.low
            one, other = low + width * one, low + width * other
        rates = log_evidence(kind, one, other, one, 1.0, ratio * other, ratio)
        return np.asarray(rates)

    def _carried(self, levels: Floats, errors: Floats, doubt: float, luck: float) -> float:
        """Nats that fresh cells can carry about an item, for the two groups least apart; a
        question counts as much as it is likely to tell the groups apart at all.
        """
        left = self.ledger.per_cell - self.allowance.mean()
        likely = self._likely(levels, errors, luck)
        total = (self._rates_of(levels, errors, doubt, 3.0) * left * likely).sum(axis=2)
        total[np.arange(self.groups), np.arange(self.groups)] = np.inf
        return float(total.min())

    def _promised(self) -> float:
        return self._carried(self.levels, self.errors, 0.0, 3.0)

    def _likely(self, levels: Floats, errors: Floats, luck: float) -> Floats:
        """The chance that two groups differ on a question, if one in ``luck`` does."""
        gap = abs(levels[:, np.newaxis] - levels)
        return np.asarray(1 / (1 + luck * np.exp(-((gap / errors) ** 2) / 2)))

    def _confirmed(self) -> float:
        """Nats that questions carry by answers that came after the groups were guessed."""
        weight, total = self.tested
        answered = self._answered(np.arange(len(self.order)))
        levels = (total + answered.overall) / (weight + 1)
        if answered.sigma is None:
            levels = np.clip(levels, 0.02, 0.98)
        inverse = 1 / (weight + 1)
        errors = self.spread * np.sqrt(inverse[:, np.newaxis] + inverse)
        return self._carried(levels, errors, self.tuning.doubt, self.tuning.luck)

    def _clear(self) -> bool:
        """Whether the questions carry enough and every group has sure items."""
        many = (self.chances > self.tuning.sure).sum(axis=0).min()
        return bool(many >= 2 and self._confirmed() >= self.tuning.enough * self.needed)

    def _long(self) -> bool:
        """Whether exploring has taken longer than it should where there is something to find."""
        most = self.tuning.longest * (self.groups - 1) * len(self.ledger.deck)
        return self.ledger.answers > most

    def _promising(self) -> bool:
        return self._confirmed() > 0.3 * self.needed

    def _narrow(self) -> None:
        """Keep the better half of the questions, but as many as will be needed."""
        left = max(self.ledger.per_cell - self.allowance.mean(), 1e-9)
        rate = np.maximum(self._rates(0).max(axis=(0, 1)).max(), 0.2)
        least = min(max(math.ceil(2 * self.needed / (left * rate)), self.groups), len(self.active))
        gap = abs(self.levels[:, np.newaxis] - self.levels)
        best = ((gap + self.tuning.doubt * self.errors) / self.spread).max(axis=(0, 1))
        keep = max(least, math.ceil(len(self.active) / 2))
        order = np.argsort(-nine_digits(best[self.active]), kind="stable")
        self.active = np.sort(self.active[order[:keep]])

    def _panel(self) -> Plan:
        """The surest explored items, as evenly from all groups as can be."""
        carried = self._promised()
        if self.ledger.per_cell >= 3:  # later answers could test the split
            carried = min(carried, self._confirmed() / 0.6)
        least = self.tuning.hopeless if self.ledger.per_cell >= 3 else self.tuning.hopeless_few
        if carried < least * self.needed:
            useful = int((self._likely(self.levels, self.errors, 3.0).max(axis=(0, 1)) > 0.9).sum())
            return Plan("hopeless", {"carried": carried, "useful": useful})
        lean = self.chances.argmax(axis=1)
        sure = nine_digits(self.chances.max(axis=1))
        useful = self._rates(self.tuning.doubt).max(axis=(0, 1))
        room = self.ledger.room @ useful
        open_items = np.flatnonzero(sure > min(self.tuning.sure, 1 / self.groups + 1e-6))
        most = min(places(self.groups), len(self.order))
        members: list[int] = []
        ranked = [open_items[lean[open_items] == group] for group in range(self.groups)]
        odds = np.minimum(np.log(sure / np.maximum(1 - sure, 1e-9)), 6.0)
        ranked = [each[np.lexsort((-room[each], -nine_digits(odds[each])))] for each in ranked]
        for turn in range(most):
            members += [int(each[turn]) for each in ranked if len(each) > turn]
        members += [i for i in self.order.tolist() if i not in members][
            : max(self.groups - len(members), 0)
        ]
        return Plan("panel", {}, {"members": np.array(members[:most], dtype=np.int64)})

    # CERTIFY

    def certify(self, panel: Panel) -> Plan:
        """The next Batch, or a plan to end where nothing helps."""
        named = bool((panel.labels >= 0).any())
        sides = self._sides(panel)
        refers = panel.labels.copy()
        unsure = refers[panel.members] < 0
        refers[panel.members[unsure]] = sides[unsure]
        waiting = np.flatnonzero((panel.labels < 0) & ~panel.excluded.all(axis=1))
        scarce = self.scarce
        if not scarce and not named:
            waiting = waiting[np.isin(waiting, panel.members)]
            if panel.used.sum() > self.tuning.patience * len(panel.members):
                return Plan("again")
        room = self._open_room()
        rates = self._rates(0.5) * self._likely(self.levels, self.errors, 3.0)
        capacity = np.stack([room[refers == g].sum(axis=0) for g in range(self.groups)])
        if not named:  # whose side they are on will show
            capacity[:] = room[panel.members].sum(axis=0)
        rates = rates * (capacity >= 1)  # g x h x q: references of h are needed
        missing = np.maximum(panel.item_needed - panel.evidence[waiting], 0.3)
        missing[panel.excluded[waiting]] = 0.0
        lean = self.chances[waiting].argmax(axis=1)
        others = missing.copy()
        others[np.arange(len(waiting)), lean] = 0
        weight = np.exp(0.7 * (missing - others.max(axis=1, keepdims=True))).clip(max=1)
        weight *= missing > 0
        worth = np.einsum("xg,xh,ghq->xq", self.chances[waiting], weight, rates)
        worth = np.where(room[waiting] >= 1, worth, 0.0)
        hope = (room[waiting] * worth).sum(axis=1)
        best = worth.max(axis=1, initial=0.0)
        live = best > (self.tuning.least if scarce else 1e-2)
        if named:
            live &= 2 * hope + 2 > others.max(axis=1)
        if not live.any():
            return Plan("end" if named or scarce else "again")
        chosen = self._share_questions(worth, best, live, scarce)
        rows: dict[tuple[int, int], int] = {}
        for q in np.unique(chosen[chosen >= 0]).tolist():
            here = np.flatnonzero(chosen == q)
            rate = (weight[here] * rates[lean[here], :, q]).max(axis=1).clip(min=1e-2)
            need = others[here].max(axis=1)
            size = np.ceil(self.tuning.step * need / rate).astype(np.int64).clip(min=1)
            size = np.minimum(size, room[waiting[here], q])
            for item, many in zip(waiting[here].tolist(), size.tolist(), strict=True):
                rows[item, q] = many
            self._add_references(rows, q, waiting[here], size, refers, room, scarce)
        cells = sorted(rows)
        items, columns = (np.array(each, dtype=np.int64) for each in zip(*cells, strict=True))
        return self._plan(items, columns, np.array([rows[c] for c in cells]))

    def _plan(self, items: Ints, columns: Ints, repeats: Ints) -> Plan:
        kind = self.ledger.problem.kind
        levels = self.levels[:, np.unique(columns)]
        if not isinstance(kind, Number):
            levels = kind.low + (kind.high - kind.low) * levels
        return Plan(
            "certify",
            {},
            {
                "items": items,
                "questions": self.ledger.deck[columns],
                "repeats": repeats.astype(np.int64),
                "levels": levels.ravel(),
                "chances": self._tempered(self.chances[np.unique(items)]).ravel(),
            },
        )

    def _tempered(self, chances: Floats) -> Floats:
        """EM is too sure of itself, and one member on the wrong side costs the whole panel."""
        raised = np.maximum(chances, 1e-6) ** self.tuning.temper
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def _open_room(self) -> Ints:
        """Answers that cells can still give; a cell that was silent twice over is closed."""
        silent = self.ledger.missed > np.maximum(self.ledger.counts, 1) * 2
        return np.where(silent, 0, self.ledger.room)

    def _sides(self, panel: Panel) -> Ints:
        chances = self.chances[panel.members]
        return np.where(chances.max(axis=1) > self.tuning.sure, chances.argmax(axis=1), -1)

    def _share_questions(self, worth: Floats, best: Floats, live: Mask, scarce: bool) -> Ints:
        """A question for each item, few different ones: references then serve many items.

        Where answers are scarce there is one question a Batch, for everybody who has not had it.
        """
        chosen = np.full(len(worth), -1)
        if scarce:
            worth = np.where(live[:, np.newaxis] & (worth > self.tuning.least), worth, 0.0)
            q = int(np.argmax(nine_digits(worth.sum(axis=0))))
            chosen[worth[:, q] > 0] = q
            return chosen
        relative = worth / np.maximum(best, 1e-12)[:, np.newaxis]
        good = np.where(relative >= self.tuning.alike, relative, 0.0)
        todo = live.copy()
        while todo.any():
            q = int(np.argmax(nine_digits(good[todo].sum(axis=0))))
            take = todo & (good[:, q] > 0)
            chosen[take] = q
            todo &= ~take
        return chosen

    def _add_references(
        self,
        rows: dict[tuple[int, int], int],
        q: int,
        items: Ints,
        size: Ints,
        refers: Ints,
        room: Ints,
        scarce: bool,
    ) -> None:
        """About the square root of the items as many references as answers of one, a group;
        all there are where answers are scarce.
        """
        for group in range(self.groups):
            served = (self.chances[items, group] < self.tuning.sure).sum()
            if not served:
                continue
            have = sum(
                many
                for (item, column), many in rows.items()
                if column == q and refers[item] == group
            )
            ratio = 2 * served if scarce else math.sqrt(served)
            wanted = math.ceil(ratio * float(size.mean())) - have
            members = np.flatnonzero((refers == group) & (room[:, q] > 0))
            members = members[[(int(m), q) not in rows for m in members]]
            members = members[np.argsort(-room[members, q], kind="stable")]
            each = max(1, math.ceil(wanted / max(len(members), 1)))
            for member in members.tolist():
                if wanted <= 0:
                    break
                many = int(min(each, wanted, room[member, q]))
                rows[member, q] = many
                wanted -= many


def _matching(together: Floats) -> Ints:
    """The column that belongs to each row, the largest entries first."""
    rest, order = together.astype(np.float64), np.zeros(len(together), dtype=np.int64)
    for _ in order:
        row, column = np.unravel_index(int(np.argmax(rest)), rest.shape)
        order[row] = column
        rest[row], rest[:, column] = -1, -1
    return order
