"""Constants of the guesses, in one place. They change what is asked, never what is promised."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Tuning"]


@dataclass(frozen=True)
class Tuning:
    """Found on the synthetic worlds and real tables of ``benchmarks/rule.md``."""

    # LEARN
    first_items: int = 30
    """Screened before anything is fitted."""
    first_answers: int = 2000
    """For the first screen, or 8 an item: where that is not enough for all questions, some."""
    most_screens: int = 3
    """Times the first answers, before it is given up."""
    sharp_items: int = 50
    """Screened at least, on the questions that matter, before a rule is frozen."""
    most_repeats: int = 6
    """Answers of a cell while learning: repeats are discounted, and more say little."""
    most_stages: int = 12
    """Screens with anchors before it is given up."""
    few_missing: float = 0.05
    """Share of missing cells below which new items are asked."""
    anchor_answers: int = 2
    """Of an anchor to every question."""
    unlabelled: int = 30
    """Items beside the anchors that sharpen the levels."""
    committee: int = 7
    """Questions of a node at most."""
    large_committee: int = 20
    """The same where a cell takes at most ``few_per_cell`` answers: rounds are few there."""
    few_per_cell: int = 3
    need: int = 3
    """Questions that must tell a node's sides apart, each on its own: fewer are no consensus."""
    strength: float = 0.3
    """Half the margin of a node, in spreads of one answer, at least."""
    alone: float = 0.5
    """Spreads by which a question must separate to count as one of the needed."""
    more: float = 0.05
    """Worth of one more question at the same margin."""
    more_capped: float = 0.2
    """The same where a cell takes at most ``capped`` answers: an item needs several questions."""
    capped: int = 20
    looked_at: int = 40
    """Questions looked at for a node: the furthest apart."""
    doubt: float = 2.0
    """Standard errors taken off a separation."""
    doubt_anchors: float = 1.6
    """The same where anchors say what the groups are."""
    stable: float = 0.75
    """Agreement (adjusted Rand) of models fitted on two halves of the items."""
    stable_questions: float = 0.5
    """The same for two halves of the questions, where only some of them were looked at."""
    items_to_count: int = 150
    """Screened before the number of groups is chosen, where several are allowed."""
    parts: int = 4
    """Of the items, each predicted from the others, to choose the number of groups."""
    promising: float = 1.0
    """Spreads by which anchors must lie apart on a question that others are asked too."""
    most_groups: int = 6
    """That ``groups="auto"`` looks for."""

    # CERTIFY
    prior_rounds: float = 3.0
    """Rounds that the rule's levels are worth beside an item's own."""
    patience: int = 3
    """Rounds before an item may be given up as too near a cut."""
    patient_answers: int = 20
    """The same in answers: a round of one question says little."""
    most_at_once: int = 40
    """Rounds of an item that are begun in one Batch at most, times two."""
    generous: float = 1.8
    """An item's limit: times what an item half-way between cut and level needs on average."""
