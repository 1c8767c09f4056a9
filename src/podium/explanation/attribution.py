"""Feature attribution: the share of each feature in the difference of two documents' scores.

Additive models are decomposed exactly: linear ones weight by weight, trees by SHAP values, stumps feature by feature.
A multi-layer perceptron is integrated along the straight line between the two documents: Σ_l (x_l − x'_l) ∫ ∂f/∂x_l,
which is gradient × input averaged over that line, and adds up to the difference except for the error of the quadrature.
Reference: Lundberg et al., Explainable AI for trees, 2020; Sundararajan, Taly and Yan, Integrated gradients, 2017.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from podium.base.arrays import Array, Ints, Singles, is_sparse
from podium.base.matrix_on_disk import Rows, in_blocks
from podium.explanation.tree_shap import tree_shap
from podium.scorers.activations import activate
from podium.scorers.attention_layers import norm_back, normal
from podium.scorers.forms import Form, LinearForm, NetForm, StumpsForm, TreesForm
from podium.scorers.trees.lightgbm_text import read_forest

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.model import Model


class Attribution(NamedTuple):
    """Share of each feature in the difference of two documents' scores."""

    shares: Array  # (d,)
    how: str


def attribute_pair(model: Model, query: Dataset, rows: tuple[int, int]) -> Attribution | None:
    """Decompose the difference of the scores of two rows of a query by feature; None if the model cannot be."""
    members = model.learner.weighted_members(model.params, query)
    if members is None:
        transformed = model.learner.transform.apply(model.state, query)
        return attribute(model, np.asarray(transformed.features[list(rows)]))
    parts = [(weight[rows[0]], attribute_pair(member, query, rows)) for weight, member in members if weight.any()]
    return _weighted(parts, np.zeros(model.n_features))


def _weighted(parts: list[tuple[Any, Attribution | None]], nothing: Array) -> Attribution | None:
    """The weighted sum of members' attributions, from `nothing` on; None if one has none."""
    attributions = [(weight, part) for weight, part in parts if part is not None]
    if len(attributions) < len(parts):
        return None
    shares = sum((weight * part.shares for weight, part in attributions), nothing)
    return Attribution(shares, "; ".join(dict.fromkeys(part.how for _, part in attributions)) or "no member differs")


def attribute(model: Model, X: Singles) -> Attribution | None:
    """Decompose the difference of two documents' scores by feature; None if the model cannot be decomposed.

    `X` has the transformed features of the two, (2, d'); the shares add up to score 0 − score 1.
    """
    attribution = None if model.learner.transform.mixes else _attribute(model, X)
    return None if attribution is None else attribution._replace(shares=by_source(model, attribution.shares))


