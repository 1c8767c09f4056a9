"""Supervised random walk: learn from judged nodes which links a walk should follow.

>>> from podium.algorithms import Walk
>>> Walk(restart=0.1)
walk(restart=0.1)
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from podium.algorithms.requirements import needs_grades, needs_pairs
from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import DataError, IncompatibleError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.learner import Learned, Learner, fitted
from podium.losses import Loss, RankNet, sweep
from podium.scorers import Params
from podium.solvers import Watch
from podium.transforms import Identity, Transform
from podium.transforms.document_links import needs_relations, relation_rows


@register
class Walk(Learner):
    """Supervised random walk: nodes of a graph ranked by a walk that follows links by their learned features.

    A query is a graph and its documents are the nodes; `<data>.relations` has the links, each with one or more numbers,
    the features ψ of the link. Features of documents are not used. Walks pass through nodes without a label (nan), too.
    Formula: a walk at u goes to v with probability Q_uv = exp⟨w, ψ_uv⟩/Σ_v' exp⟨w, ψ_uv'⟩ over the links of u, and
        begins again anywhere with probability `restart`, or if u has no links: p = (1 − α)Qᵀp + α/n. The score is
        log p. The loss of c·log p plus (penalty/2)‖w‖², w in units of each feature's deviation, is minimised over w
        and c by L-BFGS from `starts` points, the first of them w = 0, which is PageRank. c lets the loss have the
        differences of scores that it likes, whatever the walk. Gradients are exact, by one adjoint solution.
    Ties: those of the loss.
    Cost: O(links) per step of a power iteration, some 124 steps at a restart of 0.2, twice per evaluation.
    Use it for: graphs whose links differ in kind or strength, such as citations, friends or products. It applies to
        other graphs whose links have the same features. A feature with one value in all links says nothing.
    Reference: Backstrom and Leskovec, Supervised random walks, WSDM 2011; Agarwal, Chakrabarti and Aggarwal, Learning
        to rank networked entities, KDD 2006.
    """

    loss: Loss = RankNet(normalise=True)
    """Loss of c times the logarithm of the walk's probabilities."""
    restart: float = param(default=0.2, above=0, below=1)
    """α, the probability that a walk begins again."""
    penalty: float = param(default=0.001, least=0)
    """L2 penalty: (penalty/2)·‖w‖² is added to the loss."""
    starts: int = param(default=3, least=1)
    """Starting points that are tried; the first is PageRank."""
    iterations: int = param(default=100, least=1)
    """Of L-BFGS, from each start."""
    transform: Transform = Identity()
    name = "walk"
    per_query: ClassVar[bool] = True
    wants_unjudged: ClassVar[bool] = True

    def check(self, data: Dataset) -> None:
        if self.loss.surrogate is not None or self.loss.learned:
            raise IncompatibleError(
                f"walk compares values of its loss, which {self.loss.name} does not have. Use e.g. walk(loss=ranknet)."
            )
        judged = _judged(data)[0]
        self.loss.check(judged)
        if self.loss.shift_invariant:
            needs_pairs(judged, self.name)
        else:
            needs_grades(judged, self.name)
        self.loss.check_labels(judged)
        if needs_relations(data, who=self.name) or not _varies(_features(data)).any():
            raise DataError(
                "walk learns from features of links, but in the relations each number is the same for all links. Give "
                "links numbers that differ, such as kinds (1 or 0 in a column each), ages or strengths.",
                where=data.source,
            )

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        from scipy.optimize import minimize

        psi = _features(data)
        keep = np.flatnonzero(_varies(psi))
        deviation = psi[:, keep].std(axis=0)
        walks = Walks.of(data, psi[:, keep] / deviation, self.restart)
        judged, rows = _judged(data)
        loss = self.loss.fitted_to(judged)

        def objective(theta: Array) -> tuple[float, Array]:
            w, scale = theta[:-1], float(np.exp(theta[-1]))
            scores, pullback = walks.scores(w)
            losses = sweep(loss, scale * scores[rows], judged)
            force = np.zeros(len(scores))
            force[rows] = losses.gradient * scale / judged.n_queries
            gradient = np.append(pullback(force) + self.penalty * w, force @ scores)
            return losses.value / judged.n_queries + 0.5 * self.penalty * float(w @ w), gradient

        limits: Any = {"maxiter": self.iterations, "ftol": 1e-12, "gtol": 1e-8}
        bounds = [(None, None)] * len(keep) + [(-_FAR, _FAR)]
        begins = [np.zeros(len(keep)), *rng.standard_normal((self.starts - 1, len(keep)))]
        results = [
            minimize(objective, np.append(w, 1.0), jac=True, method="L-BFGS-B", bounds=bounds, options=limits)
            for w in begins
        ]
        best = min(results, key=lambda result: float(result.fun))
        weights = np.zeros(psi.shape[1])
        weights[keep] = best.x[:-1] / deviation
        params: Params = {"weights": weights}
        watch.record(
            1, 1, float(best.fun), scores=lambda other: self.score(params, other), state=None, patience=None
        )  # fmt: skip
        record = {"stopped": f"the best of {self.starts} starts", "iterations": int(best.nit)}
        return Learned(dataclasses.replace(self, loss=loss), params, {**record, "objective": float(best.fun)})

    def score(self, params: Params, data: Dataset) -> Array:
        weights = fitted(params, "weights", (None,))
        if needs_relations(data, who=self.name):
            return np.zeros(data.n_documents)
        psi = _features(data)
        if psi.shape[1] != len(weights):
            raise DataError(
                f"links of {psi.shape[1]} numbers, but the walk was trained with {len(weights)}. Give links the same "
                "features in the same order.",
                where=data.source,
            )
        return Walks.of(data, psi, self.restart).scores(weights)[0]


