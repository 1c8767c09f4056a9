"""Features of the query beside those of the document, as a switch for trees and networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import dense
from podium.base.registry import register
from podium.transforms.base import State
from podium.transforms.query_columns import OnQueries, query_columns

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class WithQuery(OnQueries):
    """Appends the query's own features to `of`: numbers as z-scores, and 0 or 1 for each value of a category.

    They are the same for all documents of a query: a linear ranker gains nothing, trees and networks can switch by
    them.
    """

    name = "with-query"

    def features(self, state: State, data: Dataset) -> Any:
        z = query_columns(self.queries, state, data, self.name)
        X = dense(self.of.features(self.state_below(state), data))
        return np.hstack([X, z[data.query_index].astype(np.float32)])
