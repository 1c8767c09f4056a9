"""Features on the scale of grades: each one as a prediction of the grade, by least squares.

>>> from podium.data.dataset import Dataset
>>> from podium.transforms import Identity
>>> data = Dataset.from_arrays([[1.0], [2.0], [3.0]], [2, 1, 0])
>>> GradeScale(of=Identity()).apply(GradeScale(of=Identity()).fit(data), data).features.ravel().tolist()
[2.0, 1.0, 0.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from podium.base.errors import IncompatibleError
from podium.base.registry import register
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.transforms.base import State


@register
class GradeScale(Stacked):
    """Regression of the grade on each feature of `of` alone: x' = ȳ + (x − x̄)·cov(x, y)/var(x), ȳ if constant."""

    name = "grade-scale"
    mixes: ClassVar[bool] = False
    supervised: ClassVar[bool] = True

    def check(self, data: Dataset) -> None:
        super().check(data)
        if data.labels is None:
            raise IncompatibleError(
                f"{self.name} learns the scale of grades, but the data has no labels. Use data with labels."
            )

    def fit(self, data: Dataset) -> State:
        self.check(data)
        assert data.labels is not None, "checked"
        state = self.fit_below(data)
        X: Any = self.below(state, data).astype(np.float64)
        weight = np.ones(len(X)) if data.query_weights is None else data.query_weights[data.query_index]
        share = weight / weight.sum() if len(X) else weight
        mean, level = share @ X, float(share @ data.labels)
        variance = share @ (X - mean) ** 2
        flat = variance <= 1e-12 * np.maximum(mean**2, 1e-30)  # rounding of float32
        slope = np.where(flat, 0.0, (share * (data.labels - level)) @ (X - mean) / np.where(flat, 1.0, variance))
        return {**state, "mean": mean, "slope": slope, "level": np.array([level])}

    def features(self, state: State, data: Dataset) -> Any:
        X: Any = self.below(state, data)
        return (state["level"] + (X - state["mean"]) * state["slope"]).astype(np.float32)
