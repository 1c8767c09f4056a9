"""Distributed problem: a loss of a scorer as one function of parameters, summed over the workers' parts of the data.

Solvers run unchanged, in the client: everything they need of a problem is a sum over queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.data.dataset import Dataset
from podium.distributed import parts
from podium.distributed.parts import Request
from podium.problem import Point, Problem


@dataclass(frozen=True, eq=False)
class DistributedProblem(Problem):
    """Problem whose `data` has no features; `kept` are handles of the parts that begin at the queries `bounds`."""

    cluster: Any = None  # a Cluster
    kept: tuple[Any, ...] = ()
    bounds: Any = None  # (P+1,) int64

    def on(self, data: Dataset, theta: Array, step: int | None = None) -> tuple[float, Array]:
        request = self._request(theta, step)
        if data is self.data:
            sums = self.cluster.map(parts.sums, self.kept, request, None)
        else:
            sums = self.cluster.each(parts.sums, [(kept, request, queries) for kept, queries in self._shares(data)])
        total, gradient = sums[0]
        for loss, down in sums[1:]:  # fixed order of summation, for equal bits
            total, gradient = total + loss, gradient + down
        value, gradient = total / data.n_queries, gradient / data.n_queries
        if self.penalty == 0.0:
            return value, gradient
        return value + self._shrinkage(theta), gradient + self.penalty * self.penalised * theta

    def point(self, theta: Array) -> Point:
        """Parameters without scores, which stay on the workers."""
        return Point(theta, None)

    def value_at(self, point: Point) -> float:
        """Objective F, by a pass of every part over its features."""
        losses = self.cluster.map(parts.value, self.kept, self._request(point.theta))
        return float(sum(losses)) / self.data.n_queries + self._shrinkage(point.theta)

    def hessian_product_at(self, point: Point, v: Point) -> Array:
        """Hessian product ∇²F·v, by two passes of every part over its features."""
        products = self.cluster.map(parts.hessian_product, self.kept, self._request(point.theta), v.theta)
        down = np.asarray(sum(products[1:], products[0]))
        return np.asarray(down / self.data.n_queries + self.penalty * self.penalised * v.theta)

    def _request(self, theta: Array, step: int | None = None) -> Request:
        params, loss = self.split(theta)
        constants = loss.resampled_constants(loss.constants(self.data), step)
        scorer = self._smooth if step is None else self._smooth.resampled(step)
        return Request(loss, scorer, constants, params["theta"])

    def _shares(self, data: Dataset) -> list[tuple[Any, Ints]]:
        """Parts with queries of a batch, and the indices of these queries in the part, in the order of the batch."""
        queries = np.asarray(data.query_ids, np.int64)
        part = np.searchsorted(self.bounds, queries, side="right") - 1
        return [(self.kept[p], queries[part == p] - int(self.bounds[p])) for p in np.unique(part).tolist()]
