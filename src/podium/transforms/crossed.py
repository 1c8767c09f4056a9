"""Products of features and query features: a linear ranker whose weights depend on the query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import dense
from podium.base.errors import needs_memory
from podium.base.registry import register
from podium.transforms.base import State
from podium.transforms.query_columns import OnQueries, fit_query_columns, query_columns

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class Crossed(OnQueries):
    """Appends x·z_m for each feature x of `of` and each number z_m that describes the query.

    A linear model has the weights w(q) = w + Σ_m z_m(q) w_m: the query-dependent ranker in one model.
    """

    name = "crossed"

    def check(self, data: Dataset) -> None:
        super().check(data)
        state = fit_query_columns(self.queries, data, self.name)
        few = data.select(np.arange(min(data.n_queries, 1)))
        width = query_columns(self.queries, state, few, self.name).shape[1]
        needs_memory(
            4.0 * data.n_documents * data.n_features * (1 + width),
            f"{self.name}: products of {data.n_features} features and {width} of queries",
            instead="Name fewer query features, queries=[…], or use shared(by=…), which is sparse.",
        )

    def features(self, state: State, data: Dataset) -> Any:
        z = query_columns(self.queries, state, data, self.name)[data.query_index].astype(np.float32)
        X = dense(self.of.features(self.state_below(state), data))
        return np.hstack([X, *(X * z[:, m, None] for m in range(z.shape[1]))])
