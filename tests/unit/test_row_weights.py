"""Weights of rows, as LightGBM has them: factors of the gradients of boosted trees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.data.frames import from_frame, to_frame
from podium.data.synthetic import make_letor_like
from podium.formats import read_data, write_cache
from podium.formats.cache.cache import open_cache
from podium.methods import method
from podium.metrics import Metric
from podium.sklearn import Ranker
from podium.training import fit

DATA: Dataset = make_letor_like(30, (8, 14), n_features=5, seed=1)[0]
WEIGHTS = np.random.default_rng(0).uniform(0.1, 3, DATA.n_documents)
WEIGHTED = replace(DATA, row_weights=WEIGHTS)
NDCG = Metric.parse("ndcg@10")


def test_weighted_regression_trees_are_those_of_lightgbm() -> None:
    import lightgbm

    text = "lambdamart(loss=regression,rounds=8,bagging_fraction=1,min_sum_hessian_in_leaf=1e-9,num_leaves=8,"
    text += "max_bin=255)"
    ours = fit(method(text).learner, WEIGHTED, metric=NDCG).score(DATA.features)
    parameters = {
        "objective": "regression", "boost_from_average": False, "num_leaves": 8, "learning_rate": 0.1,
        "min_data_in_leaf": 20, "min_sum_hessian_in_leaf": 1e-9, "verbosity": -1, "num_threads": 1,
    }  # fmt: skip
    train = lightgbm.Dataset(DATA.features, DATA.labels, weight=WEIGHTS, params=parameters)
    theirs = lightgbm.train(parameters, train, 8).predict(DATA.features)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    plain = fit(method(text).learner, DATA, metric=NDCG).score(DATA.features)
    assert not np.allclose(plain, theirs)


def test_a_row_of_weight_zero_teaches_nothing_and_equal_weights_are_those_of_queries() -> None:
    learner = method("lambdamart(rounds=6,bagging_fraction=1,min_data_in_leaf=0)").learner
    ranker = Ranker("lambdamart(rounds=6)")
    equal = np.where(DATA.query_index % 2, 2.0, 1.0)
    queries = ranker.fit(DATA.features, DATA.labels, group=DATA.sizes, sample_weight=equal).model_
    assert queries.info["data"] == replace(DATA, query_weights=1.0 + np.arange(30) % 2).digest()
    rows = ranker.fit(DATA.features, DATA.labels, group=DATA.sizes, sample_weight=WEIGHTS).model_
    assert rows.info["data"] == WEIGHTED.digest()
    zero = np.where(DATA.query_index == 0, 0.0, 1.0)
    without = fit(learner, replace(DATA, query_weights=np.append(0.0, np.ones(29))), metric=NDCG)
    np.testing.assert_array_equal(
        fit(learner, replace(DATA, row_weights=zero), metric=NDCG).score(DATA), without.score(DATA)
    )


def test_weights_stay_with_their_rows(tmp_path: Path) -> None:
    picked = WEIGHTED.select([3, 1])
    np.testing.assert_array_equal(picked.row_weights, WEIGHTS[np.r_[rows(3), rows(1)]])
    back: Any = from_frame(to_frame(WEIGHTED).sample(frac=1, random_state=0)).grouped()
    assert sorted(back.row_weights) == sorted(WEIGHTS)
    write_cache(WEIGHTED, tmp_path / "x.pod")
    np.testing.assert_array_equal(open_cache(tmp_path / "x.pod").row_weights, WEIGHTS)


def rows(q: int) -> Any:
    return np.arange(DATA.offsets[q], DATA.offsets[q + 1])


def test_a_weight_file_of_lightgbm_may_differ_within_a_query(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,2\n0,3\n1,4\n")
    (tmp_path / "t.csv.query").write_text("2\n1\n")
    (tmp_path / "t.csv.weight").write_text("1\n2\n3\n")
    data = read_data(tmp_path / "t.csv")
    assert data.row_weights.tolist() == [1, 2, 3]  # type: ignore[union-attr]
    assert data.query_weights is None


def test_other_methods_and_impossible_weights_are_refused_in_words() -> None:
    with pytest.raises(IncompatibleError, match="they multiply the gradients of boosted trees"):
        fit(method("listnet").learner, WEIGHTED, metric=NDCG)
    with pytest.raises(DataError, match="row weight must be a finite number of at least 0"):
        replace(DATA, row_weights=-WEIGHTS)
