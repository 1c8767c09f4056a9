"""Other boosters, with early stopping by NDCG@10 on validation queries: scores, and the leaves of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset

ROUNDS, PATIENCE = 500, 100
"""As podium's: the most rounds, and how many without a better value end training."""


class Fitted(NamedTuple):
    """Scores of a fitted model, and its size."""

    valid: Array
    test: Array
    leaves: int


Fit = Callable[..., Fitted]


def lightgbm(train: Dataset, valid: Dataset, test: Dataset, **settings: Any) -> Fitted:
    import lightgbm

    chosen = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10],
        "num_threads": 1,
        "verbosity": -1,
        **settings,
    }
    first = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
    other = first.create_valid(valid.features, valid.labels, group=valid.sizes)
    stop = [lightgbm.early_stopping(PATIENCE, verbose=False)]
    model = lightgbm.train(chosen, first, ROUNDS, [other], callbacks=stop)
    text = model.model_to_string(num_iteration=model.best_iteration)
    leaves = sum(int(line.partition("=")[2]) for line in text.splitlines() if line.startswith("num_leaves="))
    return Fitted(model.predict(valid.features), model.predict(test.features), leaves)


def xgboost(train: Dataset, valid: Dataset, test: Dataset, **settings: Any) -> Fitted:
    import xgboost

    chosen = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": 1, **settings}
    seen, watched, asked = (
        xgboost.DMatrix(data.features, data.labels, qid=data.query_index) for data in (train, valid, test)
    )
    grown = xgboost.train(
        chosen, seen, ROUNDS, evals=[(watched, "valid")], early_stopping_rounds=PATIENCE, verbose_eval=False
    )
    model = grown[: grown.best_iteration + 1]
    leaves = sum(text.count("leaf=") for text in model.get_dump())
    return Fitted(model.predict(watched), model.predict(asked), leaves)


def catboost(train: Dataset, valid: Dataset, test: Dataset, **settings: Any) -> Fitted:
    import catboost

    seen, watched, asked = (
        catboost.Pool(data.features, data.labels, group_id=data.query_index) for data in (train, valid, test)
    )
    model = catboost.CatBoostRanker(
        loss_function="YetiRank", eval_metric="NDCG:top=10;type=Exp", iterations=ROUNDS, thread_count=1,
        early_stopping_rounds=PATIENCE, verbose=False, allow_writing_files=False, **settings,
    )  # fmt: skip
    model.fit(seen, eval_set=watched)
    leaves = int(np.sum(model.get_tree_leaf_counts()))
    return Fitted(model.predict(watched), model.predict(asked), leaves)


BOOSTERS: dict[str, tuple[str, Fit, list[dict[str, Any]]]] = {
    "LightGBM": (
        "lightgbm", lightgbm, [{"learning_rate": rate, "num_leaves": n} for rate in (0.05, 0.1) for n in (7, 31)],
    ),
    "XGBoost": (
        "xgboost", xgboost, [{"learning_rate": rate, "max_depth": n} for rate in (0.05, 0.1) for n in (3, 6)],
    ),
    "CatBoost": (
        "catboost", catboost, [{"learning_rate": rate, "depth": n} for rate in (0.03, 0.1) for n in (4, 6)],
    ),
}  # fmt: skip
"""Module, function, and the settings that validation queries choose from."""
