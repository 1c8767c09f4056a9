"""Features binned in groups of columns: the trees of features binned at once, in memory and on disk."""

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.formats.cache.cache_writer import write_cache
from podium.losses import Regression
from podium.problem import Problem
from podium.scorers import Trees
from podium.scorers.trees import grower, lightgbm_data
from podium.solvers import Boosting, Watch


def mixed(n=3000):
    """Numbers, missing values, constants, and features that are mostly 0, some of which LightGBM puts together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 24)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, :3] = X[:, 10] = 3.0
    X[:, 12:16] = np.round(X[:, 12:16])
    X[:, 16:] = 0
    X[np.arange(n), 16 + rng.integers(0, 8, n)] = rng.random(n)
    labels = np.nan_to_num(X[:, 3:7]).sum(axis=1) + X[:, 20] + rng.normal(size=n)
    return Dataset.from_arrays(X, labels, group=np.full(n // 20, 20))


def trees(data, valid=None, **settings):
    problem = Problem(Regression(), Trees(**settings), data)
    found = Boosting(rounds=8).solve(problem, np.random.default_rng(0), Watch(valid))
    return found.params["trees"].tobytes()


@pytest.mark.parametrize("max_bin", [15, 255])
def test_groups_of_columns_grow_the_trees_of_all_columns_at_once_in_memory_and_on_disk(tmp_path, monkeypatch, max_bin):
    data = mixed()
    stored, held = write_cache(data, tmp_path / "x.pod"), data.select(np.arange(20))
    settings = {"max_bin": max_bin, "feature_fraction": 0.7}
    expected = trees(data, held, **settings)
    for columns in (1, 5, 23):
        monkeypatch.setattr(lightgbm_data, "MEMORY", columns * 28 * (data.n_documents + 1))
        assert trees(data, held, **settings) == trees(stored, held, **settings) == expected


def test_memory_that_ends_and_a_full_disk_are_said_in_words(tmp_path, monkeypatch):
    from lightgbm.basic import LightGBMError

    data = mixed(200)

    def ends(*_):
        raise LightGBMError("std::bad_alloc")

    monkeypatch.setattr(grower, "binned", ends)
    with pytest.raises(IncompatibleError, match=r"memory ended while trees grew: 200 documents × 24 .* set max_bin=15"):
        trees(data)
    monkeypatch.undo()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lightgbm_data, "MEMORY", 1)
    monkeypatch.setattr(lightgbm_data, "_write_columns", full)
    with pytest.raises(DataError, match=r"No space left on device\. Set TMPDIR"):
        trees(write_cache(data, tmp_path / "x.pod"))
