"""SHAP values: the share of each feature in each document's score, compared with the mean score.

    >>> from podium.data import make_letor_like
    >>> from podium.training import train
    >>> data, _ = make_letor_like(20, seed=1)
    >>> model = train(data, "lambdamart(rounds=10)")
    >>> parts = shap(model, data)
    >>> bool(abs(parts.base + parts.values.sum(axis=1) - model.score(data)).max() < 1e-12)
    True

Of trees they are exact, with the documents of training as the background; see `podium.explanation.tree_shap`. Of linear
models and stumps, whose scores are sums over features, a share is the feature's part less its mean over the data. Of
perceptrons, they are exact for few features and sampled for more: see `podium.explanation.net_shap`. Of models that add
up the z-scores of their members in the query (auto, shrunk, blended, interpolated) they are those of the members, with
the weights that the members' scores have in the sum: the mean and the standard deviation of each member's scores in the
query are taken as they are, as if they were numbers of the model. Their base depends on the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Flags, Ints, Singles, dense
from podium.base.errors import DataError, IncompatibleError
from podium.base.shown import Shown, ShownTable, Value
from podium.explanation.attribution import query_means, steps_by_feature
from podium.explanation.explain import feature_name
from podium.explanation.net_shap import net_shap
from podium.explanation.tree_shap import tree_interactions, tree_shap
from podium.scorers.forms import LinearForm, NetForm, StumpsForm, TreesForm
from podium.scorers.trees.lightgbm_text import read_forest

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.data.table import Table
    from podium.model import Model

_MOST = 2**28
"""Largest number of interaction values: two gigabytes."""


@dataclass(frozen=True, eq=False, repr=False)
class ShapValues(Shown):
    """Share of each feature in each document's score: score = base + the sum of its row."""

    values: Array  # (N, d) in the row order of the data
    base: float | Array  # (N,) of an ensemble, whose base is another in each query
    features: tuple[str, ...]
    how: str
    errors: Array | None = None  # (N, d) standard errors, if values are sampled

    @property
    def summary(self) -> Array:
        """The mean absolute value of each feature: its importance, in units of the score."""  # (d,)
        return np.asarray(np.abs(self.values).mean(axis=0)) if len(self.values) else np.zeros(len(self.features))

    def _shown(self) -> ShownTable:
        sizes = self.summary
        rows: list[list[Value]] = [
            [self.features[l], float(sizes[l])] for l in np.argsort(-sizes, kind="stable") if sizes[l] > 0
        ]
        base = f"base {self.base:.6g}" if isinstance(self.base, float) else "the base is another in each query"
        notes = [f"{base}; {self.how}"]
        return ShownTable(
            f"SHAP values of {len(self.values)} documents", ["feature", "mean |value|"], rows, notes=notes, bars=1
        )


@dataclass(frozen=True, eq=False, repr=False)
class ShapInteractions(Shown):
    """Share of each pair of features in each document's score; a row's sum is the SHAP value of its feature."""

    values: Array  # (N, d, d), symmetric; the diagonal has the main effects
    base: float
    features: tuple[str, ...]

    @property
    def summary(self) -> Array:
        """The mean absolute value of each pair."""  # (d, d)
        d = len(self.features)
        return np.asarray(np.abs(self.values).mean(axis=0)) if len(self.values) else np.zeros((d, d))

    def _shown(self) -> ShownTable:
        sizes = np.triu(2.0 * self.summary, 1)  # both halves of a pair
        pairs = [divmod(int(k), len(sizes)) for k in np.argsort(-sizes, axis=None, kind="stable")]
        rows: list[list[Value]] = [
            [f"{self.features[l]} × {self.features[r]}", float(sizes[l, r])] for l, r in pairs if sizes[l, r] > 0
        ]
        title = f"SHAP interaction values of {len(self.values)} documents"
        return ShownTable(title, ["features", "mean |value|"], rows, notes=[f"base {self.base:.6g}"], bars=1)


