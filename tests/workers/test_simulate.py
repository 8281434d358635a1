"""Simulated crowds answer as they were told to."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.campaigns.campaign import Assignment, Shown
from askfew.errors import InvalidInput
from askfew.workers.desk import Answer
from askfew.workers.simulate import (
    SimulatedAnswerer,
    check_reliabilities,
    digit_by_question,
    groups_from_file,
    random_groups,
    read_reliabilities,
)


def answers(
    crowd: SimulatedAnswerer, item: str, question: str = "q", count: int = 2000
) -> list[float]:
    plate = [
        Assignment(f"1-0-{slot}-{slot % 7}", Shown(item, ""), Shown(question, ""), 0.0, 0.0)
        for slot in range(count)
    ]
    replies = asyncio.run(_replies(crowd, plate))
    return [reply.value for reply in replies]


async def _replies(crowd: SimulatedAnswerer, plate: list[Assignment]) -> list[Answer]:
    return [reply for reply in await crowd(plate) if isinstance(reply, Answer)]


def is_b(item: str) -> int:
    return int(item == "b")


@pytest.mark.parametrize(
    ("kind", "above"), [(YesNo(), 0.5), (Scale(1, 5), 3.0), (Number(2.0), 0.0)]
)
def test_answers_are_valid_and_right_as_often_as_wanted(kind: AnswerKind, above: float) -> None:
    crowd = SimulatedAnswerer(kind, is_b, 0.8, {"coin": 0.5})
    high, low = np.array(answers(crowd, "b")), np.array(answers(crowd, "a"))
    for value in [*high[:50], *low[:50]]:
        assert kind.read(value) == value
    if isinstance(kind, Scale):
        assert high.mean() == pytest.approx(1 + 4 * 0.8, abs=0.1)
        assert low.mean() == pytest.approx(1 + 4 * 0.2, abs=0.1)
    else:
        assert (high > above).mean() == pytest.approx(0.8, abs=0.04)
        assert (low > above).mean() == pytest.approx(0.2, abs=0.04)
    useless = np.array(answers(crowd, "b", "coin")) - np.array(answers(crowd, "a", "coin"))
    assert abs(useless.mean()) < 0.2


def test_the_seed_the_cell_and_the_slot_decide() -> None:
    crowd = SimulatedAnswerer(YesNo(), is_b, 0.7, seed=3)
    assert answers(crowd, "b") == answers(crowd, "b")
    assert answers(crowd, "b") != answers(SimulatedAnswerer(YesNo(), is_b, 0.7, seed=4), "b")
    one = Assignment("1-0-5-aaaa", Shown("b", ""), Shown("q", ""), 0.0, 0.0)
    other = Assignment("1-0-5-bbbb", Shown("b", ""), Shown("q", ""), 0.0, 0.0)
    assert asyncio.run(crowd([one])) == asyncio.run(crowd([other]))


def test_groups_by_chance_have_their_share() -> None:
    group = random_groups(1, 0.3)
    share = np.mean([group(f"item {number}") for number in range(3000)])
    assert share == pytest.approx(0.3, abs=0.04)


def test_more_groups_by_chance_are_of_one_size() -> None:
    group = random_groups(1, groups=5)
    sizes = np.bincount([group(f"item {number}") for number in range(5000)])
    assert sizes == pytest.approx(np.full(5, 1000), abs=120)


def test_any_two_groups_differ_on_a_question() -> None:
    digits = digit_by_question([f"q{n}" for n in range(3)], groups=5)
    crowd = SimulatedAnswerer(YesNo(), int, 0.99, digits=digits)
    seen = {
        tuple(round(float(np.mean(answers(crowd, str(group), each, 200)))) for each in digits)
        for group in range(5)
    }
    assert len(seen) == 5


def test_groups_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "truth.csv"
    file.write_text("id,group,note\na,land,x\nb,water,y\n")
    group, many = groups_from_file(file)
    assert many == 2
    assert (group("a"), group("b")) == (0, 1)
    with pytest.raises(InvalidInput, match="every item must have a group, got 'c'"):
        group("c")
    file.write_bytes("\ufeffid;group\r\na;land\r\nb;water\r\n".encode())  # a spreadsheet's
    group, many = groups_from_file(file)
    assert (group("a"), group("b"), many) == (0, 1, 2)
    file.write_text("id,side\na,1\n")
    with pytest.raises(InvalidInput, match="there must be columns id and group"):
        groups_from_file(file)
    file.write_text("id,group\na,1\n")
    with pytest.raises(InvalidInput, match="there must be two groups, got 1"):
        groups_from_file(file)


@pytest.mark.parametrize("written", ["1", "0", "x", "q=2", "q=", "nan"])
def test_reliabilities_lie_between_nothing_and_certainty(written: str) -> None:
    with pytest.raises(InvalidInput, match="a reliability must lie strictly between 0 and 1"):
        read_reliabilities([written])


def test_a_reliability_for_no_question_is_refused() -> None:
    check_reliabilities({"song": 0.9}, ["song", "size"])
    with pytest.raises(InvalidInput, match="one of the questions song, size, got 'sogn': check"):
        check_reliabilities({"song": 0.9, "sogn": 0.9}, ["song", "size"])
    many = [f"q{number}" for number in range(30)]
    with pytest.raises(InvalidInput, match="q18, q19 and 10 more, got 'x'"):
        check_reliabilities({"x": 0.9}, many)
