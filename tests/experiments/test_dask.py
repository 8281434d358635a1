"""The same work on a real cluster of two processes, one of which is killed on the way."""

import faulthandler
import os
import shutil
import signal
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from askfew.algorithms import find_method
from askfew.errors import InvalidInput
from askfew.simulation import Instance, dask, engines, local, repeat, try_method

distributed = pytest.importorskip("distributed")

INSTANCE = Instance(items=20, questions=300, useful=20, gap=2.0)
EXAMPLES = Path(__file__).parents[2] / "examples"
TRIAL = partial(try_method, method="paper", delta=0.1)


@pytest.fixture
def cluster() -> Iterator[object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cluster's own, about ports and forks
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as made:
            yield made


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_a_worker_gives_the_same_runs(cluster: object) -> None:
    expected = repeat(INSTANCE, TRIAL, runs=60, seed=3, engine=local(1))
    pids = [nanny.pid for nanny in cluster.workers.values()]  # type: ignore[attr-defined]
    engine = dask(cluster.scheduler_address)  # type: ignore[attr-defined]

    def kill_one_on_the_way(runs: Iterator[object]) -> Iterator[object]:
        for index, run in enumerate(runs):
            if index == 3:
                os.kill(pids[0], signal.SIGKILL)
            yield run

    found = repeat(INSTANCE, TRIAL, runs=60, seed=3, engine=engine, watch=kill_one_on_the_way)  # type: ignore[arg-type]
    assert found == expected


@pytest.mark.filterwarnings("ignore")
def test_a_function_that_the_cluster_has_never_seen_goes_along(
    cluster: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example's method, from a folder that only this process looks into."""
    shutil.copy(EXAMPLES / "own_method.py", tmp_path / "only_here.py")
    monkeypatch.syspath_prepend(tmp_path)
    trial = partial(try_method, method=find_method("only_here:sweep"), delta=0.1, budget=6000)
    engine = dask(cluster.scheduler_address)  # type: ignore[attr-defined]
    expected = repeat(INSTANCE, trial, runs=3, seed=1, engine=local(1))
    faulthandler.dump_traceback_later(180, exit=True)  # a cluster that never answers ends here
    try:
        assert repeat(INSTANCE, trial, runs=3, seed=1, engine=engine) == expected
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_DASK_SECONDS", 1.0)
    with pytest.raises(InvalidInput, match="address of a running Dask scheduler"):
        repeat(INSTANCE, TRIAL, runs=1, engine=dask("tcp://127.0.0.1:1"))
