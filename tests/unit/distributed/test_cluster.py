"""Clusters: the same models as on one machine, the same bits on any number of workers, and workers that are lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import ClusterError, IncompatibleError, ParameterError, PodiumWarning
from podium.data import Fold
from podium.distributed import cluster_boosting as boosting
from podium.distributed import parts, tree_worker
from podium.distributed.dask_cluster import Cluster
from podium.formats.cache.cache_writer import write_cache

pytest.importorskip("distributed", reason="needs podium[distributed]")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Dask's own, of sockets and event loops

LISTNET = "recipe(loss=listnet,scorer=linear,solver=lbfgs(penalty=0.1))"


@pytest.fixture(scope="module")
def data():
    return podium.make_letor_like(60, seed=1)[0]


@pytest.fixture(scope="module")
def cluster():
    with Cluster("local:2") as made:
        yield made


@pytest.mark.parametrize(
    "method",
    [
        LISTNET,
        "ranknet(solver=newton)",
        "recipe(loss=listnet,scorer=mlp(precision=float64),solver=adam(epochs=2,batch=20))",
        "recipe(loss=pairties-d,scorer=linear,solver=lbfgs(iterations=5))",
        "recipe(loss=regression,scorer=linear,solver=sgd(epochs=1,batch=30,learning_rate=0.01),transform=minmax)",
    ],
)
def test_sums_over_parts_give_the_model_of_one_machine(cluster, data, method):
    one, many = podium.train(data, method), cluster.train(data, method)
    np.testing.assert_allclose(many.params["theta"], one.params["theta"], rtol=0, atol=1e-8)
    assert many.info["data"] == one.info["data"]
    assert many.info["iterations"] == one.info["iterations"]


def test_the_number_of_workers_changes_no_bit_and_a_lost_worker_neither(cluster, data):
    long = LISTNET.replace("0.1", "0.0001,tolerance=1e-12")
    with Cluster("local:1") as alone:
        expected = alone.train(data, long).params["theta"]
    np.testing.assert_array_equal(cluster.train(data, long).params["theta"], expected)
    victim = min(cluster._client.run(os.getpid).values())
    stroke = threading.Timer(0.7, os.kill, (victim, signal.SIGKILL))
    stroke.start()
    np.testing.assert_array_equal(cluster.train(data, long).params["theta"], expected)
    stroke.join()
    cluster._client.wait_for_workers(2, timeout=60)


def test_scores_of_parts_are_those_of_one_machine(cluster, data, tmp_path):
    model = podium.train(data, LISTNET)
    stored = write_cache(data, tmp_path / "x.pod")
    np.testing.assert_array_equal(cluster.score(model, stored), model.score(data))
    by_url = podium.read_data(f"file://{tmp_path}/x.pod")
    np.testing.assert_array_equal(cluster.score(model, by_url), model.score(data))
    shuffled = podium.Dataset.from_arrays(data.features[::-1], data.labels[::-1], qid=data.query_index[::-1])
    np.testing.assert_array_equal(cluster.score(model, shuffled), model.score(data)[::-1])


@pytest.fixture(scope="module")
def parquet(data, tmp_path_factory):
    """A folder of Parquet files that end within queries."""
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("parts")
    frame = podium.to_frame(data, backend="pyarrow")
    for k, a in enumerate(range(0, len(frame), 500)):
        pyarrow.parquet.write_table(frame.slice(a, 500), folder / f"part-{k}.parquet", row_group_size=90)
    return str(folder)


def test_workers_read_parquet_that_they_see(cluster, data, parquet, monkeypatch):
    monkeypatch.setattr(cluster, "local", False)
    given = podium.read_data(f"file://{parquet}")
    many = cluster.train(given, LISTNET)
    np.testing.assert_array_equal(cluster.score(many, given), many.score(data))
    np.testing.assert_allclose(many.params["theta"], podium.train(data, LISTNET).params["theta"], rtol=0, atol=1e-8)
    assert boosting.cache_path(podium.read_data(parquet), cluster) == parquet
    other = replace(given, features=given.features + 1)
    with pytest.raises(ParameterError, match="cannot see data"):
        cluster.train(other, LISTNET)


def test_experiments_are_tasks_of_the_workers_with_the_same_outcomes(cluster, data, tmp_path):
    one = podium.compare(data, ["random", "single-feature"], ["ndcg@10", "map"])
    many = cluster.compare(data, ["random", "single-feature"], ["ndcg@10", "map"], output=tmp_path / "kept")
    for a, b in zip(one.outcomes, many.outcomes, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
    seen = []
    cluster.compare(data, ["random", "single-feature"], ["ndcg@10", "map"], output=tmp_path / "kept",
                    observer=lambda event: seen.append(event.state))  # fmt: skip
    assert seen == ["kept", "kept"]


def test_trees_limited_by_curvature_are_those_of_one_machine_to_the_bit(cluster, data):
    limits = "num_leaves=4,max_bin=15,min_data_in_leaf=0,min_sum_hessian_in_leaf=60"
    method = f"recipe(loss=ranknet,scorer=trees({limits}),solver=boosting(rounds=4),transform=identity)"
    train, valid, _ = podium.split(data)
    one, many = podium.train(train, method, valid=valid), cluster.train(train, method, valid=valid)
    assert _splits_and_leaves(many) == _splits_and_leaves(one)
    np.testing.assert_array_equal(many.score(data), one.score(data))
    assert many.info["stopped"] == one.info["stopped"]


def _splits_and_leaves(model):
    """The text of the trees without the documents of nodes, which a cluster estimates, and what follows from them."""
    lines = model.params["trees"].tobytes().decode().splitlines()
    kept = [line for line in lines if not line.startswith(("leaf_count", "internal_count", "tree_sizes"))]
    assert any(line.startswith("leaf_value") for line in kept)
    return kept


def test_leaves_too_small_for_a_network_to_count_are_told_in_words(cluster, data):
    trees = "scorer=trees(num_leaves=4,min_data_in_leaf=0),solver=boosting(rounds=1)"
    with pytest.warns(PodiumWarning, match="less than the curvature of 128 documents"):
        cluster.train(data, f"recipe(loss=ranknet,{trees},transform=identity)")

    class Refusing:
        def update(self, fobj):
            raise RuntimeError("Check failed: (best_split_info.left_count) > (0)")

    share = object.__new__(tree_worker.Share)
    share.booster, share.max_bin, share.usual = Refusing(), 255, 640.0
    with pytest.raises(IncompatibleError, match="Set min_sum_hessian_in_leaf higher: 128 documents have 640"):
        share.grow(1)


def test_a_share_of_all_queries_grows_the_trees_of_one_machine(data, parquet, tmp_path):
    write_cache(data, tmp_path / "x.pod")
    model = podium.train(data, "lambdamart(rounds=3)")
    recipe = model.learner
    settings = {**recipe.solver.settings(recipe.scorer, np.random.default_rng(0)), "num_threads": 1}
    for place in (str(tmp_path / "x.pod"), parquet):
        share = tree_worker.Share({
            "train": place, "queries": [0, data.n_queries], "valid": None, "loss": repr(recipe.loss), "seed": 0,
            "bagging_fraction": recipe.solver.bagging_fraction, "settings": settings, "of_features": {}, "network": {},
        })  # fmt: skip
        share.grow(3)
        assert share.text(3).encode() == model.params["trees"].tobytes()


def test_what_a_cluster_cannot_train_is_refused_with_what_to_do(cluster, data):
    for method in ("rankboost", "structrank", "hinge"):
        with pytest.raises(IncompatibleError, match=r"a cluster trains|keeps documents"):
            cluster.train(data, method)
    with pytest.raises(IncompatibleError, match="features as they are"):
        cluster.train(data, "lambdamart(transform=zscore)")


def test_errors_of_workers_and_addresses_are_told_in_words(cluster, data, tmp_path):
    unseen = write_cache(data, tmp_path / "x.pod")
    (tmp_path / "x.pod").rename(tmp_path / "y.pod")
    with pytest.raises(podium.base.errors.DataError, match=r"features.f4: cannot be read on .*No such file"):
        cluster.train(unseen, LISTNET)
    bad = np.array(data.features)
    bad[7, 2] = np.inf
    with pytest.raises(podium.base.errors.DataError, match="infinite value"):
        cluster.train(podium.Dataset.from_arrays(bad, data.labels, qid=data.query_index), LISTNET)
    with pytest.raises(ParameterError, match="local:N starts N processes"):
        Cluster("local:0")
    with pytest.raises(ParameterError, match="an address"):
        Cluster("localhost")


def test_a_query_is_never_cut(data):
    bounds = parts.cuts(data)
    assert bounds[0] == 0
    assert bounds[-1] == data.n_queries
    pieces = parts.pieces(data, bounds)
    assert [name for piece in pieces for name in piece.query_ids] == list(data.query_ids)
    one = podium.Dataset.from_arrays(np.ones((50, 2)), group=[50])
    assert parts.cuts(one).tolist() == [0, 1]


SCHEDULER = """
import asyncio
from distributed import Scheduler, Worker

