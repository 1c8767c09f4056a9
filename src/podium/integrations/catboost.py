"""Losses of podium with trees of CatBoost.

CatBoost calls objectives of users with blocks of rows that cut through queries. So `fit` grows one tree after another,
each as a regression: baseline y + g/h and weight h for a label y,
whose best leaf is −Σg/(Σh + λ).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.errors import MissingPackageError, ParameterError
from podium.integrations.batch import parsed
from podium.integrations.objective import descent
from podium.losses import Loss

if TYPE_CHECKING:
    import catboost

FIXED = {"loss_function": "RMSE", "iterations": 1, "boost_from_average": False, "leaf_estimation_iterations": 1}
"""Parameters of each regression."""
QUIET = {"logging_level": "Silent", "allow_writing_files": False}


def fit(
    loss: Loss | str, X: ArrayLike, y: ArrayLike, *, group: ArrayLike, row_weights: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None, rounds: int = 500, **parameters: Any,
) -> catboost.CatBoost:  # fmt: skip
    """Fit `rounds` trees to a loss of podium, with CatBoost's parameters such as depth, learning_rate and l2_leaf_reg.

    `group` has the sizes of consecutive queries, `row_weights` multiply gradient and curvature. Curvature sums to a few
    units per query or less, so l2_leaf_reg, 0.001 by default here, should be small. Features are numbers.
    """
    try:
        import catboost
    except ImportError:
        raise MissingPackageError("catboost", "podium.integrations.catboost", "catboost") from None
    if refused := sorted(FIXED.keys() & parameters.keys()):
        raise ParameterError(f"catboost: {', '.join(refused)} cannot be set here. The loss and rounds say it.")
    boosted, labels = descent(parsed(loss), y, group, row_weights), np.array(y, np.float64)
    pool = catboost.Pool(X, labels, feature_names=feature_names)
    pool.quantize(**({"border_count": parameters["border_count"]} if "border_count" in parameters else {}))
    settings = {"l2_leaf_reg": 1e-3, **QUIET, **{k: v for k, v in parameters.items() if k != "border_count"}, **FIXED}
    trees, scores = [], np.zeros(len(labels))
    for _ in range(rounds):
        gradient, curvature = boosted.derivatives(scores)
        pool.set_weight(curvature)
        pool.set_baseline(labels + gradient / curvature)
        trees.append(catboost.CatBoost(settings).fit(pool))
        scores += trees[-1].predict(X)
    return catboost.sum_models(trees)
