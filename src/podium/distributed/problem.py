"""DistributedProblem: a loss of a scorer as one function of parameters, summed over parts that workers keep.

Solvers run unchanged, in the client: whatever they ask of a problem is a sum over queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from podium.arrays import Array
from podium.data.dataset import Dataset
from podium.distributed import parts
from podium.distributed.parts import Request
from podium.problem import Problem


@dataclass(frozen=True, eq=False)
class DistributedProblem(Problem):
    """`data` has no features here; `kept` are the handles of the parts that begin at the queries `bounds`."""

    cluster: Any = None  # a Cluster
    kept: tuple[Any, ...] = ()
    bounds: Any = None  # (P+1,) int64

    def on(self, data: Dataset, theta: Array, step: int | None = None) -> tuple[float, Array]:
        request = self._request(theta)
        if data is self.data:
            found = self.cluster.map(parts.sums, self.kept, request, None, step)
        else:
            found = self.cluster.each(parts.sums, [(kept, request, some, step) for kept, some in self._shares(data)])
        total, gradient = found[0][0], found[0][1]
        for one, down in found[1:]:  # in the order of the parts, whoever was first
            total, gradient = total + one, gradient + down
        value, gradient = total / data.n_queries, gradient / data.n_queries
        if self.penalty == 0.0:
            return value, gradient
        return value + self._shrinkage(theta), gradient + self.penalty * self.penalised * theta

    def scores(self, theta: Array, data: Dataset) -> Array:
        """Scores of other data; those of the training data stay where its parts are, as the parameters they come of."""
        return cast(Any, _At(theta)) if data is self.data else super().scores(theta, data)

    def value(self, theta: Array, scores: Array) -> float:
        found = self.cluster.map(parts.value, self.kept, self._request(_theta(scores)))
        return float(sum(found)) / self.data.n_queries + self._shrinkage(theta)

    def hessian_product(self, scores: Array, v: Array, *, along: Array) -> Array:
        found = self.cluster.map(parts.hessian_product, self.kept, self._request(_theta(scores)), _theta(along))
        down = np.asarray(sum(found[1:], found[0]))
        return np.asarray(down / self.data.n_queries + self.penalty * self.penalised * v)

    def _request(self, theta: Array) -> Request:
        params, loss = self.split(theta)
        return Request(loss, self._smooth, loss.constants(self.data), params["theta"])

    def _shares(self, data: Dataset) -> list[tuple[Any, Any]]:
        """The parts that have queries of a batch, and their numbers there, in the order of the batch."""
        queries = np.asarray(data.query_ids, np.int64)
        part = np.searchsorted(self.bounds, queries, side="right") - 1
        return [(self.kept[p], queries[part == p] - int(self.bounds[p])) for p in np.unique(part).tolist()]


class _At:
    """The scores at some parameters, which a linear scorer adds and scales as it does the parameters."""

    def __init__(self, theta: Array) -> None:
        self.theta = theta

    def __add__(self, other: _At) -> _At:
        return _At(self.theta + other.theta)

    def __rmul__(self, length: float) -> _At:
        return _At(length * self.theta)


def _theta(scores: Any) -> Array:
    return cast(_At, scores).theta
