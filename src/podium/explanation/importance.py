"""Feature importance: how much each feature matters to a model.

| kind | of a feature |
|---|---|
| gain | the gain of its splits; the weights of its thresholds; of a linear model its |weight| × standard deviation |
| splits | how many splits or thresholds it has |
| shap | the mean absolute SHAP value, its share in scores |
| drop | the drop of a metric when its values are shuffled among documents, for any model |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import DataError, ParameterError
from podium.explanation.attribution import by_source, deviations, query_means
from podium.explanation.permutation import permuted
from podium.metrics import Metric
from podium.scorers.forms import LinearForm, StumpsForm, TreesForm
from podium.scorers.trees.lightgbm_text import read_forest
from podium.scorers.trees.trees import booster

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.model import Model

Kind = Literal["gain", "splits", "shap", "drop"]


def importance(
    model: Model,
    data: Any = None,
    *,
    kind: Kind = "gain",
    metric: str | Metric = "ndcg@10",
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
) -> tuple[Array, str] | None:
    """Feature importance as shares of 1, in the order of the model's features, with a description.

    None if the model has none of that kind. The data is as for `Model.score`; only gain and splits of trees and stumps
    need none, and `drop` needs labels to measure the `metric` with.

    `qid`: a query id per row, or `group` the sizes of consecutive queries, if `data` is features alone.
    `model`: the model to look into.
    `kind`: `gain` of splits or weights, number of `splits`, mean absolute `shap` values, or what the metric loses if a
        feature is shuffled (`drop`).
    """
    if kind not in get_args(Kind):
        raise ParameterError(f"importance: kind is one of {', '.join(get_args(Kind))}; got {kind!r}.")
    if model.learner.transform.mixes and kind != "drop":
        return None
    table = None if data is None else model.table(data, qid=qid, group=group).grouped()
    if table is not None and not table.n_documents:
        raise DataError("there is no document whose features could differ.", where=table.source)
    match kind:
        case "drop":
            return _of_drops(model, table, Metric.parse(metric) if isinstance(metric, str) else metric)
        case "shap":
            return _of_shap(model, _needed(table, kind))
        case "splits":
            return _shares(model, _splits(model), "number of splits")
    members = None if table is None else model.learner.weighted_members(model.params, table)
    if members is not None and table is not None:
        return _of_members(members, table)
    return _shares(model, *_gain(model, table))


def _needed(table: Dataset | None, kind: str) -> Dataset:
    if table is None:
        raise DataError(f"importance by {kind} of this model is of data, and there is none. Give the documents.")
    return table


def _gain(model: Model, table: Dataset | None) -> tuple[Array | None, str]:
    """Numbers of transformed features, and what they are."""
    form = model.form()
    match form:
        case LinearForm(weights):
            X = model.learner.transform.apply(model.state, _needed(table, "gain")).features
            return np.abs(weights) * deviations(X), "|weight| × standard deviation"
        case TreesForm(text, n_features):
            return booster(text, n_features).feature_importance("gain"), "gain of the splits"
        case StumpsForm(feature, _, alpha, _):
            return _counted(model, feature, np.abs(alpha)), "sum of the |weights| of its thresholds"
    return None, ""


def _splits(model: Model) -> Array | None:
    match model.form():
        case TreesForm(text, n_features, exact):
            return _counted(model, read_forest(text, n_features, exact=exact).feature)
        case StumpsForm(feature, _, _, _):
            return _counted(model, feature)
    return None


def _counted(model: Model, feature: Any, weights: Array | None = None) -> Array:
    width = len(model.learner.transform.sources(model.state, model.n_features))
    return np.bincount(feature, weights, minlength=width).astype(np.float64)


def _of_shap(model: Model, table: Dataset) -> tuple[Array, str] | None:
    from podium.explanation.shap import can_be_shared_out, shap

    if not can_be_shared_out(model, table):
        return None
    return _whole(shap(model, table).summary), "mean |SHAP value|"


def _of_drops(model: Model, table: Dataset | None, metric: Metric) -> tuple[Array, str] | None:
    if table is None or table.labels is None:
        raise DataError(
            f"importance by drop measures {metric}, which needs documents with labels.",
            where=None if table is None else table.source,
        )
    return permuted(model, table, metric, seconds=np.inf)


def _shares(model: Model, of_transformed: Array | None, how: str) -> tuple[Array, str] | None:
    if of_transformed is None:
        return None
    return _whole(by_source(model, np.asarray(of_transformed, np.float64))), how


def _whole(shares: Array) -> Array:
    total = shares.sum()
    return shares / total if total > 0 else np.zeros(len(shares))


def _spread(parts: Array, table: Dataset) -> float:
    """The standard deviation of numbers of documents about the means of their queries."""
    return float((parts - query_means(parts, table)).std())


def _of_members(members: list[tuple[Array, Model]], table: Dataset) -> tuple[Array, str] | None:
    """The mean of members' importances, weighted by the spread of their part of the scores in queries, which is their
    share if z-scores are added up; None if one has none.
    """
    each = [importance(member, table) for _, member in members]
    measured = [part for part in each if part is not None]
    if not measured or len(measured) < len(each):
        return None
    weights = np.array([_spread(weight * member.score(table), table) for weight, member in members])
    shares = weights @ np.stack([part[0] for part in measured]) / max(weights.sum(), np.finfo(float).tiny)
    return shares, f"mean over members of {' and '.join(dict.fromkeys(how for _, how in measured))}"
