"""Constants of the guesses, in one place. They change what is asked, never what is promised.

They were chosen together on seeds 1000 to 7079 of the worlds and real tables of benchmarks/rule.py;
benchmarks/rule.md shows what they give on other seeds. Round numbers that were not tuned say so.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Tuning"]


@dataclass(frozen=True)
class Tuning:
    """The constants that the guesses of the method "rule" use."""

    # LEARN
    first_items: int = 30
    """Items that are screened before anything is fitted."""
    first_answers: int = 2000
    """Answers of the first screen, or 8 per item if that is more. If they are not enough for all
    questions, random ones are screened."""
    most_screens: int = 3
    """The pilot gives up after this many times the first answers. benchmarks/rule.md shows as
    "answers to find out" what that costs where there is no split."""
    sharp_items: int = 50
    """At least this many items have answered the important questions before a rule is frozen."""
    most_repeats: int = 6
    """The most answers of a cell while learning. Repeats are discounted, so more say little."""
    most_stages: int = 20
    """The most screens with anchors. A round number: it only ends runs that do not get on."""
    few_missing: float = 0.05
    """With a smaller share of missing cells, new items are asked. A round number."""
    anchor_answers: int = 15
    """Answers that the anchors of a group give to a question that stays promising. They are asked
    in rounds, each about fewer questions."""
    anchor_times: int = 32
    """The most answers of an anchor to a defining question, to see which way round it is. On
    recorded answers to one question, three anchors of each group point the right way in 79 % of
    draws with 3 answers each, 93 % with 10, 97 % with 20 and 98 % with 39 (bluebirds,
    4000 draws)."""
    clear: float = 2.0
    """Anchors are not asked again once their groups lie this many standard errors apart. A plain
    choice: chance answers point the wrong way beyond two standard errors about once in forty."""
    unlabelled: int = 40
    """Items beside the anchors that confirm the questions and sharpen the levels."""
    unlabelled_many: int = 30
    """The same with more than two groups."""
    wave: int = 10
    """How many of them are asked at once, each time about fewer questions."""
    hope: float = 0.7
    """Standard errors that are added to a question's separation, and subtracted from the best
    ones', before the question is dropped."""
    committee: int = 7
    """The most questions of a node."""
    large_committee: int = 20
    """The same if a cell takes at most ``few_per_cell`` answers: an item then has few rounds, so
    each must ask more."""
    few_per_cell: int = 3
    """Answers per cell up to which committees are that large."""
    committee_many: int = 12
    """The same with anchors of more than two groups. With all of ten digits' means known, the tree
    agrees with .77 of the classes if committees take 7 questions and one more is worth .05, .83
    with 12 and .2, .84 with 20 and .2; larger values make labels cost more."""
    need: int = 3
    """Questions that must tell a node's sides apart, each on its own. Fewer are no consensus: this
    is what "several questions" means in docs/rule.md, and not a matter of tuning."""
    strength: float = 0.3
    """The least half margin of a node, in spreads of one answer."""
    alone: float = 0.5
    """The spreads by which a question must separate to count among those needed."""
    more: float = 0.05
    """What one more question at the same margin is worth, relative to the first."""
    more_capped: float = 0.2
    """The same if a cell takes at most ``capped`` answers: an item then needs several questions."""
    capped: int = 20
    """Answers per cell up to which another question is worth that much."""
    more_many: float = 0.2
    """The same with anchors of more than two groups; see ``committee_many``."""
    looked_at: int = 40
    """The most questions that are considered for a node: those furthest apart. For speed; with 40
    questions or fewer it changes nothing."""
    doubt: float = 2.0
    """Standard errors that are subtracted from a separation."""
    doubt_anchors: float = 1.6
    """The same if anchors say what the groups are."""
    stable: float = 0.75
    """The least adjusted Rand index of models fitted on two halves of the items. The prototype's
    value; with it no world without a split was accepted (benchmarks/rule.md)."""
    stable_questions: float = 0.5
    """The same for two halves of the questions, if only some of them were screened."""
    items_to_count: int = 150
    """Items that are screened before the number of groups is chosen, if several are allowed."""
    parts: int = 4
    """Parts of the items for cross-validating the number of groups."""
    promising: float = 1.0
    """Spreads by which anchors must lie apart on a question before others are asked it, too."""
    most_groups: int = 6
    """The most groups that ``groups="auto"`` looks for."""

    # CERTIFY
    prior_rounds: float = 3.0
    """How many of an item's own rounds the rule's levels are worth when a bet is chosen."""
    stretch: float = 1.3
    """How much larger a bet may be made so that one round fewer can be enough. With it labelling
    took 12.5 answers per item, without 14.3 (seeds 1000 to 1059, three questions, .85/.15, share);
    1.2 and 1.4 gave the same within 1 %."""
    lucky_rounds: int = 3
    """A bet is stretched only where at most this many perfect rounds would be enough: longer runs
    of perfect rounds are rare."""
    spare: float = 0.03
    """Nats beyond the target that a stretched bet aims at, because an item that is given up later
    raises the target of the others."""
    patience: int = 3
    """Rounds before an item may be given up as too near a cut."""
    patient_answers: int = 20
    """The same in answers, because a round of one question says little."""
    most_at_once: int = 40
    """Twice the most rounds of an item in one Batch. For few Batches; a round number."""
    turns: int = 3
    """A Batch with fewer questions than this per person at work is enlarged, so that nobody waits
    (benchmarks/waiting.md). The answering pages count on as many."""
    generous: float = 1.8
    """An item's limit, as a multiple of what an item half-way between cut and level needs on
    average."""
    at_node: float = 2.5
    """An item's limit at one node of several, as a multiple of the same at that node. On ten digits
    with 10 anchors it labelled .48 of the items with 80,000 answers, before .11 with 82,000; with 3
    anchors .11 with 83,000, before .06 with 89,000 (5 or 6 seeds from 1000)."""
    few_slow: float = 0.05
    """The share of the items that may go beyond that limit. It spares worlds whose items fit the
    rule: three and five planted groups lose .001 of their labels at most (12 seeds from 1000)."""
