"""Maximum-entropy flow: PageRank, moved as little as possible until preferences between nodes hold.

    >>> edges = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (3, 0)]
    >>> scores = max_entropy_flow(edges, [(1, 0)], cost=10)
    >>> {node: round(score, 4) for node, score in scores.items()}
    {0: 0.302, 1: 0.302, 2: 0.359, 3: 0.0371}

Reference: Agarwal, Chakrabarti and Aggarwal, Learning to rank networked entities, KDD 2006.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ParameterError
from podium.base.threads import one_blas_thread
from podium.graph.links import Edge, Links, as_links, by_name
from podium.graph.pagerank import stationary


def max_entropy_flow(
    edges: Iterable[Edge] | Links,
    preferences: Iterable[tuple[Any, Any]],
    *,
    cost: float = 1.0,
    margin: float = 0.0,
    damping: float = 0.85,
) -> dict[Any, float]:
    """The flow into each node, which sums to 1; `preferences` are pairs (better node, worse node).

    Of all flows p over links and restarts that sum to 1 and leave each node as they enter it, it is the one with the
    least KL(p‖q) + cost · Σ slack, q being the flow of PageRank, so that for each preference
    in(better) − in(worse) ≥ margin − slack. Without preferences it is PageRank. A larger `cost` follows more of the
    preferences; a `margin` of 0 is content with equal flows. It ranks the nodes of this graph, and says nothing about
    another graph.
    """
    links = as_links(edges)
    return by_name(links, flow_of(links, preferences, cost=cost, margin=margin, damping=damping).scores)


@dataclass(frozen=True, eq=False)
class Flow:
    """A flow, by the solution of the dual problem."""

    scores: Array  # (N,) flow into each node
    multipliers: Array  # (K,) of the preferences, 0 if one costs nothing, `cost` if it is not fulfilled
    divergence: float  # KL(p‖q)


def flow_of(
    links: Links, preferences: Iterable[tuple[Any, Any]], *, cost: float = 1.0, margin: float = 0.0, damping: float
) -> Flow:
    """The flow, with nodes in the order of the links."""
    if not (cost >= 0.0 and math.isfinite(cost)) or not (margin >= 0.0 and math.isfinite(margin)):
        raise ParameterError(
            f"max_entropy_flow: cost and margin must be finite numbers of at least 0; got {cost!r}, {margin!r}."
        )
    better, worse = _places(links, preferences)
    dual = _Dual(*_flow_of_pagerank(links, damping), better, worse, margin)
    n, k = len(links), len(better)
    x = np.zeros(n + k)
    if n and k and cost > 0:
        x = dual.solved(cost)
    return Flow(dual.inflow(x), x[n:], dual.divergence(x))


def _places(links: Links, preferences: Iterable[tuple[Any, Any]]) -> tuple[Ints, Ints]:
    """The numbers of the better and of the worse node of each preference."""
    place = {name: k for k, name in enumerate(links.names)}
    pairs = []
    for pair in preferences:
        if isinstance(pair, str) or len(pair) != 2:
            raise DataError(f"a preference must be (better node, worse node); got {pair!r}.")
        for name in pair:
            if name not in place:
                raise DataError(f"max_entropy_flow: the preference {pair!r} names {name!r}, which is no node.")
        if pair[0] == pair[1]:
            raise DataError(f"max_entropy_flow: the preference {pair!r} is between a node and itself.")
        pairs.append([place[name] for name in pair])
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _flow_of_pagerank(links: Links, damping: float) -> tuple[Any, Array]:
    """q: the flow along links (N, N), and from each node by restarts (N,), which goes to all nodes alike."""
    n = len(links)
    uniform = np.full(n, 1.0 / max(n, 1))
    p = stationary(
        links, damping, restart=uniform, dangling=uniform, tolerance=1e-15, rounds=100_000, who="max_entropy_flow"
    )
    out = np.asarray(links.weights.sum(axis=1))
    along = links.weights.multiply((damping * p / np.where(out > 0, out, 1.0))[:, None]).tocsr()
    return along, np.where(out > 0, (1.0 - damping) * p, p)


@dataclass(frozen=True, eq=False)
class _Dual:
    """The dual problem: max margin·Σc − log Z over β and 0 ≤ c ≤ cost.

    p_uv = q_uv exp(β_v − β_u + h_v)/Z, with h_v = Σ_k c_k([v = better_k] − [v = worse_k]). Restarts are a product of
    two vectors, and never listed.
    """

    along: Any  # (N, N) flow of PageRank along links
    restarts: Array  # (N,) flow from each node by restarts, which spreads evenly
    better: Ints  # (K,)
    worse: Ints  # (K,)
    margin: float

    def solved(self, cost: float) -> Array:
        """β, then c."""
        from scipy.optimize import minimize

        n, k = len(self.restarts), len(self.better)
        bounds = [(None, None)] * n + [(0.0, cost)] * k
        limits: Any = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30}
        with one_blas_thread():  # its matrices are tiny
            result = minimize(self, np.zeros(n + k), jac=True, method="L-BFGS-B", bounds=bounds, options=limits)
        return np.asarray(result.x)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """The negative dual and its gradient."""
        log_z, inflow, outflow = self._flows(x)
        c = x[len(inflow) :]
        by_c = self.margin - inflow[self.better] + inflow[self.worse]
        return log_z - self.margin * float(c.sum()), -np.concatenate([outflow - inflow, by_c])

    def inflow(self, x: Array) -> Array:
        return self._flows(x)[1]

    def divergence(self, x: Array) -> float:
        """KL(p‖q) = Σ p log(p/q)."""
        log_z, inflow, outflow = self._flows(x)
        n = len(inflow)
        return float(inflow @ (x[:n] + self._pushes(x)) - outflow @ x[:n] - log_z) if n else 0.0

    def _pushes(self, x: Array) -> Array:
        """h."""
        n = len(self.restarts)
        up, down = (np.bincount(ends, x[n:], minlength=n) for ends in (self.better, self.worse))
        return np.asarray(up - down)

    def _flows(self, x: Array) -> tuple[float, Array, Array]:
        """log Z, and the flow into and out of each node."""
        n = len(self.restarts)
        if not n:
            return 0.0, np.empty(0), np.empty(0)
        away, towards = -x[:n], x[:n] + self._pushes(x)
        shift, other = away.max(), towards.max()
        e, g = np.exp(away - shift), np.exp(towards - other)
        inflow = g * (self.along.T @ e + (self.restarts @ e) / n)
        outflow = e * (self.along @ g + self.restarts * g.mean())
        z = inflow.sum()
        return float(np.log(z) + shift + other), inflow / z, outflow / z
