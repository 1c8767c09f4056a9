"""Nadaraya–Watson kernel regression: the score is the mean grade of the training documents, weighted by similarity.

    ρ(x; a) = Σ_i K_i y_i / Σ_i K_i,   K_i = exp(−½ Σ_l a_l²(x_l − x_il)²)

θ has one a_l per feature; the model also keeps the training documents with their grades, as reference documents. In
training, the score of a document leaves out those of its own query (itself, if there is only one query), since a
document is its own best neighbour.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from podium.base.arrays import AnyArray, Array, dense
from podium.base.errors import IncompatibleError
from podium.base.registry import register
from podium.base.threads import map_blocks, one_blas_thread
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.kernels.sums import add_up
from podium.scorers.base import Params, Prepared, SmoothScorer
from podium.scorers.forms import KernelForm

if TYPE_CHECKING:
    from podium.scorers.base import Features

MOST = 2**16
"""Maximum number of training documents."""
_VALUES = 2**21  # kernel values at a time: 16 MB
_LARGE = 2**20  # kernel values from which on training scores are computed in float32, in a third of the time
_KEEP = 2**24  # most kernel values that are kept from scores to their pullback: 128 MB


@register
class NadarayaWatson(SmoothScorer):
    """Kernel regression: the mean grade of the training documents, weighted by a Gaussian kernel, a width per feature.

    Cost: O(N·d) per document, N training documents: a pass over them is O(N²·d). The model holds them all. A step over
        2²⁰ kernel values or more computes them in float32: scores to learn by right to 1e−6. Other scores are float64.
    Use it for: some thousand documents with few good features, if no function of a fixed form fits.
    Derivative: ∂ρ/∂a_l = a_l Σ_i (ρ − y_i)(x_l − x_il)² K_i / ΣK, feature by feature.
    Reference: Nadaraya, On estimating regression, 1964; Watson, Smooth regression analysis, 1964.
    """

    solver = "projected"
    at_least_zero: ClassVar[bool] = True
    per_query: ClassVar[bool] = False

    def check(self, data: Dataset) -> None:
        n = data.n_documents
        if data.labels is None and data.preferences is None and data.document_weights is None:
            raise IncompatibleError("nadaraya-watson averages grades, but the data has none. Use data with labels.")
        if n > MOST:
            raise IncompatibleError(
                f"nadaraya-watson compares every document with every other: {n:,} documents have "
                f"{8e-9 * n * n:,.0f} GB of kernel values. "
                f"Use at most {MOST:,} documents, or scorer=linear, scorer=mlp or scorer=trees."
            )
        if n < 2:
            raise IncompatibleError(
                "nadaraya-watson learns from other documents, but there is only one. Use more data."
            )

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        return rng.uniform(0.0, 1.0, n_features)

    def reference(self, data: Dataset) -> Params:
        self.check(data)
        features = np.ascontiguousarray(dense(data.features), np.float32)
        return {"features": features, "labels": _grades(data), "queries": _numbers(data, data.n_documents)}

    def score(self, params: Params, data: Dataset) -> Array:
        return self._score(self._reference_of(params, data), data.features, None)[0]

    def prepare(self, params: Params, n_features: int) -> Prepared:
        reference = _Reference(self.theta(params, n_features), params, np.float64)
        return lambda data: self._score(reference, data.features, None)[0]

    def form(self, params: Params, n_features: int) -> KernelForm:
        reference = _Reference(self.theta(params, n_features), params, np.float64)
        return KernelForm(reference.widths, params["features"], params["labels"])

    def pullback(self, params: Params, data: Dataset, gradient: Array) -> Array:
        reference, X = self._reference_of(params, data), data.features
        return self._pullback(reference, X, self._score(reference, X, None)[1], gradient)

    def score_with_pullback(self, params: Params, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        large = data.n_documents * len(params["labels"]) >= _LARGE
        reference, X = self._reference_of(params, data, np.float32 if large else np.float64), data.features
        scores, near = self._score(reference, X, _numbers(data, len(reference.grades)))
        return scores, lambda gradient: self._pullback(reference, X, near, gradient)

    def _reference_of(self, params: Params, data: Dataset, kind: type[np.floating[Any]] = np.float64) -> _Reference:
        return _Reference(self.theta(params, data.n_features), params, kind)

    def n_params(self, n_features: int) -> int:
        return n_features

    def penalised(self, n_features: int) -> Array:
        return np.ones(n_features)

    def _score(
        self, reference: _Reference, X: Features, queries: Array | None
    ) -> tuple[Array, Callable[[int, int], _Near]]:
        """Scores, and a function to the kernel weights of a block of rows, which are kept if memory allows."""
        kept: dict[tuple[int, int], _Near] = {}
        keep = X.shape[0] * len(reference.grades) <= _KEEP

        def near(a: int, b: int) -> _Near:
            if (a, b) in kept:
                return kept[a, b]
            weights = reference.near(X[a:b], None if queries is None else queries[a:b])
            return kept.setdefault((a, b), weights) if keep else weights

        def block(first: int, last: int) -> Array:
            return np.concatenate([near(a, b).scores for a, b in reference.cuts(first, last)])

        with one_blas_thread():
            parts = map_blocks(block, X.shape[0])
        return np.concatenate(parts) if parts else np.empty(0), near

    def _pullback(
        self, reference: _Reference, X: Features, near: Callable[[int, int], _Near], gradient: Array
    ) -> Array:
        def block(first: int, last: int) -> Array:
            total = np.zeros(len(reference.widths))
            for a, b in reference.cuts(first, last):
                total += reference.slopes(X[a:b], near(a, b), gradient[a:b])
            return total

        with one_blas_thread():
            parts = map_blocks(block, X.shape[0])
        return np.sum(parts, axis=0) if parts else np.zeros(len(reference.widths))


class _Near(NamedTuple):
    """Kernel weights of the reference documents for a block of rows."""

    weights: AnyArray  # (rows, N) K_i, scaled so that the largest of a row is 1
    totals: AnyArray  # (rows,) ΣK
    scores: Array  # (rows,)


class _Reference:
    """Widths a and the reference documents, in the precision of the computation."""

    def __init__(self, widths: Array, params: Params, kind: type[np.floating[Any]]) -> None:
        features, grades = params.get("features", np.empty((0, 0))), params.get("labels", np.empty(0))
        if features.ndim != 2 or features.shape != (len(grades), len(widths)) or not len(grades):
            raise IncompatibleError(
                f"nadaraya-watson over {len(widths)} features keeps the training documents; got features of shape "
                f"{features.shape} with {len(grades)} labels. Train the model again."
            )
        self.widths, self.queries = widths, params.get("queries", np.empty(0))
        self.columns = np.ascontiguousarray(features.T, dtype=kind)
        self.grades = grades.astype(kind, copy=False)
        self.half = _half_squares(self.columns, self.widths).astype(kind, copy=False)

    def cuts(self, first: int, last: int) -> list[tuple[int, int]]:
        """Split a block of rows into parts that are small enough."""
        step = max(_VALUES // len(self.grades), 1)
        return [(a, min(a + step, last)) for a in range(first, last, step)]

    def near(self, X: Features, queries: Array | None) -> _Near:
        """Kernel weights of the reference documents, without ‖a·x‖² in the exponent, which cancels."""
        exponents = (dense(X) * self.widths**2).astype(self.columns.dtype, copy=False) @ self.columns
        exponents -= self.half
        if queries is not None:
            first, end = (np.searchsorted(self.queries, queries, side) for side in ("left", "right"))
            for row, a, b in zip(exponents, first, end, strict=True):
                row[a:b] = -np.inf
        exponents -= exponents.max(axis=1, keepdims=True)
        np.maximum(exponents, _FLOOR, out=exponents)
        weights = np.exp(exponents, out=exponents)
        totals = weights.sum(axis=1)
        return _Near(weights, totals, (weights @ self.grades / totals).astype(np.float64, copy=False))

    def slopes(self, X: Features, near: _Near, gradient: Array) -> Array:
        """Σ_n g_n ∂ρ_n/∂a: with C_ni = g_n(ρ_n − y_i)K_i/ΣK, whose rows sum to 0, (x − x_i)² needs two products."""
        shares, sums = np.empty_like(near.weights), np.zeros(len(self.grades))
        _share(near.weights, self.grades, near.scores, gradient / near.totals, shares, sums)
        crossed = dense(X).astype(shares.dtype, copy=False).T @ shares  # (d, N)
        return np.asarray(self.widths * _squares_less_crossed(self.columns, sums, crossed))


_FLOOR = -80.0  # e^−80 times the largest weight does not change the sum; e^−87 is the least normal float32
_LEAST = 1e-30  # subnormal shares (below 1e−38) would be slow, and do not matter


@compiled
def _half_squares(columns: Array, widths: Array) -> Any:
    """½ Σ_l a_l² x_il² of each document."""
    half = np.zeros(columns.shape[1])
    for l in range(len(widths)):
        column, scale = columns[l], 0.5 * widths[l] * widths[l]
        for i in range(len(column)):
            half[i] += scale * column[i] * column[i]
    return half


@compiled
def _share(weights: Array, grades: Array, scores: Array, factors: Array, shares: Array, sums: Array) -> None:
    """C_ni = g_n(ρ_n − y_i)K_i/ΣK, and its sums over n."""
    for n in range(len(weights)):
        row, out, score, factor = weights[n], shares[n], scores[n], factors[n]
        for i in range(len(row)):
            c = factor * (score - grades[i]) * row[i]
            out[i] = c if abs(c) > _LEAST else 0.0
            sums[i] += c


@compiled
def _squares_less_crossed(columns: Array, sums: Array, crossed: Array) -> Any:
    """Σ_i x_il(C_i x_il − 2 Σ_n C_ni x_nl), feature by feature."""
    slopes, terms = np.empty(len(columns)), np.empty(len(sums))
    for l in range(len(columns)):
        column, cross = columns[l], crossed[l]
        for i in range(len(terms)):
            terms[i] = column[i] * (sums[i] * column[i] - 2.0 * cross[i])
        slopes[l] = add_up(terms)
    return slopes


def _grades(data: Dataset) -> Array:
    """Labels or weights; of preferences, which take precedence over labels, the share of wins minus that of losses."""
    if data.document_weights is not None:
        return data.relevance()
    if data.preferences is None:
        return np.asarray(data.labels, np.float64)
    edges = data.preferences.edges
    first = np.repeat(data.offsets[:-1], np.diff(data.preferences.offsets))  # edges count from their query's first row
    won, compared = np.zeros(data.n_documents), np.zeros(data.n_documents)
    for side, sign in ((0, 1.0), (1, -1.0)):
        rows = first + edges[:, side].astype(np.int64)
        np.add.at(won, rows, sign * (2.0 * edges[:, 2] - 1.0) * edges[:, 3])
        np.add.at(compared, rows, edges[:, 3])
    return np.divide(won, compared, out=np.zeros_like(won), where=compared > 0)


def _numbers(data: Dataset, n_training: int) -> Array:
    """Groups of documents that do not see each other: the query's number, or the document's if there is one query."""
    if np.count_nonzero(data.sizes) == 1 and data.n_documents == n_training:
        return np.arange(data.n_documents, dtype=np.float64)
    ids: Any = np.arange(data.n_queries) if data.query_ids is None else data.query_ids
    return np.repeat(np.asarray(ids, np.float64), data.sizes)
