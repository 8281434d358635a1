"""The fixed settings of the experiments are those of the paper."""

from askfew.experiments import exp1, exp2, exp3, exp4


def test_the_experiments_are_the_paper_s() -> None:
    first = exp1.Config()
    assert first.sparsities[:5] == [1, 53, 106, 158, 211]
    assert first.sparsities[-1] == 1000
    assert (first.kmeans_budgets[0], first.kmeans_budgets[-1]) == (170_000, 300_000)
    assert len(exp1.study().places) == 20 * 8
    assert exp2.Config().instance(500).questions == 5000
    assert exp3.Config().instance(8).second_group == 8
    assert [exp4.Config().instance(u).questions for u in exp4.Config().useful] == [2, 4, 8, 16, 32]
