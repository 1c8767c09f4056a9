"""SHAP values: the share of each feature in each document's score, compared with the mean score.

    >>> from podium.data import make_letor_like
    >>> from podium.training import train
    >>> data, _ = make_letor_like(20, seed=1)
    >>> model = train(data, "lambdamart(rounds=10)")
    >>> parts = shap(model, data)
    >>> bool(abs(parts.base + parts.values.sum(axis=1) - model.score(data)).max() < 1e-12)
    True

Of trees they are exact, with the documents of training as the background; see `podium.explanation.tree_shap`. Of linear
models and stumps, whose scores are sums over features, a share is the feature's part less its mean over the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Flags, Ints, Singles, dense
from podium.base.errors import DataError, IncompatibleError
from podium.base.shown import Shown, ShownTable, Value
from podium.explanation.attribution import steps_by_feature
from podium.explanation.explain import feature_name
from podium.explanation.tree_shap import tree_interactions, tree_shap
from podium.scorers.forms import LinearForm, StumpsForm, TreesForm
from podium.scorers.trees.lightgbm_text import read_forest

if TYPE_CHECKING:
    from podium.model import Model

_MOST = 2**28
"""Largest number of interaction values: two gigabytes."""


@dataclass(frozen=True, eq=False, repr=False)
class ShapValues(Shown):
    """Share of each feature in each document's score: score = base + the sum of its row."""

    values: Array  # (N, d) in the row order of the data
    base: float
    features: tuple[str, ...]
    how: str

    @property
    def summary(self) -> Array:
        """The mean absolute value of each feature: its importance, in units of the score."""  # (d,)
        return np.asarray(np.abs(self.values).mean(axis=0)) if len(self.values) else np.zeros(len(self.features))

    def _shown(self) -> ShownTable:
        sizes = self.summary
        rows: list[list[Value]] = [
            [self.features[l], float(sizes[l])] for l in np.argsort(-sizes, kind="stable") if sizes[l] > 0
        ]
        notes = [f"base {self.base:.6g}; {self.how}"]
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
    """SHAP values of each document's score. The data is as for `Model.score`, whose row order the values have."""
    inputs = _Inputs(model, data, qid, group)
    form, how = model.form(), "compared with the mean of the data"
    match form:
        case LinearForm(weights):
            parts, base = _centred(weights * np.nan_to_num(inputs.X.astype(np.float64)), form.offset)
        case StumpsForm():
            parts, base = _centred(steps_by_feature(form, inputs.X), 0.0)
        case TreesForm(text, n_features, exact):
            parts, base = tree_shap(read_forest(text, n_features, exact=exact), inputs.X)
            how = "compared with the mean of the training documents, by the counts of the leaves"
        case _:
            raise IncompatibleError(
                f"SHAP values are of linear models, stumps and trees, and {model.learner.name} is none of them. Use "
                "podium.explain for a pair of documents, or podium.importance(…, kind='drop')."
            )
    return ShapValues(inputs.in_order(inputs.by_source(parts)), base, inputs.names, how)


def shap_interactions(
    model: Model, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None
) -> ShapInteractions:
    """SHAP interaction values of trees, by pair of features. The data is as for `Model.score`."""
    inputs = _Inputs(model, data, qid, group)
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

    def __init__(self, model: Model, data: Any, qid: ArrayLike | None, group: ArrayLike | None) -> None:
        transform = model.learner.transform
        if transform.mixes:
            raise IncompatibleError(
                f"transform={transform} mixes features, so that scores cannot be taken apart by feature. Train with "
                "zscore, minmax or identity."
            )
        self._table = model.table(data, qid=qid, group=group)
        grouped = self._table.grouped()
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