async def main():
    async with Scheduler(port=0, dashboard_address=None) as scheduler:
        async with Worker(scheduler.address, nthreads=1, dashboard=False):
            print(scheduler.address, flush=True)
            await scheduler.finished()

asyncio.run(main())
"""


LEAVING = """
import asyncio
from distributed import Scheduler, Worker

async def main():
    async with Scheduler(port=0, dashboard_address=None) as scheduler:
        worker = await Worker(scheduler.address, nthreads=1, dashboard=False)
        print(scheduler.address, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, input)
        await worker.close(timeout=1, executor_wait=False)
        await scheduler.finished()

asyncio.run(main())
"""


@pytest.mark.parametrize("lost", ["workers", "scheduler"])
def test_a_comparison_whose_cluster_is_lost_ends_with_one_line(lost, data, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("podium.distributed.dask_cluster.NO_WORKER", 4.0)
    monkeypatch.setattr("podium.distributed.dask_cluster._LOOK", 1.0)
    fold = Fold(*(write_cache(part, tmp_path / f"{k}.pod") for k, part in enumerate(podium.split(data))), name="one")
    method = "recipe(loss=listnet,scorer=mlp,solver=adam(epochs=50000,batch=5,patience=50000))"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", LEAVING], text=True, **pipes) as scheduler:
        try:
            with Cluster(scheduler.stdout.readline().strip()) as cluster:
                lose = scheduler.kill if lost == "scheduler" else lambda: print(file=scheduler.stdin, flush=True)
                threading.Timer(3.0, lose).start()
                with pytest.raises(ClusterError, match="went away" if lost == "scheduler" else "no worker"):
                    cluster.compare([fold], [method], ["map"])
        finally:
            scheduler.kill()
    assert capfd.readouterr().err == ""


def test_a_scheduler_that_goes_away_is_a_clear_line_within_a_minute(data, tmp_path):
    stored = write_cache(data, tmp_path / "x.pod")
    with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True) as scheduler:
        try:
            address = scheduler.stdout.readline().strip()
            with Cluster(address) as cluster:
                threading.Timer(3.0, scheduler.kill).start()
                start = time.monotonic()
                with pytest.raises(ClusterError, match="went away"):
                    cluster.train(stored, "recipe(loss=listnet,scorer=mlp,solver=adam(epochs=5000,batch=5))")
                assert time.monotonic() - start < 60
        finally:
            scheduler.kill()
