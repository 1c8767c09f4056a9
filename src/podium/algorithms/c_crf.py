"""Continuous conditional random field: grades of a whole query at once, in which linked documents pull at each other.

>>> from podium.algorithms import CCRF
>>> CCRF(relation="link")
c-crf(relation=link)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from podium.algorithms.requirements import needs_grades
from podium.base.arrays import Array, dense
from podium.base.errors import ModelFileError, needs_memory
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.learner import Learned, Learner, fitted
from podium.problem import refuse_missing
from podium.scorers import Params
from podium.solvers import Watch
from podium.transforms import GradeScale, Transform
from podium.transforms.document_links import document_links, needs_relations, relation_links


@register
class CCRF(Learner):
    """Continuous conditional random field: predicts the grades of a query together, from features and relations.

    Formula: P(y|x) ∝ exp(−Σ_k α_k Σ_i (y_i − x_ik)² − β Σ_{i<j} S_ij (y_i − y_j)²), α and β above 0, is the normal
        distribution of mean μ = A⁻¹Xα and covariance ½A⁻¹, A = (Σα)I + βL, L = diag(S1) − S; the score is μ. With
        `relation=link` the last term is +β Σ R_ij (y_i − y_j): documents with links to others rise above these, and
        μ = (Xα + (β/2)(R1 − Rᵀ1))/Σα. Maximum likelihood by L-BFGS on log α and log β; the eigenvalues of L make value
        and gradient exact. x_k are regressions of the grade on each feature, and on all, by `transform=grade-scale`.
        S is the first value of `<data>.relations` in either direction, or the cosine of the `nearest` documents, as in
        the transform neighbours.
    Ties: none; grades are numbers.
    Cost: O(c³) once for each connected group of c documents, then O(N · features) per iteration; to score, O(n³) per
        query of up to 500 documents, sparse above.
    Use it for: data with links that carry relevance. All features are smoothed alike, so that links help less than
        in regression(transform=neighbours), which learns what to take from neighbours; both go together, as
        c-crf(transform=grade-scale(of=neighbours)). `Model.spread` is the deviation of a grade.
    Reference: Qin, Liu, Zhang, Wang, Xiong and Li, Learning to rank relational objects and its application to web
        search, WWW 2008; Qin et al., Global ranking using continuous conditional random fields, NIPS 2008.
    """

    relation: Literal["similarity", "link"] = "similarity"
    """similarity: linked documents have similar grades; link: a document is better than those it links to."""
    nearest: int = param(default=5, least=1)
    """The number of nearest documents, if the data has no relations."""
    iterations: int = param(default=200, least=1)
    """Most iterations of L-BFGS."""
    transform: Transform = GradeScale()
    name = "c-crf"
    per_query: ClassVar[bool] = True

    def check(self, data: Dataset) -> None:
        needs_grades(data, self.name)
        self.transform.check(data)
        if self.relation == "link":
            needs_relations(data, who=f"{self.name}(relation=link)")

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        from scipy.optimize import minimize

        refuse_missing(data, self.name)
        from_file = self.relation == "link" or data.relations is not None
        field = self._field(data, from_file=from_file)
        limits: Any = {"maxiter": self.iterations, "maxfun": 4 * self.iterations, "ftol": 1e-13, "gtol": 1e-8}
        result = minimize(
            field, field.start(), jac=True, method="L-BFGS-B", options=limits,
            bounds=[(-_FAR, _FAR)] * (data.n_features + 1),
        )  # fmt: skip
        weights = np.exp(result.x)
        params: Params = {"alpha": weights[:-1], "beta": weights[-1:], "file": np.array([from_file])}
        watch.record(
            1, 1, float(result.fun), scores=lambda other: self.score(params, other), state=None, patience=None
        )  # fmt: skip
        reason = "the likelihood is at its maximum" if result.success else f"{self.iterations} iterations were allowed"
        return Learned(self, params, {"stopped": reason, "iterations": int(result.nit), "objective": float(result.fun)})

    def score(self, params: Params, data: Dataset) -> Array:
        refuse_missing(data, self.name)
        alpha, beta = _weights(params, data.n_features)
        pull, a = dense(data.features) @ alpha, float(alpha.sum())
        if self.relation == "link":
            return np.asarray((pull + 0.5 * beta * _children_minus_parents(data, self.name)) / a)
        parts = [_solve(A, pull[first:last]) for first, last, A in self._precisions(params, data, a, beta)]
        return np.concatenate([np.empty(0), *parts])

    def covariance(self, params: Params, data: Dataset) -> list[Array]:
        """The covariance ½A⁻¹ of the grades of each query, for transformed data."""  # (n, n) each
        alpha, beta = _weights(params, data.n_features)
        a = float(alpha.sum())
        if self.relation == "link":
            return [np.eye(int(n)) / (2.0 * a) for n in data.sizes]
        return [_solve(A, 0.5 * np.eye(b - first)) for first, b, A in self._precisions(params, data, a, beta)]

    def spread(self, params: Params, data: Dataset) -> Array:
        """The standard deviation of the grade of each document of transformed data."""  # (N,)
        parts = [np.sqrt(np.diag(each)) for each in self.covariance(params, data)]
        return np.concatenate([np.empty(0), *parts])

    def _precisions(self, params: Params, data: Dataset, a: float, beta: float) -> Iterator[tuple[int, int, Any]]:
        """First row, end, and A of each query."""
        from scipy import sparse

        A = a * sparse.eye_array(data.n_documents, format="csr") + beta * self._laplacian(
            data, from_file=bool(fitted(params, "file", (1,))[0])
        )
        for first, last in pairwise(data.offsets.tolist()):
            yield first, last, A[first:last, first:last]

    def _laplacian(self, data: Dataset, *, from_file: bool) -> Any:
        from scipy import sparse

        links = document_links(data, from_file=from_file, nearest=self.nearest, symmetric=True, who=self.name)
        return (sparse.diags_array(np.asarray(links.sum(axis=1))) - links).tocsr()

    def _field(self, data: Dataset, *, from_file: bool) -> Field:
        """The likelihood of the training data."""
        assert data.labels is not None, "checked"
        X, n = np.asarray(dense(data.features), np.float64), data.n_documents
        weight = np.ones(n) if data.query_weights is None else data.query_weights[data.query_index]
        if self.relation == "link":
            field = Field(X, data.labels, np.zeros(n), weight / weight.sum())
            return replace(field, drift=_children_minus_parents(data, self.name))
        return _rotated(X, data.labels, self._laplacian(data, from_file=from_file), weight / weight.sum())


_FAR = 30.0
"""Largest |log| of a weight."""
_DENSE = 500
"""Documents of a query up to which a dense Cholesky factor is faster than a sparse one."""


@dataclass(frozen=True, eq=False)
class Field:
    """Mean negative log-likelihood per document as a function of log α and log β, in a basis in which L is diagonal."""

    X: Array  # (N, K) features
    y: Array  # (N,) grades
    values: Array  # (N,) eigenvalues of L, 0 for `relation=link`
    share: Array  # (N,) weight of each document; they sum to 1
    drift: Array | None = None  # (N,) R1 − Rᵀ1, for `relation=link`

    def start(self) -> Array:
        """Logs of weights under which the features share the precision of the grades, and links count little."""
        precision = 0.5 / float(self.share @ (self.y - self.share @ self.y) ** 2 + 1e-12)
        scale = np.abs(self.values).mean() if self.drift is None else np.abs(self.drift).mean()
        logs = np.append(np.full(self.X.shape[1], precision / self.X.shape[1]), 0.1 * precision / max(scale, 1.0))
        return np.asarray(np.clip(np.log(logs), -_FAR, _FAR))

    def __call__(self, logs: Array) -> tuple[float, Array]:
        weights = np.exp(logs)
        alpha, beta, share = weights[:-1], weights[-1], self.share
        D = alpha.sum() + beta * self.values
        pull = self.X @ alpha if self.drift is None else self.X @ alpha + 0.5 * beta * self.drift
        mean = pull / D
        rest = self.y - mean
        value = share @ (D * rest**2 - 0.5 * np.log(D)) + 0.5 * np.log(np.pi)
        common = share @ (0.5 / D + mean**2 - self.y**2)
        by_alpha = common + 2.0 * self.X.T @ (share * rest)
        if self.drift is None:
            by_beta = share @ (self.values * (0.5 / D + mean**2 - self.y**2))
        else:
            by_beta = share @ (self.drift * rest)
        return float(value), -weights * np.append(by_alpha, by_beta)


def _rotated(X: Array, y: Array, L: Any, share: Array) -> Field:
    """The likelihood in the eigenbasis of L, found for each connected group of documents."""
    from scipy.linalg import eigh
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(L, directed=False)
    order = np.argsort(group, kind="stable")
    cuts = np.append(0, np.cumsum(np.bincount(group))) if len(group) else np.zeros(1, np.int64)
    largest = int(np.diff(cuts).max(initial=0))
    needs_memory(32.0 * largest**2, f"c-crf with {largest} connected documents", instead="Use fewer links.")
    rotated, turned, values = X.copy(), y.copy(), np.zeros(len(y))
    for a, b in pairwise(cuts.tolist()):
        if b - a > 1:
            rows = order[a:b]
            values[rows], V = eigh(L[rows][:, rows].toarray(), overwrite_a=True)
            rotated[rows], turned[rows] = V.T @ X[rows], V.T @ y[rows]
    return Field(rotated, turned, np.maximum(values, 0.0), share)


def _weights(params: Params, n_features: int) -> tuple[Array, float]:
    """The weights α and β, which are above 0."""
    alpha, beta = fitted(params, "alpha", (n_features,)), float(fitted(params, "beta", (1,))[0])
    if not ((alpha > 0.0) & (alpha < math.inf)).all() or not 0.0 < beta < math.inf:
        raise ModelFileError("c-crf: the weights alpha and beta must be numbers above 0. Train the model again.")
    return alpha, beta


def _solve(A: Any, right: Array) -> Array:
    """A⁻¹ times vectors, A positive definite and sparse."""
    from scipy.linalg import solve
    from scipy.sparse.linalg import splu

    try:
        if A.shape[0] <= _DENSE:
            return np.asarray(solve(A.toarray(), right, assume_a="pos")) if A.shape[0] else right
        return np.asarray(splu(A.tocsc()).solve(right))
    except (np.linalg.LinAlgError, RuntimeError, ValueError) as error:  # singular, also for sparse LU; not finite
        raise ModelFileError(
            f"c-crf: weights too far apart to compute scores with ({error}). Train it again, on features of one scale."
        ) from None


def _children_minus_parents(data: Dataset, who: str) -> Array:
    """R1 − Rᵀ1: weights of links from each document minus those to it."""  # (N,)
    links = relation_links(data, who=f"{who}(relation=link)")
    return np.asarray(links.sum(axis=1) - links.sum(axis=0))
