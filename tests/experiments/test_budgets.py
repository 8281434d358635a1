from askfew.experiments.trials import first_sufficient_budget
from askfew.simulation import Instance, local

STRONG = Instance(items=10, questions=5, useful=2, gap=8.0)
HOPELESS = Instance(items=10, questions=5, useful=1, gap=0.01)


def test_the_first_budget_that_suffices_is_taken() -> None:
    runs = first_sufficient_budget(STRONG, "spectral", [50, 100, 200], 0.05, 5, 0, local(1))
    assert [run.answers for run in runs] == [50] * 5
    assert all(run.correct for run in runs)


def test_where_none_suffices_the_last_is_shown_with_its_errors() -> None:
    runs = first_sufficient_budget(HOPELESS, "spectral", [50, 100], 0.05, 5, 0, local(1))
    assert [run.answers for run in runs] == [100] * 5
    assert not all(run.correct for run in runs)
