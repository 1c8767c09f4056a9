"""Features on the scale of grades: each one as a prediction of the grade by least squares, and that of all together.

>>> from podium.data.dataset import Dataset
>>> from podium.transforms import Identity
>>> data = Dataset.from_arrays([[1.0], [2.0], [3.0]], [2, 1, 0])
>>> GradeScale(of=Identity()).apply(GradeScale(of=Identity()).fit(data), data).features.round(2).tolist()
[[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]
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
    """Regressions of the grade on each feature of `of` alone, x' = ȳ + (x − x̄)·cov(x, y)/var(x), and on all together.

    A constant feature becomes ȳ. The regression on all, the last feature, is a ridge regression with a small penalty.
    """

    name = "grade-scale"
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
        X -= mean
        variance = share @ X**2
        flat = variance <= 1e-12 * np.maximum(mean**2, 1e-30)  # rounding of float32
        scale = np.where(flat, 0.0, 1.0 / np.sqrt(np.where(flat, 1.0, variance)))
        X *= scale
        single = (share * (data.labels - level)) @ X
        joint = np.linalg.solve((share[:, None] * X).T @ X + _RIDGE * np.eye(len(mean)), single)
        return {
            **state, "mean": mean, "level": np.array([level]), "slope": single * scale, "weights": joint * scale,
        }  # fmt: skip

    def features(self, state: State, data: Dataset) -> Any:
        X: Any = self.below(state, data) - state["mean"]
        return (state["level"] + np.column_stack([X * state["slope"], X @ state["weights"]])).astype(np.float32)


_RIDGE = 0.001
"""Penalty of the squared weights of z-scores, against the mean squared error."""