def shares_over_mean(model: Model, data: Dataset, rows: Ints) -> Attribution | None:
    """Share of each feature in the scores of rows of a query, compared with a document of mean features.

    `shares` has a row for each; None if the model cannot be decomposed.
    """  # (rows, d)
    members = model.learner.weighted_members(model.params, data)
    if members is not None:
        parts = [
            (weight[rows, None], shares_over_mean(member, data, rows)) for weight, member in members if weight.any()
        ]
        return _weighted(parts, np.zeros((len(rows), model.n_features)))
    X = np.asarray(model.learner.transform.apply(model.state, data).features, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a feature that all documents miss
        middle = np.nanmean(X, axis=0)
    each = [attribute(model, np.stack([X[row], middle])) for row in rows]
    attributions = [attribution for attribution in each if attribution is not None]
    if not attributions or len(attributions) < len(rows):
        return None
    return Attribution(np.stack([attribution.shares for attribution in attributions]), attributions[0].how)


def query_means(values: Array, data: Dataset) -> Array:
    """The mean of each document's query."""  # (N,)
    totals = np.bincount(data.query_index, values, minlength=data.n_queries)
    return np.asarray((totals / np.maximum(data.sizes, 1))[data.query_index])


def by_source(model: Model, of_transformed: Array) -> Array:
    """The sum over the transformed features of each source feature."""  # (d,)
    sources = model.learner.transform.sources(model.state, model.n_features)
    return np.bincount(sources, of_transformed, minlength=model.n_features).astype(np.float64)


def _attribute(model: Model, X: Singles) -> Attribution | None:
    match model.form():
        case LinearForm(weights):
            rows = np.nan_to_num(X.astype(np.float64))
            return Attribution(weights * (rows[0] - rows[1]), "weight × difference of the feature")
        case TreesForm(text, n_features, exact):
            shap, _ = tree_shap(read_forest(text, n_features, exact=exact), X)
            return Attribution(np.asarray(shap[0] - shap[1]), "difference of SHAP values")
        case StumpsForm() as stumps:
            steps = steps_by_feature(stumps, X)
            return Attribution(steps[0] - steps[1], "difference of the weights of the thresholds passed")
        case NetForm() as net:
            return Attribution(_along_the_line(net, X), "integrated gradients")
    return None


def thresholds(form: Form | None) -> dict[int, Array] | None:
    """Thresholds of each transformed feature, for a piecewise constant model; None for any other."""
    if isinstance(form, StumpsForm):
        features, cuts = form.feature, form.threshold
    elif isinstance(form, TreesForm):
        forest = read_forest(form.text, form.n_features)
        features, cuts = forest.feature, forest.threshold
    else:
        return None
    kept = np.isfinite(cuts) & (np.abs(cuts) < np.finfo(np.float32).max)
    return {int(l): np.unique(cuts[kept & (features == l)]) for l in np.unique(features[kept])}


def deviations(X: Any) -> Array:
    """The standard deviation of each feature; a missing value counts as 0."""  # (d,)
    if is_sparse(X):
        values = np.nan_to_num(X.data.astype(np.float64))
        first, second = (np.bincount(X.indices, values**k, minlength=X.shape[1]) / X.shape[0] for k in (1, 2))
        return np.asarray(np.sqrt(np.maximum(second - first**2, 0.0)))
    if isinstance(X, Rows):
        n, none = max(len(X), 1), np.zeros(X.shape[1])
        mean = sum((np.nan_to_num(x).sum(axis=0, dtype=np.float64) for x in in_blocks(X)), none) / n
        squares = (((np.nan_to_num(x).astype(np.float64) - mean) ** 2).sum(axis=0) for x in in_blocks(X))
        return np.asarray(np.sqrt(sum(squares, none) / n))
    return np.asarray(np.nan_to_num(X).std(axis=0, dtype=np.float64))


def steps_by_feature(stumps: StumpsForm, X: Singles) -> Array:
    """The part of the thresholds on each feature in each document's score."""  # (n, d)
    total = np.zeros(X.shape)
    for l, cut, alpha, missing in zip(stumps.feature, stumps.threshold, stumps.alpha, stumps.missing, strict=True):
        x = X[:, l]
        total[:, l] += alpha * np.where(np.isnan(x), missing, x > cut)
    return total


def _along_the_line(net: NetForm, X: Singles) -> Array:
    ends = X.astype(np.float64)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(0.0, 1.0, _PANELS + 1)
    at = (edges[:-1, None] + (nodes + 1) / (2 * _PANELS)).ravel()[:, None]
    gradients = input_gradient(net, ends[1] + at * (ends[0] - ends[1]))
    mean = np.tile(weights / (2 * _PANELS), _PANELS) @ gradients
    return np.asarray(mean * (ends[0] - ends[1]))


def net_scores(net: NetForm, X: Array) -> Array:
    """The score of each row of features."""  # (N,)
    weights, offset = net.layers[-1]
    return np.asarray((_forward(net, X)[0] @ weights + offset)[:, 0])


def _forward(net: NetForm, X: Array) -> tuple[Array, list[tuple[Array, Any]]]:
    """The last hidden layer; and the slopes and layer norm of each."""
    h, kept = X, []
    for k, (weights, offset) in enumerate(net.layers[:-1]):
        z = h @ weights + offset
        z, norm = normal(z, dict(zip(_NORM, net.norms[k], strict=True)), "layer") if net.norms else (z, None)
        slope = np.empty_like(z)
        activate(net.activation, z, slope)
        kept.append((slope, norm))
        h = z
    return h, kept


def input_gradient(net: NetForm, X: Array) -> Array:
    """∂f/∂x at each row of features."""  # (N, d)
    kept = _forward(net, X)[1]
    flow = np.ones((len(X), 1))
    for depth in range(len(net.layers) - 1, -1, -1):
        flow = flow @ net.layers[depth][0].T
        if depth:
            slope, norm = kept[depth - 1]
            flow = flow * slope
            flow = flow if norm is None else norm_back(net.norms[depth - 1][0], norm, flow)
    return flow


_NORM = ("layer gain", "layer offset")
_NODES, _PANELS = 8, 256
