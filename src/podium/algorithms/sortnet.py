"""SortNet: a neural network compares two documents, and documents are sorted by it (Rigutini et al., 2011).

>>> from podium.algorithms import SortNet
>>> SortNet(hidden=20, order="wins")
sortnet(hidden=20,order=wins)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from podium.algorithms.comparator import add_pairs, sort_queries
from podium.algorithms.requirements import needs_pairs
from podium.base.arrays import Array, Ints, Singles, dense
from podium.base.errors import needs_memory
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.data.preferences import from_labels
from podium.learner import Learned, Learner, fitted
from podium.problem import refuse_missing
from podium.scorers import Params
from podium.solvers import Adam, Watch
from podium.transforms import Transform, ZScore

if TYPE_CHECKING:
    import scipy.sparse as sp


@register
class SortNet(Learner):
    """Neural comparison of two documents: learns which one comes first, and sorts by the answers.

    Formula: hidden units u = σ(Vx + Uy + b), v = σ(Vy + Ux + b); outputs N≻ = σ(⟨w,u⟩ + ⟨w',v⟩ + c) and
        N≺ = σ(⟨w,v⟩ + ⟨w',u⟩ + c), so that N≻(x,y) = N≺(y,x): the comparator N≻ − N≺ is antisymmetric. It minimises
        (P̄ − N≻)² + (1 − P̄ − N≺)² over pairs, P̄ = 1 if x is better than y, by Adam with weight decay λ, a query per
        step. Pairs that are sorted in the wrong order after a round count twice in the next.
    Ties: documents of equal grade are not compared. Answers need not be transitive. `order=sort`: merge sort, from the
        order by comparison with the mean document, which always ends and does not depend on the input's order;
        `order=wins`: the number of others that a document beats. A score is a position in the order: it is not
        comparable across queries, and depends on the other documents of the query.
    Cost: O(n·F·H + pairs·H) per query and round; to rank, O(n·F·H + n log n·H), by wins O(n·F·H + n²·H).
    Use it for: intransitive preferences, which no score explains. Takes explicit preferences.
    Reference: Rigutini, Papini, Maggini and Scarselli, SortNet: learning to rank by a neural preference function, 2011.
    """

    hidden: int = param(default=10, least=1, search=(4, 40, "log"))
    """Pairs of hidden units."""
    learning_rate: float = param(default=0.003, above=0, search=(3e-4, 0.1, "log"))
    """Length of a step."""
    penalty: float = param(default=0.01, least=0)
    """λ, the weight decay."""
    rounds: int = param(default=100, least=1)
    """Most passes over the training queries."""
    order: Literal["sort", "wins"] = "sort"
    """Order from comparisons: by merge sort (`sort`), or by the number of documents that each beats (`wins`)."""
    patience: int | None = param(default=20, least=1)
    """Early stopping: end after this many rounds without a better validation metric."""
    transform: Transform = ZScore()
    name = "sortnet"

    @property
    def per_query(self) -> bool:
        return True

    def check(self, data: Dataset) -> None:
        needs_pairs(data, self.name)
        pairs = len(data.preferences) if data.preferences is not None else float(np.sum(data.sizes**2)) / 2
        needs_memory(pairs * 48, self.name, instead="Use ranknet(scorer=mlp), or fewer documents per query.")

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        refuse_missing(data, self.name)
        pairs = start = _pairs(data)
        theta = _start(data.n_features, self.hidden, rng)
        adam = Adam(learning_rate=self.learning_rate)
        memory, queries = adam.begin(theta), _queries(data, pairs)
        value, rounds, reason = np.inf, 0, f"{self.rounds} rounds were allowed"
        for rounds in range(1, self.rounds + 1):
            rng.shuffle(queries)
            values = []
            for q in queries:
                loss, gradient = self._loss(theta, data, pairs, int(q))
                theta = (1 - self.learning_rate * self.penalty) * theta - adam.step(gradient, memory)
                values.append(loss)
            value = float(np.mean(values))
            if not np.isfinite(theta).all():
                reason = f"diverged in round {rounds}; use a smaller rate than {self.learning_rate}"
                break
            now = self._as_params(theta, data.n_features)
            if watch.record(
                rounds, self.rounds, value, scores=lambda other, now=now: self.score(now, other),  # type: ignore[misc]
                state=now, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
            pairs = _with_misordered(start, self.score(now, data), data.offsets)
        params = self._as_params(theta, data.n_features) if watch.best is None else watch.best_state
        return Learned(self, params, {"stopped": reason, "iterations": rounds, "objective": value})

    def score(self, params: Params, data: Dataset) -> Array:
        refuse_missing(data, self.name)
        net = self._net(params, data)
        scores = np.zeros(data.n_documents)
        sort_queries(net.A, net.B, net.b, net.out, data.offsets, self.order == "wins", scores)
        return scores

    def compare(self, params: Params, data: Dataset) -> Array:
        """N≻(x_i, x_j) − N≺(x_i, x_j) for all documents of one query."""  # (n, n)
        net = self._net(params, data)
        u = _sigmoid(net.A[:, None] + net.B[None] + net.b)
        v = u.transpose(1, 0, 2)
        better, worse = (x @ net.out[0] + y @ net.out[1] + net.out[2, 0] for x, y in ((u, v), (v, u)))
        return np.asarray(_sigmoid(better) - _sigmoid(worse))

    def _net(self, params: Params, data: Dataset) -> _Net:
        """The products of each document with the first layer, and the rest of the network."""
        V, U = fitted(params, "first", (2, data.n_features, self.hidden))
        b, out = fitted(params, "bias", (self.hidden,)), fitted(params, "out", (3, self.hidden))
        return _Net(_times(data.features, V), _times(data.features, U), b, out)

    def _as_params(self, theta: Array, n_features: int) -> Params:
        cut = 2 * n_features * self.hidden
        first, bias, out = np.split(theta, [cut, cut + self.hidden])
        filled = np.append(out, np.zeros(self.hidden - 1))  # w, w', and c at the start of the last row
        return {
            "first": first.reshape(2, n_features, self.hidden),
            "bias": bias,
            "out": filled.reshape(3, self.hidden),
        }

    def _loss(self, theta: Array, data: Dataset, pairs: _Pairs, q: int) -> tuple[float, Array]:
        """Mean loss over a query's pairs, times the query's weight, and its gradient."""
        params = self._as_params(theta, data.n_features)
        X = data.features[data.offsets[q] : data.offsets[q + 1]]
        A, B = (_times(X, layer) for layer in params["first"])
        part = slice(pairs.offsets[q], pairs.offsets[q + 1])
        dA, dB, db, dout = np.zeros_like(A), np.zeros_like(B), np.zeros(self.hidden), np.zeros((3, self.hidden))
        edges = (pairs.winner[part], pairs.loser[part], pairs.target[part], pairs.weight[part])
        value = add_pairs(A, B, params["bias"], params["out"], *edges, dA, dB, db, dout)
        gradient = np.concatenate([(X.T @ dA).ravel(), (X.T @ dB).ravel(), db, dout.ravel()[: 2 * self.hidden + 1]])
        scale = (1.0 if data.query_weights is None else data.query_weights[q]) / pairs.weight[part].sum()
        return value * scale, gradient * scale


class _Net(NamedTuple):
    A: Array  # (N, H) Vx
    B: Array  # (N, H) Ux
    b: Array  # (H,)
    out: Array  # (3, H): w, w', and c at its start


class _Pairs(NamedTuple):
    """Training pairs, those of query q at offsets[q]:offsets[q+1]; documents are numbered within the query."""

    winner: Ints
    loser: Ints
    target: Array  # the probability that the winner comes first
    weight: Array  # how often the pair is in the set
    offsets: Ints


def _pairs(data: Dataset) -> _Pairs:
    edges = data.preferences
    if edges is None:
        assert data.labels is not None
        edges = from_labels(data.labels, data.offsets)
    winner, loser = edges.edges[:, 0].astype(np.int64), edges.edges[:, 1].astype(np.int64)
    target = np.ascontiguousarray(edges.edges[:, 2])
    return _Pairs(winner, loser, target, np.ascontiguousarray(edges.edges[:, 3]), edges.offsets)


def _queries(data: Dataset, pairs: _Pairs) -> Ints:
    """Queries that have pairs, in an order that does not depend on that of the input."""
    import scipy.sparse as sp

    gather = sp.csr_array((np.ones(data.n_documents), np.arange(data.n_documents), data.offsets))
    sums = gather @ data.features
    by_features = np.lexsort(np.round(dense(sums), 6).T)
    return by_features[np.diff(pairs.offsets)[by_features] > 0]


def _with_misordered(pairs: _Pairs, scores: Array, offsets: Ints) -> _Pairs:
    """The pairs, with double weight if they are in the wrong order."""
    first = np.repeat(offsets[:-1], np.diff(pairs.offsets))
    ahead = scores[first + pairs.winner] - scores[first + pairs.loser]
    return pairs._replace(weight=pairs.weight * (1.0 + (ahead * (pairs.target - 0.5) < 0)))


def _start(n_features: int, hidden: int, rng: np.random.Generator) -> Array:
    """Uniform in ±1/√(inputs) for each layer; no offsets."""
    first = rng.uniform(-1, 1, 2 * n_features * hidden) / np.sqrt(2 * n_features)
    out = rng.uniform(-1, 1, 2 * hidden) / np.sqrt(2 * hidden)
    return np.concatenate([first, np.zeros(hidden), out, [0.0]])


def _times(X: Singles | sp.csr_array, layer: Array) -> Array:
    return np.ascontiguousarray(X @ layer, np.float64)


def _sigmoid(z: Array) -> Array:
    from scipy.special import expit

    return np.asarray(expit(z))
