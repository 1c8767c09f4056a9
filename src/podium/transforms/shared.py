"""Several tasks in one model: weights that all tasks share, and weights of each task.

method 'listnet(transform=shared(by=market))'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import dense, is_sparse
from podium.base.registry import param, register
from podium.transforms.base import State
from podium.transforms.stacked import Stacked
from podium.transforms.tasks import fit_tasks, n_clusters, n_tasks, task_columns, tasks_of

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class Shared(Stacked):
    """x of `of`, followed by a copy ρx for each task, which is 0 for queries of other tasks. The result is sparse.

    A linear model has the weights w_t = w_0 + ρv_t with the penalty λ(‖w_0‖² + Σ‖v_t‖²): small ρ pools the tasks, large
    ρ separates them, and a task without training queries uses w_0. References: Evgeniou and Pontil, Regularized
    multi-task learning, KDD 2004; Daumé, Frustratingly easy domain adaptation, ACL 2007.
    """

    name = "shared"
    per_query = True
    why_not_trees = (
        "shared is for linear models and networks. With trees, give the task as a column: transform=with-query, or "
        "adapted(by=…)."
    )
    by: str = "market"
    """Query feature that names a query's task, or cluster(8) for clusters of queries."""
    strength: float = param(default=1.0, above=0, search=(0.1, 10.0, "log"))
    """ρ: how far tasks may differ; 0.5, 1 and 2 are tried on validation data."""
    queries: tuple[str, ...] = ()
    """For clusters: the query features, or query-profile, that describe a query; all query features by default."""

    def __post_init__(self) -> None:
        super().__post_init__()
        n_clusters(self.by)  # raises an error if it is misspelt

    def grid(self) -> dict[str, tuple[Any, ...]]:
        return {"strength": (1.0, 0.5, 2.0)}

    def query_columns(self, state: State) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*super().query_columns(state), *task_columns(self.by, state)]))

    def check(self, data: Dataset) -> None:
        super().check(data)
        fit_tasks(self.by, self.queries, data, self.name)

    def fit(self, data: Dataset) -> State:
        tasks = fit_tasks(self.by, self.queries, data, self.name)
        return tasks | self.fit_below(data)

    def features(self, state: State, data: Dataset) -> Any:
        import scipy.sparse as sp

        below = self.of.features(self.state_below(state), data)
        X = sp.csr_array(below if is_sparse(below) else dense(below))
        count, d = max(n_tasks(state), 1), X.shape[1]
        task = tasks_of(self.by, self.queries, state, data, self.name)[data.query_index]
        of_values = np.repeat(task, np.diff(X.indptr))
        columns = X.indices + d * np.maximum(of_values, 0)
        values = np.where(of_values < 0, np.float32(0), np.float32(self.strength) * X.data)
        own = sp.csr_array((values, columns, X.indptr), shape=(len(task), d * count))
        own.eliminate_zeros()
        return sp.csr_array(sp.hstack([X, own], format="csr"), dtype=np.float32)