def _judged(data: Dataset) -> tuple[Dataset, Ints]:
    """The nodes that have a label, without links, and their rows; all if there are preferences instead."""
    rows = np.arange(data.n_documents) if data.labels is None else np.flatnonzero(~np.isnan(data.labels))
    return dataclasses.replace(data, relations=None).judged(), rows


def _features(data: Dataset) -> Array:
    """Features of the links."""  # (M, E)
    assert data.relations is not None, "checked"
    return data.relations.values[:, 2:]


def _varies(psi: Array) -> Flags:
    """Whether a feature differs between links."""
    return np.asarray(np.ptp(psi, axis=0) > 0) if len(psi) else np.zeros(psi.shape[1], np.bool_)


_FAR = 5.0
"""Largest |log c|."""
_TOLERANCE = 1e-13
"""Largest change of a step of a power iteration at its end, relative to the sum."""


@dataclass(frozen=True, eq=False)
class Walks:
    """Random walks on the graphs of a dataset, as a function of the weights of features of links."""

    sources: Ints  # (M,) row, ascending
    targets: Ints  # (M,)
    psi: Array  # (M, E)
    query: Ints  # (N,) the graph of each node
    start: Array  # (N,) where walks begin: 1/n
    restart: float

    @classmethod
    def of(cls, data: Dataset, psi: Array, restart: float) -> Walks:
        sources, targets = relation_rows(data)
        order = np.argsort(sources, kind="stable")
        start = 1.0 / np.repeat(data.sizes, data.sizes)
        return cls(sources[order], targets[order], psi[order], data.query_index, start, restart)

    @cached_property
    def begins(self) -> Ints:
        """The first link of each node that has links."""
        return np.flatnonzero(np.diff(self.sources, prepend=-1))

    @cached_property
    def ends(self) -> Flags:
        """Whether a node has no links."""  # (N,)
        return np.asarray(np.bincount(self.sources, minlength=len(self.start)) == 0)

    def probabilities(self, w: Array) -> Array:
        """Q: the probability of each link at its node."""  # (M,)
        if not len(self.sources):
            return np.empty(0)
        strength = self.psi @ w
        counts = np.diff(np.append(self.begins, len(strength)))
        e = np.exp(strength - np.repeat(np.maximum.reduceat(strength, self.begins), counts))
        return np.asarray(e / np.repeat(np.add.reduceat(e, self.begins), counts))

    def scores(self, w: Array) -> tuple[Array, Any]:
        """log p of each node, and the function from ∂L/∂scores to ∂L/∂w."""
        from scipy import sparse

        n, follow, Q = len(self.start), 1.0 - self.restart, self.probabilities(w)
        matrix = sparse.csr_array((Q, (self.sources, self.targets)), shape=(n, n))
        back = matrix.T.tocsr()

        def forward(p: Array) -> Array:
            return follow * (back @ p + self._spread(p * self.ends) * self.start) + self.restart * self.start

        p = _fixed_point(forward, self.start)

        def pullback(gradient: Array) -> Array:
            push = gradient / p

            def adjoint(x: Array) -> Array:
                return push + follow * (matrix @ x + self.ends * self._spread(self.start * x))

            x = _fixed_point(adjoint, push)
            mean = np.asarray(matrix @ x)
            flow = follow * p[self.sources] * Q * (x[self.targets] - mean[self.sources])
            return np.asarray(self.psi.T @ flow)

        return np.log(p), pullback

    def _spread(self, values: Array) -> Array:
        """The sum over each graph, at all of its nodes."""
        return np.asarray(np.bincount(self.query, values)[self.query])


def _fixed_point(step: Any, x: Array) -> Array:
    """The fixed point of a contraction."""
    for _ in range(_STEPS):
        new = step(x)
        change, x = float(np.abs(new - x).sum()), new
        if change <= _TOLERANCE * float(np.abs(x).sum()):
            break
    return x


_STEPS = 100_000