def shap(model: Model, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> ShapValues:
    """SHAP values of each document's score. The data is as for `Model.score`, whose row order the values have.

    `model`: a fitted model: linear, stumps, trees, a perceptron, or a weighted sum of such models, as auto is.
    `qid`: a query id per row, or `group` the sizes of consecutive queries, if `data` is features alone.
    """
    table = model.table(data, qid=qid, group=group)
    members = model.learner.weighted_members(model.params, table.grouped())
    return _of_model(model, table) if members is None else _of_members(model, table, members)


def can_be_shared_out(model: Model, data: Dataset) -> bool:
    """Whether the model has SHAP values."""
    members = model.learner.weighted_members(model.params, data)
    if members is not None:
        return all(can_be_shared_out(member, data) for _, member in members)
    return not model.learner.transform.mixes and isinstance(model.form(), LinearForm | StumpsForm | TreesForm | NetForm)


def _of_members(model: Model, table: Table, members: list[tuple[Array, Model]]) -> ShapValues:
    """SHAP values of an ensemble: the weighted sum of members'. What a query's scores have besides is in its base."""
    data = table.grouped()
    names = tuple(feature_name(model, data, l) for l in range(model.n_features))
    values, base = np.zeros((data.n_documents, model.n_features)), np.zeros(data.n_documents)
    errors, rest, hows = np.zeros_like(values), model.score(data), list[str]()
    for weight, member in members:
        parts = shap(member, data)
        values += weight[:, None] * parts.values
        base += weight * parts.base
        errors += 0.0 if parts.errors is None else (weight[:, None] * parts.errors) ** 2
        rest = rest - weight * member.score(data)
        hows.append(parts.how)
    back = table.from_grouped
    how = f"members' values with their weights in the query; {'; '.join(dict.fromkeys(hows)) or 'no member differs'}"
    sampled = np.asarray(back(np.sqrt(errors))) if errors.any() else None
    return ShapValues(np.asarray(back(values)), np.asarray(back(base + query_means(rest, data))), names, how, sampled)


def _of_model(model: Model, table: Table) -> ShapValues:
    inputs = _Inputs(model, table)
    form, how = model.form(), "compared with the mean of the data"
    match form:
        case LinearForm(weights):
            parts, base = _centred(weights * np.nan_to_num(inputs.X.astype(np.float64)), form.offset)
        case StumpsForm():
            parts, base = _centred(steps_by_feature(form, inputs.X), 0.0)
        case TreesForm(text, n_features, exact):
            parts, base = tree_shap(read_forest(text, n_features, exact=exact), inputs.X)
            how = "compared with the mean of the training documents, by the counts of the leaves"
        case NetForm():
            values, base, errors = net_shap(form, inputs.X, inputs.sources, model.n_features)
            how = f"compared with documents of the data, {'by all sets of features' if errors is None else 'sampled'}"
            errors = None if errors is None else inputs.in_order(errors)
            return ShapValues(inputs.in_order(values), base, inputs.names, how, errors)
        case _:
            raise IncompatibleError(
                f"SHAP values are of linear models, stumps, trees and perceptrons, and of weighted sums of them such "
                f"as auto, and {model.learner.name} is none of them. Use podium.importance(…, kind='drop')."
            )
    return ShapValues(inputs.in_order(inputs.by_source(parts)), base, inputs.names, how)


def shap_interactions(
    model: Model, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None
) -> ShapInteractions:
    """SHAP interaction values of trees, by pair of features. The data is as for `Model.score`.

    `model`: a fitted model of trees, or linear.
    `qid`: a query id per row, or `group` the sizes of consecutive queries, if `data` is features alone.
    """
    inputs = _Inputs(model, model.table(data, qid=qid, group=group))
    form = model.form()
    if not isinstance(form, TreesForm):
        raise IncompatibleError(f"{model.learner.name} is not made of trees, whose features interact. Use podium.shap.")
    n, d = len(inputs.X), max(form.n_features, model.n_features)
    if n * d * d > _MOST:
        raise DataError(
            f"{n} documents × {d} × {d} features are too many interaction values for memory. Give at most "
            f"{_MOST // (d * d)} documents.",
            where=inputs.source,
        )
    pairs, base = tree_interactions(read_forest(form.text, form.n_features, exact=form.exact), inputs.X)
    once = inputs.by_source(pairs.reshape(n * pairs.shape[1], -1)).reshape(n, pairs.shape[1], -1)
    both = inputs.by_source(once.transpose(0, 2, 1).reshape(n * once.shape[2], -1)).reshape(n, once.shape[2], -1)
    return ShapInteractions(inputs.in_order(both), base, inputs.names)


class _Inputs:
    """Transformed features of documents, and the way back to the model's features and the caller's rows."""

    X: Singles  # (N, d')
    sources: Ints  # (d',) the model's feature of each
    names: tuple[str, ...]

    def __init__(self, model: Model, table: Table) -> None:
        transform = model.learner.transform
        if transform.mixes:
            raise IncompatibleError(
                f"transform={transform} mixes features, so that scores cannot be taken apart by feature. Train with "
                "zscore, minmax or identity."
            )
        self._table, grouped = table, table.grouped()
        self.source = grouped.source
        self.X = np.asarray(dense(transform.apply(model.state, grouped).features), np.float32)
        self.sources = transform.sources(model.state, model.n_features)
        self.names = tuple(feature_name(model, grouped, l) for l in range(model.n_features))
        self._belongs: Flags = self.sources[:, None] == np.arange(model.n_features)

    def by_source(self, parts: Array) -> Array:
        """The sum over the transformed features of each of the model's."""  # (…, d') → (…, d)
        return np.asarray(parts @ self._belongs.astype(np.float64))

    def in_order(self, values: Array) -> Array:
        """Values in the row order of the data."""
        return np.asarray(self._table.from_grouped(values))


def _centred(parts: Array, offset: float) -> tuple[Array, float]:
    """Parts less their means, and the mean score."""
    means = parts.mean(axis=0) if len(parts) else np.zeros(parts.shape[1])
    return parts - means, float(means.sum() + offset)
