"""Guesses are kept where they are certified, and otherwise as probable as they say."""

import numpy as np
import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.clustering import certify, cluster
from askfew.estimates import guesses as module
from askfew.estimates.cells import CellSums
from askfew.estimates.guesses import guess_groups
from askfew.oracles import bernoulli
from askfew.outcome import Outcome
from askfew.records import Batch, Floats, Ints, Problem, Tally
from askfew.rule import Node, Rule
from askfew.sessions import session


def right(outcome: Outcome, truth: Ints) -> Floats:
    """Which guesses are, whatever the groups are called."""
    same = outcome.guesses == truth
    return np.asarray(same if same.mean() >= 0.5 else ~same, dtype=np.float64)


def off(confidence: list[Floats], correct: list[Floats], parts: int = 10) -> Floats:
    """By tenths of all guesses, least confident first: stated minus true share."""
    stated, true = np.concatenate(confidence), np.concatenate(correct)
    order = np.array_split(np.argsort(stated, kind="stable"), parts)
    return np.array([stated[part].mean() - true[part].mean() for part in order])


def asked(sums: Floats, times: int) -> CellSums:
    """Yeses of items (rows) to questions, each asked so often."""
    item, question = np.indices(sums.shape).reshape(2, -1)
    return CellSums(item, question, np.full(sums.size, times), sums.ravel(), sums.ravel())


def test_certified_labels_are_kept() -> None:
    guesses = guess_groups(
        Problem(4, 1),
        asked(np.array([[9.0], [0.0], [9.0], [9.0]]), 9),
        np.array([0, 1, 1, -1]),
        2,
        sure=0.95,
    )
    assert guesses.groups.tolist()[:3] == [0, 1, 1]
    assert guesses.groups[3] == 0
    assert (guesses.confidence[:3] >= 0.95).all()


@pytest.mark.parametrize("weight", [1.0, -1.0])
@pytest.mark.parametrize("kind", [YesNo(), Scale(1, 5), Number(1.0)], ids=str)
def test_with_one_question_and_one_cut_a_guess_is_the_side_of_the_cut(
    kind: AnswerKind, weight: float
) -> None:
    """Most items that were certified are low. That must not draw the others to their side."""
    problem, times = Problem(42, 1, kind), 20
    low, cut, high = {"Number": (-1.0, 0.0, 0.3)}.get(type(kind).__name__, (0.2, 0.5, 0.6))
    if isinstance(kind, Scale):
        low, cut, high = (1 + 4 * level for level in (low, cut, high))
    means = np.full((42, 1), low)
    means[:2] = high
    labels = np.full(42, 0 if weight > 0 else 1)
    labels[[0, 1, 2]] = -1
    root = Node((0,), (weight,), (cut,), low=(0,), high=(1,))
    rule = Rule((0,), root, ("a", "b"))
    guesses = guess_groups(problem, asked(times * means, times), labels, 2, sure=0.95, rule=rule)
    other = int(weight > 0)
    assert guesses.groups[:3].tolist() == [other, other, 1 - other]
    assert 0.7 < guesses.confidence[0] == guesses.confidence[1] < guesses.confidence[2]
    assert (guesses.confidence[3:] >= 0.95).all()


def test_guesses_about_a_given_cut_are_the_sides_of_the_cut() -> None:
    chances = np.repeat([0.1, 0.58], [57, 3])[:, np.newaxis]
    outcome = certify(
        bernoulli(chances, rng=1), Rule.cut(0, 0.5), per_cell=60, error="share", rng=2
    )
    undecided = outcome.labels < 0
    assert undecided[57:].any()
    assert undecided[:57].sum() < 5
    assert outcome.guesses.tolist() == [0] * 57 + [1] * 3


def test_items_that_were_not_asked_are_guessed_by_the_size_of_the_groups() -> None:
    guesses = guess_groups(
        Problem(4, 1), asked(np.array([[9.0], [0.0]]), 9), np.array([0, 1, -1, -1]), 2, sure=0.95
    )
    assert guesses.confidence[2:] == pytest.approx(0.5, abs=0.1)


def test_without_answers_nothing_is_known() -> None:
    guesses = guess_groups(Problem(5, 2), asked(np.zeros((0, 2)), 1), np.full(5, -1), 4)
    assert guesses.confidence == pytest.approx(0.25)


