"""Conditional random field (CRF) over the labels of a query's documents, given click features.

P(y | x) ∝ exp(Σ_i w_{y_i}·x_i + Σ_{(i,j)} v_{y_i,y_j}·x_ij), over documents i and edges (i, j). Without edges labels
are independent. If every edge joins neighbours, the sum over all labellings is made by forward and backward passes; for
other edges by enumeration if there are at most 10,000 labellings, else the likelihood is replaced by the product of
P(y_i | the other labels, x) (Besag, Statistical analysis of non-lattice data, 1975).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled

LABELLINGS = 10_000
"""Largest number of labellings of a query that are enumerated."""
CHAIN, ENUMERATED, PSEUDO = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Field:
    """Documents of Q queries, each with features, and edges between documents of a query."""

    features: Array  # (N, F)
    offsets: Ints  # (Q+1,)
    ends: Ints  # (E, 2) the documents of each edge, counted from the first of their query
    edge_features: Array  # (E, G)
    edge_offsets: Ints  # (Q+1,)

    def select(self, queries: Ints) -> tuple[Field, Ints]:
        """Select queries; also gives their documents as rows of this field."""
        rows, offsets = _rows(self.offsets, queries)
        edges, edge_offsets = _rows(self.edge_offsets, queries)
        return Field(self.features[rows], offsets, self.ends[edges], self.edge_features[edges], edge_offsets), rows

    def kinds(self, n_labels: int) -> Ints:
        """Inference of each query: CHAIN, ENUMERATED or PSEUDO."""  # (Q,)
        sizes, edges = np.diff(self.offsets), np.diff(self.edge_offsets)
        few = sizes * np.log(max(n_labels, 2)) <= np.log(LABELLINGS) + 1e-9
        apart = self.ends[:, 1] - self.ends[:, 0] != 1
        upto = np.append(0, np.cumsum(apart))
        chain = (upto[self.edge_offsets[1:]] == upto[self.edge_offsets[:-1]]) & (edges == sizes - 1)
        return np.where(chain, CHAIN, np.where((edges > 0) & few, ENUMERATED, PSEUDO))


@dataclass(frozen=True, eq=False)
class Fitted:
    """Weights of a field."""

    nodes: Array  # (L, F)
    edges: Array  # (L·L, G) of labels (first, second)

    def marginals(self, field: Field, labels: Ints) -> Array:
        """P(y_i | x) of each document; for PSEUDO, P(y_i | the other labels, x)."""  # (N, L)
        _, gradient, _ = _likelihood(field, labels, self.nodes, self.edges)
        gradient *= -1.0
        gradient[np.arange(len(labels)), labels] += 1.0
        return np.clip(gradient, 2.0**-53, 1.0)  # the differences above are not finer


def fit(field: Field, labels: Ints, *, n_labels: int, penalty: float) -> Fitted:
    """Fit the weights: maximise log P(labels | x) − penalty/2 · (|w|² + |v|²), by L-BFGS."""
    from scipy.optimize import minimize

    shapes = (n_labels, field.features.shape[1]), (n_labels * n_labels, field.edge_features.shape[1])
    cut = shapes[0][0] * shapes[0][1]

    def objective(theta: Array) -> tuple[float, Array]:
        w, v = theta[:cut].reshape(shapes[0]), theta[cut:].reshape(shapes[1])
        value, nodes, edges = _likelihood(field, labels, w, v)
        gradient = np.concatenate([(nodes.T @ field.features).ravel(), (edges.T @ field.edge_features).ravel()])
        return penalty / 2 * float(theta @ theta) - value, penalty * theta - gradient

    optimum = minimize(
        objective, np.zeros(cut + shapes[1][0] * shapes[1][1]), jac=True, method="L-BFGS-B", options={"ftol": 1e-7}
    )
    return Fitted(optimum.x[:cut].reshape(shapes[0]), optimum.x[cut:].reshape(shapes[1]))


def _likelihood(field: Field, labels: Ints, w: Array, v: Array) -> tuple[float, Array, Array]:
    """log P(labels | x), and its gradient in the potentials of documents (N, L) and edges (E, L·L)."""
    node, edge = field.features @ w.T, field.edge_features @ v.T
    nodes, edges = np.zeros_like(node), np.zeros_like(edge)
    value = _sweep(
        field.kinds(len(w)), node, edge, labels, field.ends, field.offsets, field.edge_offsets, nodes, edges
    )  # fmt: skip
    return float(value), nodes, edges


def _rows(offsets: Ints, queries: Ints) -> tuple[Ints, Ints]:
    parts = [np.arange(offsets[q], offsets[q + 1]) for q in queries]
    sizes = [len(part) for part in parts]
    return np.concatenate(parts or [np.zeros(0, np.int64)]), np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


@compiled
def _sweep(
    kinds: Ints, node: Array, edge: Array, labels: Ints, ends: Ints, offsets: Ints, edge_offsets: Ints, nodes: Array,
    edges: Array,
) -> float:  # fmt: skip
    """Σ over queries of log P(labels); `nodes` and `edges` get observed minus expected counts."""
    total = 0.0
    for q in range(len(kinds)):
        a, b, c, d = offsets[q], offsets[q + 1], edge_offsets[q], edge_offsets[q + 1]
        query = (node[a:b], edge[c:d], labels[a:b], nodes[a:b], edges[c:d])
        if kinds[q] == CHAIN:
            total += _chain(*query)
        elif kinds[q] == ENUMERATED:
            total += _enumerated(*query, ends[c:d])
        else:
            total += _pseudo(*query, ends[c:d])
    return total


@compiled
def _chain(node: Array, edge: Array, labels: Ints, nodes: Array, edges: Array) -> float:
    """Forward f_i(b) = φ_i(b) + log Σ_a exp(f_{i−1}(a) + ψ_i(a, b)), backward likewise; log Z = log Σ_a exp f_n(a)."""
    n, n_labels = node.shape
    forward, backward, work = np.empty((n, n_labels)), np.zeros((n, n_labels)), np.empty(n_labels)
    value = 0.0
    for i in range(n):
        value += node[i, labels[i]]
        if i > 0:
            value += edge[i - 1, labels[i - 1] * n_labels + labels[i]]
        for b in range(n_labels):
            forward[i, b] = node[i, b]
            if i > 0:
                for a in range(n_labels):
                    work[a] = forward[i - 1, a] + edge[i - 1, a * n_labels + b]
                forward[i, b] += _log_sum(work)
    for i in range(n - 2, -1, -1):
        for a in range(n_labels):
            for b in range(n_labels):
                work[b] = edge[i, a * n_labels + b] + node[i + 1, b] + backward[i + 1, b]
            backward[i, a] = _log_sum(work)
    log_z = _log_sum(forward[n - 1])
    for i in range(n):
        nodes[i, labels[i]] += 1.0
        for a in range(n_labels):
            nodes[i, a] -= np.exp(forward[i, a] + backward[i, a] - log_z)
            if i + 1 < n:
                for b in range(n_labels):
                    together = edge[i, a * n_labels + b] + node[i + 1, b] + backward[i + 1, b]
                    edges[i, a * n_labels + b] -= np.exp(forward[i, a] + together - log_z)
        if i + 1 < n:
            edges[i, labels[i] * n_labels + labels[i + 1]] += 1.0
    return value - log_z


@compiled
def _enumerated(node: Array, edge: Array, labels: Ints, nodes: Array, edges: Array, ends: Ints) -> float:
    """Enumerate all labellings, document by document: energies forwards, and sums of e^energy backwards."""
    n, n_labels = node.shape
    table = np.zeros((n, n, n_labels * n_labels))  # ψ of documents i < j, 0 without an edge
    for e in range(len(ends)):
        table[ends[e, 0], ends[e, 1]] += edge[e]
    energy, y = np.zeros(1), np.empty(n, np.int64)
    for d in range(n):  # the labellings of the first d documents become those of the first d + 1
        longer = np.empty(len(energy) * n_labels)
        y[:] = 0
        for k in range(len(energy)):
            for a in range(n_labels):
                total = energy[k] + node[d, a]
                for i in range(d):
                    total += table[i, d, y[i] * n_labels + a]
                longer[k * n_labels + a] = total
            _next(y[:d], n_labels)
        energy = longer
    highest = energy.max()
    mass = np.exp(energy - highest)
    z = mass.sum()
    mass /= z
    single, both = np.zeros((n, n_labels)), np.zeros((n, n, n_labels * n_labels))
    for d in range(n - 1, -1, -1):
        shorter = np.zeros(len(mass) // n_labels)
        y[:] = 0
        for k in range(len(shorter)):
            for a in range(n_labels):
                p = mass[k * n_labels + a]
                shorter[k] += p
                single[d, a] += p
                for i in range(d):
                    both[i, d, y[i] * n_labels + a] += p
            _next(y[:d], n_labels)
        mass = shorter
    value = 0.0
    for i in range(n):
        value += node[i, labels[i]]
        nodes[i] -= single[i]
        nodes[i, labels[i]] += 1.0
    for e in range(len(ends)):
        i, j = ends[e, 0], ends[e, 1]
        value += edge[e, labels[i] * n_labels + labels[j]]
        edges[e] -= both[i, j]
        edges[e, labels[i] * n_labels + labels[j]] += 1.0
    return float(value - highest - np.log(z))


@compiled
def _pseudo(node: Array, edge: Array, labels: Ints, nodes: Array, edges: Array, ends: Ints) -> float:
    """Pseudo-likelihood Σ_i log P(y_i | the other labels)."""
    n, n_labels = node.shape
    potentials = node.copy()
    for e in range(len(ends)):
        i, j = ends[e, 0], ends[e, 1]
        for a in range(n_labels):
            potentials[i, a] += edge[e, a * n_labels + labels[j]]
            potentials[j, a] += edge[e, labels[i] * n_labels + a]
    value = 0.0
    for i in range(n):
        log_z = _log_sum(potentials[i])
        value += potentials[i, labels[i]] - log_z
        for a in range(n_labels):
            potentials[i, a] = np.exp(potentials[i, a] - log_z)  # from here on P(a | the others)
            nodes[i, a] -= potentials[i, a]
        nodes[i, labels[i]] += 1.0
    for e in range(len(ends)):
        i, j = ends[e, 0], ends[e, 1]
        edges[e, labels[i] * n_labels + labels[j]] += 2.0
        for a in range(n_labels):
            edges[e, a * n_labels + labels[j]] -= potentials[i, a]
            edges[e, labels[i] * n_labels + a] -= potentials[j, a]
    return value


@compiled
def _next(y: Ints, n_labels: int) -> None:
    """Step to the next labelling, the last document's label changing fastest."""
    for i in range(len(y) - 1, -1, -1):
        y[i] += 1
        if y[i] < n_labels:
            return
        y[i] = 0


@compiled
def _log_sum(values: Array) -> float:
    """log Σ exp."""
    highest = values.max()
    total = 0.0
    for value in values:
        total += np.exp(value - highest)
    return float(highest + np.log(total))
