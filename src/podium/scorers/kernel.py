"""Nadaraya–Watson regression: a document scores the mean grade of the training documents, near ones counting more.

    ρ(x; a) = Σ_i K_i y_i / Σ_i K_i,   K_i = exp(−½ Σ_l a_l²(x_l − x_il)²)

Its parameters are one a_l per feature, and behind them what it remembers: the training documents with their grades.
While it is trained, the documents of a query do not see each other, or each would be its own best neighbour; where
there is one query, a document does not see itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from podium.data.dataset import Dataset
from podium.errors import IncompatibleError
from podium.registry import register
from podium.scorers.base import Array, SmoothScorer
from podium.threads import map_blocks

MOST = 2**16
"""Training documents above which it is refused."""
_VALUES = 2**20  # kernel values at a time: 8 MB
_KEEP = 2**24  # kernel values that are kept from scores to their pullback: 128 MB


@register
class Kernel(SmoothScorer):
    """The mean grade of all training documents, weighted by a Gaussian kernel with a width of its own per feature.

    Cost: O(N·d) per document, N training documents: a pass over them is O(N²·d). The model holds them all.
    Use it for: some thousand documents with few good features, where no function of a fixed form will do.
    Derivative: ∂ρ/∂a_l = a_l Σ_i (ρ − y_i)(x_l − x_il)² K_i / ΣK, feature by feature.
    Reference: Nadaraya, On estimating regression, 1964; Watson, Smooth regression analysis, 1964.
    """

    solver = "projected"
    at_least_zero: ClassVar[bool] = True

    def check(self, data: Dataset) -> None:
        n = data.n_documents
        if data.labels is None and data.preferences is None:
            raise IncompatibleError("kernel averages grades, but the data has none. Use data with labels.")
        if n > MOST:
            raise IncompatibleError(
                f"kernel compares every document with every other: {n:,} documents have {8e-9 * n * n:,.0f} GB of "
                f"kernel values. Use at most {MOST:,} documents, or scorer=linear, scorer=mlp or scorer=trees."
            )
        if n < 2:
            raise IncompatibleError("kernel learns from other documents, but there is only one. Use more data.")

    def init(self, n_features: int, rng: np.random.Generator) -> Array:
        return rng.uniform(0.0, 1.0, n_features)

    def remember(self, data: Dataset) -> Array:
        """How many features, then the rows, the grades and the query of each document."""
        self.check(data)
        own = _own(data, np.arange(data.n_queries), data.n_documents)
        parts = [[data.n_features], _dense(data.features).ravel(), _grades(data), own]
        return np.concatenate([np.asarray(part, np.float64) for part in parts])

    def score(self, params: Array, X: Any) -> Array:
        return self._score(_Memory(params, X.shape[1]), X, None)[0]

    def pullback(self, params: Array, X: Any, gradient: Array) -> Array:
        memory = _Memory(params, X.shape[1])
        return self._pullback(memory, X, self._score(memory, X, None)[1], gradient)

    def linearised(self, params: Array, data: Dataset) -> tuple[Array, Callable[[Array], Array]]:
        memory, X = _Memory(params, data.n_features), data.features
        scores, weights = self._score(memory, X, _own(data, data.query_ids, len(memory.rows)))
        return scores, lambda gradient: self._pullback(memory, X, weights, gradient)

    def n_params(self, n_features: int) -> int:
        return n_features

    def penalised(self, n_features: int) -> Array:
        return np.ones(n_features)

    def _score(self, memory: _Memory, X: Any, queries: Array | None) -> tuple[Array, Callable[[int, int], Array]]:
        """Scores, and the weights behind the scores of some rows, kept where they are not too many."""
        kept: dict[tuple[int, int], Array] = {}
        keep = X.shape[0] * len(memory.rows) <= _KEEP

        def weights(a: int, b: int) -> Array:
            if (a, b) in kept:
                return kept[a, b]
            found = memory.weights(X[a:b], None if queries is None else queries[a:b])
            return kept.setdefault((a, b), found) if keep else found

        def block(first: int, last: int) -> Array:
            return np.concatenate([weights(a, b) @ memory.grades for a, b in memory.cuts(first, last)])

        parts = map_blocks(block, X.shape[0])
        return np.concatenate(parts) if parts else np.empty(0), weights

    def _pullback(self, memory: _Memory, X: Any, weights: Callable[[int, int], Array], gradient: Array) -> Array:
        def block(first: int, last: int) -> Array:
            total = np.zeros(len(memory.widths))
            for a, b in memory.cuts(first, last):
                total += memory.slopes(X[a:b], weights(a, b), gradient[a:b])
            return total

        parts = map_blocks(block, X.shape[0])
        return np.sum(parts, axis=0) if parts else np.zeros(len(memory.widths))


class _Memory:
    """Parameters taken apart: widths a, and the documents that are remembered."""

    def __init__(self, params: Array, d: int) -> None:
        n = (len(params) - d - 1) // (d + 2)
        if params.dtype != np.float64 or n < 1 or len(params) != d + 1 + n * (d + 2) or params[d] != d:
            raise IncompatibleError(
                f"kernel over {d} features has {d} widths and then the training documents; got {params.dtype} of "
                f"shape {params.shape}, which does not hold documents of {d} features."
            )
        self.widths = params[:d]
        self.rows = params[d + 1 : d + 1 + n * d].reshape(n, d)
        self.grades, self.queries = params[-2 * n : -n], params[-n:]
        self.squares = self.rows**2
        self.scaled = self.rows * self.widths**2
        self.half = 0.5 * (self.squares @ self.widths**2)

    def cuts(self, first: int, last: int) -> list[tuple[int, int]]:
        """Parts of a block of rows, small enough."""
        step = max(_VALUES // len(self.rows), 1)
        return [(a, min(a + step, last)) for a in range(first, last, step)]

    def weights(self, X: Any, queries: Array | None) -> Array:
        """K_i/ΣK for each row of X; the part of the exponent that a row's documents share cancels."""  # (rows, N)
        exponents: Array = _dense(X) @ self.scaled.T - self.half
        if queries is not None:
            first, end = (np.searchsorted(self.queries, queries, side) for side in ("left", "right"))
            for row, a, b in zip(exponents, first, end, strict=True):
                row[a:b] = -np.inf
        exponents -= exponents.max(axis=1, keepdims=True)
        np.exp(exponents, out=exponents)
        exponents /= exponents.sum(axis=1, keepdims=True)
        return exponents

    def slopes(self, X: Any, weights: Array, gradient: Array) -> Array:
        """Σ_n g_n ∂ρ_n/∂a: with C_ni = g_n(ρ_n − y_i)K_i/ΣK, whose rows sum to 0, (x − x_i)² needs two products."""
        shares = np.subtract.outer(weights @ self.grades, self.grades)
        shares *= weights
        shares *= gradient[:, None]
        crossed = (_dense(X) * (shares @ self.rows)).sum(axis=0)
        return np.asarray(self.widths * (shares.sum(axis=0) @ self.squares - 2.0 * crossed))


def _grades(data: Dataset) -> Array:
    """The labels; or from preferences, which come before them, the share of won comparisons minus that of lost ones."""
    if data.preferences is None:
        return np.asarray(data.labels, np.float64)
    edges = data.preferences.edges
    first = np.repeat(data.offsets[:-1], np.diff(data.preferences.offsets))  # edges count from their query's first row
    won, compared = np.zeros(data.n_documents), np.zeros(data.n_documents)
    for side, sign in ((0, 1.0), (1, -1.0)):
        rows = first + edges[:, side].astype(np.int64)
        np.add.at(won, rows, sign * (2.0 * edges[:, 2] - 1.0))
        np.add.at(compared, rows, 1.0)
    return won / np.maximum(compared, 1.0)


def _own(data: Dataset, numbers: Any, n_training: int) -> Array:
    """What hides documents from each other: their query's number, or their own where all are of one query."""
    if np.count_nonzero(data.sizes) == 1 and data.n_documents == n_training:
        return np.arange(data.n_documents, dtype=np.float64)
    return np.repeat(np.asarray(numbers, np.float64), data.sizes)


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if isinstance(X, sp.csr_array) else X, np.float64)