@pytest.mark.parametrize("certified", [0, 2])
def test_of_many_items_some_are_fitted_and_all_are_sorted(
    certified: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    truth = np.arange(2000) % 2
    sums = rng.binomial(3, np.where(truth, 0.85, 0.15)[:, np.newaxis], (2000, 4)).astype(float)
    labels = np.where(np.arange(2000) < certified, truth, -1)  # rare: a sample must not miss them
    problem, cells = Problem(2000, 4), asked(sums, 3)
    whole = guess_groups(problem, cells, labels, 2, sure=0.95 if certified else 0.0)
    monkeypatch.setattr(module, "_FITTED", 200)
    part = guess_groups(problem, cells, labels, 2, sure=0.95 if certified else 0.0)
    assert (part.groups == whole.groups).mean() > 0.99
    assert np.abs(part.confidence - whole.confidence).mean() < 0.01
    if certified:
        assert (part.groups == truth).mean() > 0.98


def test_pure_noise_is_not_believed() -> None:
    """Classes can always be fitted, and then seem to explain what they were fitted to."""
    rng = np.random.default_rng(1)
    sums = rng.integers(2, size=(60, 20)).astype(float)
    guesses = guess_groups(Problem(60, 20), asked(sums, 1), np.full(60, -1), 2)
    assert guesses.confidence.mean() < 0.62


def test_a_split_that_other_items_would_not_show_is_not_believed() -> None:
    """Every question is a split of its own: any of them can be fitted, and none is meant."""
    rng = np.random.default_rng(2)
    sides = rng.integers(2, size=(100, 20))
    alone = rng.binomial(3, np.where(sides, 0.9, 0.1)).astype(float)
    together = rng.binomial(3, np.where(sides[:, :1].repeat(20, axis=1), 0.9, 0.1)).astype(float)
    nobody = np.full(100, -1)
    sure = [
        guess_groups(Problem(100, 20), asked(each, 3), nobody, 2).confidence.mean()
        for each in (alone, together)
    ]
    assert sure[0] < 0.8
    assert sure[1] > 0.99


@pytest.mark.parametrize(("wrong", "useful"), [(0.1, 12), (0.2, 5)])
def test_a_judge_that_gives_the_same_answer_again_is_believed_as_far_as_it_is_right(
    wrong: float, useful: int
) -> None:
    """200 items, 30 questions. Labels are what the rule says; they may well be wrong."""
    confidence, correct = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=200)
        said = rng.integers(2, size=(200, 30))
        said[:, :useful] = truth[:, np.newaxis] ^ (rng.random((200, useful)) < wrong)

        def judge(batch: Batch, said: Ints = said) -> Tally:
            yes = said[batch.items, batch.questions] * batch.repeats
            return Tally(batch.repeats, yes.astype(np.float64))

        outcome = cluster(judge, 200, 30, method="rule", repeats="same", rng=rng)
        confidence.append(outcome.confidence)
        correct.append(right(outcome, truth))
    assert np.abs(off(confidence, correct, 5)).max() < 0.06  # .03, and the noise of 320 guesses


@pytest.mark.parametrize(("method", "runs"), [("frugal", 120), ("rule", 16)])
def test_wherever_a_run_is_stopped_guesses_are_as_good_as_they_say(method: str, runs: int) -> None:
    confidence, correct = [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=100)
        means = np.full((100, 20), 0.5)
        means[:, :8] = np.where(truth == 1, 0.85, 0.15)[:, np.newaxis]
        if method == "rule":
            means = np.clip(means + rng.normal(0, 0.1, means.shape), 0, 1)
        most = int(rng.integers(200, 900) if method == "frugal" else rng.integers(900, 2500))
        outcome = cluster(bernoulli(means, rng=rng), method=method, rng=rng, max_answers=most)
        confidence.append(outcome.confidence)
        correct.append(right(outcome, truth))
    assert np.abs(off(confidence, correct, 5)).max() < 0.12  # some are stopped very early
    assert abs(np.concatenate(confidence).mean() - np.concatenate(correct).mean()) < 0.04


@pytest.mark.parametrize("method", ["frugal", "rule"])
def test_a_session_guesses_at_any_time(method: str) -> None:
    rng = np.random.default_rng(2)
    truth = np.arange(30) % 2
    talk = session(30, 6, method=method, rng=5, max_answers=5000)
    assert talk.guesses.confidence == pytest.approx(0.5)
    agreed = []
    while (batch := talk.ask()) is not None:
        means = np.where(batch.questions < 4, np.where(truth[batch.items] == 1, 0.9, 0.1), 0.5)
        talk.tell(batch.repeats, rng.binomial(batch.repeats, means))
        same = float((talk.guesses.groups == truth).mean())
        agreed.append(max(same, 1 - same))
    assert agreed[-1] == 1.0
    assert talk.outcome is not None
    assert talk.guesses.groups.tolist() == talk.outcome.guesses.tolist()


