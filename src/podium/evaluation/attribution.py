"""Attribution: what each feature adds to the difference of two documents' scores, and to a model's scores at large.

Additive models are taken apart exactly: linear ones weight by weight, trees by SHAP values, stumps feature by feature.
A multi-layer perceptron is integrated along the straight line between the two documents: Σ_l (x_l − x'_l) ∫ ∂f/∂x_l,
which is gradient × input averaged over that line, and adds up to the difference but for the error of the quadrature.
Reference: Lundberg et al., Explainable AI for trees, 2020; Sundararajan, Taly and Yan, Integrated gradients, 2017.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from podium.algorithms import OCSVM, SVMMAP, AdaRank, GBRank, PermuRank, PRank, RankBoost, SingleFeature
from podium.algorithms.requirements import fitted
from podium.data.dataset import Dataset
from podium.model import Model
from podium.recipe import Recipe
from podium.scorers import MLP, Linear, Trees

Array = NDArray[np.float64]


class Attribution(NamedTuple):
    """What each feature adds to the score of one document over another's."""

    shares: Array  # (d,)
    how: str


def attribute(model: Model, X: NDArray[np.float32]) -> Attribution | None:
    """The difference of the scores of two documents, feature by feature; None where the model cannot be taken apart.

    `X` has the transformed features of the two, (2, d); what they add up to is score 0 − score 1.
    """
    if model.learner.transform.mixes:
        return None
    weights = linear_weights(model)
    if weights is not None:
        rows = np.nan_to_num(X.astype(np.float64))
        return Attribution(weights * (rows[0] - rows[1]), "weight × difference of the feature")
    booster = model_trees(model)
    if booster is not None:
        found = booster.predict(X, pred_contrib=True, num_threads=1)[:, :-1]  # the last column is the common mean
        return Attribution(np.asarray(found[0] - found[1]), "difference of SHAP values")
    if isinstance(model.learner, RankBoost):
        steps = _stumps(model, X)
        return Attribution(steps[0] - steps[1], "difference of the weights of the thresholds passed")
    if isinstance(model.learner, Recipe) and isinstance(model.learner.scorer, MLP):
        return Attribution(_along_the_line(model.learner.scorer, model.params["scorer"], X), "integrated gradients")
    return None


def linear_weights(model: Model) -> Array | None:
    """The weight of each transformed feature; None where the model is not linear."""  # (d,)
    learner, params = model.learner, model.params
    if isinstance(learner, Recipe):
        return params["scorer"][:-1] if isinstance(learner.scorer, Linear) else None
    if isinstance(learner, SingleFeature):
        weights = np.zeros(model.n_features)
        weights[int(params["feature"][0])] = params["sign"][0]
        return weights
    if isinstance(learner, AdaRank | OCSVM | PermuRank | PRank | SVMMAP):
        return fitted(params, "weights", (model.n_features,))
    return None


def model_trees(model: Model) -> Any | None:
    """LightGBM's booster of a model whose score is a sum of trees; None of any other."""
    if isinstance(model.learner, GBRank):
        return Trees().booster(model.params["trees"], model.n_features)
    if isinstance(model.learner, Recipe) and isinstance(model.learner.scorer, Trees):
        return model.learner.scorer.booster(model.params["scorer"], model.n_features)
    return None


def thresholds(model: Model) -> dict[int, Array] | None:
    """Where each transformed feature is cut, of a model that is constant between cuts; None of any other."""
    if isinstance(model.learner, RankBoost):
        features, cuts = model.params["feature"].astype(np.int64), model.params["threshold"]
    elif (booster := model_trees(model)) is not None:
        lines = [line.partition("=") for line in booster.model_to_string().splitlines()]
        found = {key: " ".join(v for k, _, v in lines if k == key).split() for key in ("split_feature", "threshold")}
        features, cuts = np.array(found["split_feature"], np.int64), np.array(found["threshold"], np.float64)
    else:
        return None
    kept = np.isfinite(cuts) & (np.abs(cuts) < np.finfo(np.float32).max)
    return {int(l): np.unique(cuts[kept & (features == l)]) for l in np.unique(features[kept])}


def importance(model: Model, data: Dataset) -> tuple[Array, str] | None:
    """How much each feature matters: |weight| × its standard deviation on `data`, or the gain of its splits.

    As shares of 1, with the words for it; None where there is nothing of the kind.
    """
    if model.learner.transform.mixes:
        return None
    weights = linear_weights(model)
    if weights is not None:
        X = model.learner.transform.apply(model.state, data).features
        found, how = np.abs(weights) * deviations(X), "|weight| × standard deviation"
    elif (booster := model_trees(model)) is not None:
        found, how = booster.feature_importance("gain"), "gain of the splits"
    elif isinstance(model.learner, RankBoost):
        features = model.params["feature"].astype(np.int64)
        found = np.bincount(features, np.abs(model.params["alpha"]), minlength=model.n_features).astype(np.float64)
        how = "sum of the |weights| of its thresholds"
    else:
        return None
    total = found.sum()
    return (found / total if total > 0 else np.zeros(model.n_features)), how


def deviations(X: Any) -> Array:
    """The standard deviation of each feature; a missing value counts as 0."""  # (d,)
    if isinstance(X, sp.csr_array):
        values = np.nan_to_num(X.data.astype(np.float64))
        first, second = (np.bincount(X.indices, values**k, minlength=X.shape[1]) / X.shape[0] for k in (1, 2))
        return np.asarray(np.sqrt(np.maximum(second - first**2, 0.0)))
    return np.asarray(np.nan_to_num(X).std(axis=0, dtype=np.float64))


def _stumps(model: Model, X: NDArray[np.float32]) -> Array:
    """What RankBoost's thresholds on each feature add to each document's score."""  # (n, d)
    p = model.params
    total = np.zeros((len(X), model.n_features))
    for l, cut, alpha, missing in zip(p["feature"], p["threshold"], p["alpha"], p["missing"], strict=True):
        x = X[:, int(l)]
        total[:, int(l)] += alpha * np.where(np.isnan(x), missing, x > cut)
    return total


def _along_the_line(scorer: MLP, params: Array, X: NDArray[np.float32]) -> Array:
    ends = X.astype(np.float64)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(0.0, 1.0, _PANELS + 1)
    at = (edges[:-1, None] + (nodes + 1) / (2 * _PANELS)).ravel()[:, None]
    gradients = scorer.input_gradient(params, ends[1] + at * (ends[0] - ends[1]))
    mean = np.tile(weights / (2 * _PANELS), _PANELS) @ gradients
    return np.asarray(mean * (ends[0] - ends[1]))


_NODES, _PANELS = 8, 256
