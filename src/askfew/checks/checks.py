"""All checks of one result as data, and the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from askfew.checks.independence import Repeats, judge_cells
from askfew.checks.questions import QuestionCheck, Role, questions_of
from askfew.checks.sameness import Split, splits_of
from askfew.checks.spread import Spread, spread_of
from askfew.estimates.cells import CellSums
from askfew.records import Audited, Ints, Problem
from askfew.wording import counted

__all__ = ["Checks", "Promise", "check"]

Promise = Literal["groups", "rule"]
"""groups: labels are the true groups, whose items are alike; rule: labels are right about a rule.
"""

_VOID = "THE PROMISE BELOW DOES NOT HOLD"
_LISTED = 8
"""Most questions that a line names. A plain choice; ``to_dict`` has all of them."""
_ENOUGH = 20
"""Least repeats for a share of them to be printed: of fewer, one answer is more than 5 %."""
_ROLES: dict[Role, str] = {
    "carries": "carry the split",
    "agrees": "agree with it",
    "own way": "go their own way",
}


@dataclass(frozen=True)
class Checks:
    """What the answers say about the split and about what is assumed.

    ``void`` says that an assumption of the promise does not hold, so that nothing is promised.
    """

    promise: Promise | None
    """What is promised about the labels; None if nothing."""
    questions: tuple[QuestionCheck, ...]
    spread: Spread | None
    """How far items of a group differ on the questions that carry the split; None if unknown."""
    repeats: Repeats
    splits: tuple[Split, ...]
    """Questions that split a group, where the promise assumes that none does."""
    tolerance: float = 0.0
    """How far the promise allows items of a group to differ."""
    audited: Audited | None = None
    """What was asked after the last label, to see whether a question splits a group."""

    @property
    def void(self) -> bool:
        """Whether the promise does not hold."""
        return self.promise == "groups" and bool(self.splits or self.repeats.suspect)

    def warnings(self, questions: Sequence[object]) -> list[str]:
        """Lines that stand above the certificate, because they speak against it."""
        if self.promise != "groups":
            return []
        lines = []
        if self.repeats.suspect:
            lines.append(f"{_VOID}: {_copies(self.repeats)}. {_INSTEAD}")
        if self.splits:
            lines.append(f"{_VOID}: {_split(self.splits, questions, self.tolerance)}")
        if not lines and self.repeats.quiet:
            lines.append(f"WARNING: {_quiet(self.repeats)}")
        return lines

    def lines(self, questions: Sequence[object]) -> list[str]:
        """Lines that stand below the certificate."""
        lines = ["Checks, measured and not promised:"]
        for role, words in _ROLES.items():
            found = [each for each in self.questions if each.role == role]
            found.sort(key=lambda each: -(each.gap or 0.0))
            if found:
                lines.append(f"- questions that {words}: {_listed(found, questions)}")
        few = sum(each.role == "unknown" for each in self.questions)
        if few:
            lines.append(f"- {counted(few, 'question')} with too few answers to say")
        lines.append(f"- {_spread(self.spread)}")
        if self.repeats.repeats:
            lines.append(f"- {_repeats(self.repeats)}")
        if self.audited is not None:
            lines.append(f"- {self._audit(self.audited)}")
        if self.promise != "groups" and (self.repeats.suspect or self.repeats.quiet):
            lines.append(f"- {_wasteful(self.repeats)}")
        return lines

    def _audit(self, audited: Audited) -> str:
        if not audited.answers:
            if self.splits:
                return "audited: nothing more was asked, because a question splits a group already"
            return f"audited: none of the {counted(audited.wanted, 'answer')} came"
        carry = {each.question for each in self.questions if each.role == "carries"}
        others = sum(each not in carry for each in audited.questions)
        short = audited.answers < audited.wanted and not self.splits
        many = f"{audited.answers:,} of " if short else ""
        seen = (
            "a question splits a group, as said above"
            if self.splits
            else "no question was seen to split a group"
        )
        return (
            f"audited: {many}{counted(audited.wanted if short else audited.answers, 'answer')} on"
            f" {counted(len(audited.questions), 'question')}, {others} of which the labels do not"
            f" rest on: {seen}"
        )

    def to_dict(self, questions: Sequence[object]) -> dict[str, Any]:
        """As JSON-ready values; of questions with too few answers only how many there are."""
        told = [each for each in self.questions if each.role != "unknown"]
        return {
            "promise": self.promise,
            "void": self.void,
            "warnings": self.warnings(questions),
            "questions": [{**asdict(each), "name": str(questions[each.question])} for each in told],
            "questions_unknown": len(self.questions) - len(told),
            "spread": None if self.spread is None else asdict(self.spread),
            "repeats": {
                **asdict(self.repeats),
                "suspect": self.repeats.suspect,
                "quiet": self.repeats.quiet,
            },
            "splits": [
                {**asdict(each), "name": str(questions[each.question])} for each in self.splits
            ],
            **({} if self.audited is None else {"audited": _audited(self.audited, questions)}),
        }


def check(
    problem: Problem,
    cells: CellSums,
    labels: Ints,
    guesses: Ints,
    groups: int,
    *,
    carrying: Sequence[int],
    promise: Promise | None,
    tolerance: float = 0.0,
    audited: Audited | None = None,
) -> Checks:
    """Check all answers, given the labels (-1: none), or the guesses if nothing is certified.

    ``carrying`` are the questions that the labels rest on; ``tolerance`` is how far items of a
    group may differ for the promise "groups" to hold; ``audited`` is what was asked to see that.
    """
    nobody = promise is None or not (labels >= 0).any()
    of_cell = (guesses if nobody else labels)[cells.item]
    voting = None if nobody else carrying if promise == "rule" else ()
    questions = questions_of(
        problem,
        cells,
        of_cell,
        groups,
        carrying=carrying,
        voting=voting,
        identical=promise == "groups",
    )
    gaps = {
        each.question: each.gap
        for each in questions
        if each.role == "carries" and each.gap is not None
    }
    return Checks(
        promise,
        questions,
        spread_of(cells, of_cell, gaps),
        judge_cells(problem.kind, cells, of_cell, alike=promise == "groups"),
        splits_of(problem, cells, of_cell, groups, tolerance) if promise == "groups" else (),
        tolerance,
        audited,
    )


def _audited(audited: Audited, questions: Sequence[object]) -> dict[str, Any]:
    return {
        **asdict(audited),
        "questions": list(audited.questions),
        "names": [str(questions[each]) for each in audited.questions],
    }


_INSTEAD = "Let others answer too, or use method='rule' with repeats='same'."


def _copies(repeats: Repeats) -> str:
    return (
        "repeated answers are not fresh draws: where answers about two items of a group differ in"
        f" {_percent(repeats.usual)}, answers about the same item differ in"
        f" {_percent(repeats.varied_differ)} ({counted(repeats.varied, 'repeat')}). Either"
        " answers are repeated, or items of a group differ as much as they can"
    )


def _quiet(repeats: Repeats) -> str:
    return (
        f"asked again about the same item, {counted(repeats.repeats, 'answer')} differed in"
        f" {_percent(repeats.differ)} only. A source that makes the same errors every time"
        " looks like one that is always right: let others answer too, or check some labels by hand."
    )


def _wasteful(repeats: Repeats) -> str:
    return (
        f"repeats hardly ever differ ({_percent(repeats.differ)}): if they never do,"
        " repeats='same' asks each cell once and costs less"
    )


def _split(splits: tuple[Split, ...], questions: Sequence[object], tolerance: float) -> str:
    first = splits[0]
    rest = len(splits) - 1
    unlike = f"differ by more than {tolerance:g}" if tolerance else "are not the same"
    more = f" So {'does' if rest == 1 else 'do'} {counted(rest, 'other pair')}." if rest else ""
    return (
        f"question {questions[first.question]} splits group {first.group} (a tenth of its answers"
        f" are about items with means of at most {first.low:.3g}, a tenth about items with at least"
        f" {first.high:.3g}; evidence {first.nats:.1f} nats, where {first.needed:.1f} would"
        f" do).{more} Items of one group {unlike}; use method='rule'."
    )


def _listed(found: Sequence[QuestionCheck], questions: Sequence[object]) -> str:
    shown = "; ".join(_gap(each, questions) for each in found[:_LISTED])
    more = len(found) - _LISTED
    return shown + (f"; and {counted(more, 'more', 'more')}" if more > 0 else "")


def _gap(each: QuestionCheck, questions: Sequence[object]) -> str:
    name = questions[each.question]
    if each.gap is None:
        return f"{name} (too few answers to say how far apart)"
    made = "" if each.honest else ", on the answers that made the groups"
    return f"{name} ({each.gap:.2f} apart, {each.low:.2f} to {each.high:.2f}{made})"


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "spread of items within groups: not known, too few were asked twice"
    return (
        f"spread of items within groups: {spread.share:.2f} of the gap"
        f" ({spread.low:.2f} to {spread.high:.2f})"
    )


def _repeats(repeats: Repeats) -> str:
    usual = ""
    if repeats.varied >= _ENOUGH:
        usual = (
            f"; on questions that items of a group answer differently, {_percent(repeats.usual)}"
            f" between two items, {_percent(repeats.varied_differ)} about the same"
        )
    return (
        f"{counted(repeats.repeats, 'answer')} about a cell that had one already: "
        f"{_percent(repeats.differ)} of pairs differ{usual}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
