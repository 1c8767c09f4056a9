"""Random forests: means of trees on samples of the queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from podium.data.dataset import Dataset
from podium.data.synthetic import make_letor_like
from podium.export import export
from podium.learner import Learner
from podium.metrics import Metric
from podium.scorers.trees.lightgbm_text import read_forest
from podium.solvers.early_stopping import query_values
from podium.training import fit

NDCG = Metric.parse("ndcg@10")
WHOLE: Dataset = make_letor_like(90, (8, 14), n_features=6, seed=1)[0]
DATA, HELD = WHOLE.select(np.arange(60)), WHOLE.select(np.arange(60, 90))
FOREST = Learner.parse("random-forest(trees=40,num_leaves=20)")


@pytest.fixture(scope="module")
def model() -> Any:
    return fit(FOREST, DATA, metric=NDCG)


def test_scores_are_means_of_grades(model: Any) -> None:
    scores, labels = model.score(DATA), DATA.labels
    assert labels is not None
    assert labels.min() <= scores.min() < scores.max() <= labels.max()
    assert abs(scores.mean() - labels.mean()) < 0.1
    assert read_forest(model.params["trees"], 6).n_trees == 40


def test_out_of_bag_is_within_two_standard_errors_of_new_queries(model: Any) -> None:
    values = query_values(NDCG, model.score(HELD), HELD)
    values = values[~np.isnan(values)]
    error = values.std(ddof=1) * np.sqrt(1 / len(values) + 1 / 60)
    assert abs(model.info["out_of_bag"] - values.mean()) < 2 * error
    own = query_values(NDCG, model.score(DATA), DATA)
    assert model.info["out_of_bag"] < np.nanmean(own) - 0.02, "the training data flatters"


def test_the_same_bits_for_any_number_of_threads(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from podium.scorers.trees import grower

    monkeypatch.setattr(grower, "_WORTH_THREADS", 0)
    for n in (1, 2, 4):
        monkeypatch.setattr(grower, "openmp_threads", lambda n=n: n)
        np.testing.assert_array_equal(fit(FOREST, DATA, metric=NDCG).params["trees"], model.params["trees"])


def test_a_forest_can_be_exported_with_proof_and_fit_another_loss(model: Any, tmp_path: Any) -> None:
    assert export(model, "c", tmp_path / "forest.c").holds
    assert export(model, "xgboost", tmp_path / "forest.json").holds
    ranks = fit(Learner.parse("random-forest(trees=5,of=lambdarank)"), DATA, metric=NDCG)
    assert len(np.unique(ranks.score(DATA))) > 10
