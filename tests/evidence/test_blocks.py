import numpy as np
import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.evidence import best_bet, bounded_block, log_evidence, number_block


def test_yes_no_is_the_bounded_block() -> None:
    assert log_evidence(YesNo(), 0.8, 0.3, 4, 5, 1, 3) == bounded_block(0.8, 0.3, 4, 5, 1, 3)


def test_a_scale_is_rescaled_to_zero_and_one() -> None:
    """Answers y on [1, 5] are (y - 1) / 4 on [0, 1]."""
    on_scale = log_evidence(Scale(1, 5), 4.2, 2.2, x=5 + 4 * 4, a=5, r=3 + 4 * 1, b=3)
    assert on_scale == pytest.approx(float(bounded_block(0.8, 0.3, 4, 5, 1, 3)), rel=1e-12)


def test_numbers_bet_best_for_the_guessed_gap() -> None:
    bet = best_bet(1.5, 4, 2, 2.0)
    expected = number_block(bet, 9.0, 4, 1.0, 2, 2.0)
    assert log_evidence(Number(2.0), 2.0, 0.5, 9.0, 4, 1.0, 2) == expected


@pytest.mark.parametrize("kind", [YesNo(), Scale(-2, 2), Number(1.0)])
def test_missing_sides_are_no_evidence_and_columns_work(kind: AnswerKind) -> None:
    evidence = log_evidence(
        kind, 0.9, 0.1, x=np.array([1.0, 0.0, 1.0]), a=[1, 0, 1], r=[0.0, 1.0, 0.0], b=[1, 1, 0]
    )
    assert evidence[0] != 0
    assert evidence[1:].tolist() == [0.0, 0.0]
