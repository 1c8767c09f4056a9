"""Features of the query beside those of the document, as a switch for trees and networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import dense
from podium.base.registry import register
from podium.transforms.base import State
from podium.transforms.query_columns import fit_query_columns, names_of, query_columns
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class WithQuery(Stacked):
    """Appends the query's own features to `of`: numbers as z-scores, and 0 or 1 for each value of a category.

    They are the same for all documents of a query: a linear ranker gains nothing, trees and networks can switch by
    them.
    """

    name = "with-query"
    per_query = True
    queries: tuple[str, ...] = ()
    """Names of query features, or query-profile; all query features by default."""

    def query_columns(self, state: State) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*super().query_columns(state), *names_of(state)]))

    def check(self, data: Dataset) -> None:
        super().check(data)
        fit_query_columns(self.queries, data, self.name)

    def fit(self, data: Dataset) -> State:
        columns = fit_query_columns(self.queries, data, self.name)
        return columns | self.fit_below(data)

    def features(self, state: State, data: Dataset) -> Any:
        z = query_columns(self.queries, state, data, self.name)
        X = dense(self.of.features(self.state_below(state), data))
        return np.hstack([X, z[data.query_index].astype(np.float32)])
