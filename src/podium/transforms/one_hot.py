"""One-hot encoding: a feature of 0 and 1 for each category.

>>> import numpy as np
>>> from dataclasses import replace
>>> from podium.data.dataset import Dataset
>>> from podium.transforms import Identity
>>> data = replace(Dataset.from_arrays([[0.0, 3.0], [1.0, 4.0]], group=[2]), categories={0: ("red", "blue")})
>>> transform = OneHot(of=Identity())
>>> transform.apply(transform.fit(data), data).features.tolist()
[[3.0, 1.0, 0.0], [4.0, 0.0, 1.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.transforms.base import State
from podium.transforms.coded import Coded, category_columns

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


@register
class OneHot(Coded):
    """A feature of 0 and 1 for each category, after the other features; a missing or unseen category is 0 in all.

    Use it for: linear models and networks on features of few categories; trees split categories themselves.
    """

    name = "one-hot"
    most: int = param(default=50, least=2)
    """The largest number of categories of a feature."""

    def check(self, data: Dataset) -> None:
        for column, kept in (data.categories or {}).items():
            if len(kept) > self.most:
                called = repr(data.feature_names[column]) if data.feature_names else column + 1
                raise IncompatibleError(
                    f"feature {called} has {len(kept)} categories, and one-hot takes at most {self.most}. Use "
                    "transform=target-statistics, or one-hot(most=…)."
                )

    def fit(self, data: Dataset) -> State:
        self.check(data)
        columns = category_columns(data)
        state: State = {
            "columns": columns,
            "sizes": np.array([len((data.categories or {})[c]) for c in columns], np.int64),
        }
        return self.with_below(state, self.spread_out(state, data))

    def numbers(self, state: State, codes: Array, column: int) -> Array:
        size = int(state["sizes"][state["columns"] == column][0])
        indicators: Array = (codes[:, None] == np.arange(size)).astype(np.float64)
        return indicators