def torn(times: int) -> tuple[Problem, CellSums, Ints, Rule]:
    """Ten low and ten high items, and one that says yes to all of two questions of four.

    The labelled items are much surer of the first question, so fitted classes go by that one; by
    the rule, which weighs all alike, the last item lies on the cut.
    """
    yes = np.full((21, 4), 0.3)
    yes[10:20] = 0.7
    yes[:10, 0], yes[10:20, 0] = 0.0, 1.0
    yes[20] = [1.0, 1.0, 0.0, 0.0]
    labels = np.repeat([0, 1, -1], [10, 10, 1])
    node = Node((0, 1, 2, 3), (1.0,) * 4, (0.5,) * 4, (0,), (1,), (-0.3, 0.3))
    return Problem(21, 4), asked(np.round(times * yes), times), labels, Rule((0, 1, 2, 3), node)


TOLD = np.array([0, 0, *[-1] * 8, 1, 1, *[-1] * 9])


def test_an_item_that_stays_between_the_groups_is_not_as_sure_as_the_classes_are() -> None:
    problem, cells, labels, rule = torn(10)
    by_classes = guess_groups(problem, cells, labels, 2, sure=0.95, rule=rule)
    pooled = guess_groups(problem, cells, labels, 2, sure=0.95, rule=rule, told=TOLD)
    assert by_classes.confidence[20] > 0.95
    assert pooled.confidence[20] < 0.9
    assert pooled.confidence[:20].tolist() == by_classes.confidence[:20].tolist()


def test_an_item_that_was_hardly_asked_is_guessed_by_the_classes() -> None:
    problem, cells, labels, rule = torn(2)
    by_classes = guess_groups(problem, cells, labels, 2, sure=0.95, rule=rule)
    guesses = guess_groups(problem, cells, labels, 2, sure=0.95, rule=rule, told=TOLD)
    assert guesses.confidence.tolist() == by_classes.confidence.tolist()


@pytest.mark.parametrize("kind", [YesNo(), Scale(1, 5), Number(0.5)], ids=str)
def test_anchors_have_a_say_about_items_between_the_groups(kind: AnswerKind) -> None:
    """Only a fifth question, which is not the rule's, tells on which side the last item is."""
    _, cells, labels, rule = torn(10)
    low, width = (kind.low, kind.high - kind.low) if isinstance(kind, Scale) else (0.0, 1.0)
    extra = asked(10 * np.array([[0.1], [0.1], [0.9], [0.9], [0.1]]), 10)
    item = np.concatenate([cells.item, np.array([0, 1, 10, 11, 20])])
    question = np.concatenate([cells.question, np.full(5, 4)])
    count = np.concatenate([cells.count, extra.count])
    total = low * count + width * np.concatenate([cells.sum, extra.sum])
    heard = CellSums(item, question, count, total, total)
    if isinstance(kind, Scale):
        root = rule.root
        cuts = tuple(low + width * cut for cut in root.cuts)
        rule = Rule(rule.questions, Node(root.questions, root.weights, cuts, (0,), (1,)))
    said = [
        guess_groups(Problem(21, 5, kind), heard, labels, 2, sure=0.95, rule=rule, told=each)
        for each in (None, TOLD)
    ]
    chance = [g.confidence[20] if g.groups[20] == 1 else 1 - g.confidence[20] for g in said]
    assert chance[1] < chance[0]


def test_anchors_who_contradict_a_cut_make_its_sides_less_sure() -> None:
    """Half of the anchors lie on the wrong side, so which side an item is on says little."""
    yes = np.array([[9.0], [1.0], [9.0], [1.0], [8.0]])
    told = np.array([0, 0, 1, 1, -1])
    rule = Rule.cut(0, 0.5)
    problem, cells = Problem(5, 1), asked(yes, 10)
    alone = guess_groups(problem, cells, told, 2, sure=0.95, rule=rule)
    pooled = guess_groups(problem, cells, told, 2, sure=0.95, rule=rule, told=told)
    assert (alone.groups[4], pooled.groups[4]) == (1, 1)
    assert alone.confidence[4] > 0.95
    assert pooled.confidence[4] < 0.8
