import numpy as np
import pytest

from askfew import oracles
from askfew.algorithms.rule.claim.certificate import RuleCertificate
from askfew.errors import InvalidInput
from askfew.records import Finding, Floats, Ints
from askfew.rule import Node, Rule
from askfew.simulation import World, judge

MEANS = np.array([[0.9, 0.5], [0.8, 0.5], [0.5, 0.5], [0.2, 0.9], [0.1, 0.1]])
PLANTED = np.array([0, 0, 0, 1, 1])
CUT = Rule.cut(0, 0.5)


def world(means: Floats = MEANS, planted: Ints = PLANTED) -> World:
    return World(oracles.bernoulli(means), planted, lambda questions: means[:, questions])


def finding(*labels: int, rule: Rule | None = None, told: Ints | None = None) -> Finding:
    return Finding(np.array(labels), rule=rule, told=told)


@pytest.mark.parametrize(
    ("labels", "wrong", "labelled"),
    [
        ((0, 0, 0, 1, 1), 0, 5),
        ((1, 1, 1, 0, 0), 0, 5),  # groups have no names of their own
        ((0, 0, 1, 1, 1), 1, 5),
        ((0, -1, -1, -1, 1), 0, 2),
        ((-1, -1, 0, 0, 0), 1, 3),
        ((0, 0, 0, 0, 0), 2, 5),
        ((0, 0, 1, 2, 2), 1, 5),  # a group too many
        ((-1,) * 5, 0, 0),
    ],
)
def test_without_a_rule_labels_are_compared_with_the_planted_groups(
    labels: tuple[int, ...], wrong: int, labelled: int
) -> None:
    verdict = judge(finding(*labels), world())
    assert (verdict.wrong, verdict.labelled, verdict.items) == (wrong, labelled, 5)
    assert verdict.decided == labelled / 5


@pytest.mark.parametrize(
    ("labels", "wrong"),
    [
        ((1, 1, 1, 0, 0), 0),  # the third lies on the cut: right either way
        ((1, 1, 0, 0, 0), 0),
        ((0, 0, 0, 1, 1), 4),  # a rule's groups have names
        ((-1, 1, -1, 1, -1), 1),
    ],
)
def test_with_a_rule_the_side_of_the_cut_decides(labels: tuple[int, ...], wrong: int) -> None:
    assert judge(finding(*labels, rule=CUT), world()).wrong == wrong


def test_a_split_other_than_the_planted_one_is_no_error_of_a_rule() -> None:
    """The rule cuts at .85: one item of the planted group lies above."""
    verdict = judge(finding(1, 0, 0, 0, 0, rule=Rule.cut(0, 0.85)), world())
    assert verdict.wrong == 0
    assert verdict.class_accuracy == pytest.approx(3 / 5)


def test_every_division_of_a_tree_counts() -> None:
    below = Node((1,), (1.0,), (0.6,), (1,), (2,))
    tree = Rule((0, 1), Node((0,), (1.0,), (0.5,), (0,), below), ("a", "b", "c"))
    means = np.array([[0.9, 0.9], [0.9, 0.1], [0.1, 0.9]])
    judged = [
        judge(finding(*labels, rule=tree), world(means, np.array([0, 1, 2]))).wrong
        for labels in ((2, 1, 0), (1, 1, 0), (2, 2, 2), (0, 1, 0))
    ]
    assert judged == [0, 1, 2, 1]


def test_a_smaller_margin_claims_less() -> None:
    """At .25 an item is high if it is unlike the low level: from half-way to there on."""
    node = Node((0,), (1.0,), (0.5,), (0,), (1,), levels=(-0.4, 0.4))
    rule = Rule((0,), node)
    certificate = RuleCertificate(
        0.05,
        "",
        (),
        error="any",
        certified=3,
        undecided=0,
        told=0,
        margin=0.25,
        nodes=1,
        needed=None,
        rule=rule,
    )
    means = np.array([[0.31], [0.3], [0.29]])
    given = Finding(np.array([1, 1, 1]), rule=rule, certificate=certificate)
    assert judge(given, world(means, np.array([0, 0, 1]))).wrong == 1
    assert judge(finding(1, 1, 1, rule=rule), world(means, np.array([0, 0, 1]))).wrong == 3


def test_anchors_are_no_labels_of_its_own() -> None:
    told = np.array([0, -1, -1, -1, 1])
    verdict = judge(finding(0, 1, -1, 0, 1, rule=CUT, told=told), world())
    assert (verdict.items, verdict.labelled, verdict.wrong) == (3, 2, 0)


def test_a_stopped_run_has_no_labels() -> None:
    verdict = judge(None, world())
    assert (verdict.labelled, verdict.wrong, verdict.wrong_share) == (0, 0, 0)
    assert verdict.class_accuracy is None


def test_a_rule_cannot_be_judged_without_means() -> None:
    with pytest.raises(InvalidInput, match="a world must know its means"):
        judge(finding(1, 1, 1, 0, 0, rule=CUT), World(oracles.bernoulli(MEANS), PLANTED))
