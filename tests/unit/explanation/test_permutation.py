"""Permutation importance finds the features that a model uses, whatever the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from podium.data import Dataset
from podium.explanation.permutation import permuted
from podium.metrics import Metric
from podium.training import train

NDCG = Metric.parse("ndcg@10")
RNG = np.random.default_rng(1)
X = RNG.normal(size=(400, 4)).astype(np.float32)
DATA = Dataset.from_arrays(X, np.clip(np.round(1 + 2 * X[:, 2] + 0.5 * X[:, 0]), 0, 4), group=[20] * 20)


@pytest.mark.parametrize("how", ["mcrank(rounds=20)", "sortnet(rounds=5)", "listnet(scorer=mlp)", "regression"])
def test_the_features_that_made_the_grades_matter_in_their_order(how: str) -> None:
    found = permuted(train(DATA, how), DATA, NDCG, seconds=60.0)
    assert found is not None
    shares, words = found
    assert shares.sum() == pytest.approx(1.0)
    assert np.argsort(-shares)[:2].tolist() == [2, 0]
    assert shares[2] > 0.6
    assert words == "drop of ndcg@10 on 20 queries when the feature is shuffled"


def test_it_is_the_drop_of_the_measure() -> None:
    model = train(DATA, "regression")
    found = permuted(model, DATA, NDCG, seconds=60.0)
    assert found is not None
    rng, drops = np.random.default_rng(0), []
    for l in range(4):
        mixed = X.copy()
        mixed[:, l] = rng.permutation(mixed[:, l])
        scores = [model.score(data) for data in (DATA, replace(DATA, features=mixed))]
        values = [np.nanmean(NDCG(s, DATA.labels, DATA.offsets)) for s in scores]
        drops.append(max(values[0] - values[1], 0.0))
    np.testing.assert_allclose(found[0], np.array(drops) / sum(drops), atol=1e-12)


def test_sparse_features_are_shuffled_too() -> None:
    model = train(DATA, "regression(transform=identity)")
    dense, sparse = (permuted(model, d, NDCG, seconds=60.0) for d in (DATA, replace(DATA, features=sp.csr_array(X))))
    assert dense is not None
    assert sparse is not None
    np.testing.assert_allclose(dense[0], sparse[0])


def test_where_no_feature_matters_there_is_nothing_to_say() -> None:
    assert permuted(train(DATA, "random"), DATA, NDCG) is None


def test_a_slow_model_is_asked_for_fewer_queries_or_none() -> None:
    model = train(DATA, "regression")
    assert permuted(model, DATA, NDCG, seconds=0.0) is None
