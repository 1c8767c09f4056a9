"""Second-order features: products of two features that correlate with the grade (Truyen et al., 2011).

    transform=second-order                       z-scores, and their products with |correlation| > 0.15
    transform=second-order(correlation=0.1,of=minmax)

The d(d + 1)/2 products are not stored for the choice: with z a product x_k·x_l, the sums Σ z, Σ z² and
Σ zy are entries of the d × d matrices XᵀX, (X∘X)ᵀ(X∘X) and Xᵀdiag(y)X.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import IncompatibleError, needs_memory
from podium.base.registry import param, register
from podium.base.threads import map_blocks
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.transforms.base import State


@register
class SecondOrder(Stacked):
    """Features of `of`, and those of their products and squares whose |correlation| with the grade is large.

    Products are scaled to mean 0 and deviation 1 on the training data.
    Reference: Truyen, Phung & Venkatesh, Probabilistic models over ordered partitions with applications in document
    ranking and collaborative filtering, SDM 2011.
    """

    correlation: float = param(default=0.15, least=0, below=1)
    """Least |correlation| with the grade for which a product is kept."""
    supervised: ClassVar[bool] = True

    def check(self, data: Dataset) -> None:
        super().check(data)
        if data.labels is None:
            raise IncompatibleError(
                f"{self.name} keeps products that correlate with grades, but the data has no labels. "
                "Use transform=zscore, or data with labels."
            )

    def fit(self, data: Dataset) -> State:
        self.check(data)
        state = self.fit_below(data)
        assert data.labels is not None, "checked"
        mean, deviation, correlation = product_statistics(self.below(state, data), data.labels)
        first, second = np.nonzero(np.triu(np.abs(correlation) > self.correlation))
        needs_memory(
            4.0 * data.n_documents * (len(mean) + len(first)),
            f"{self.name} with {len(first)} products",
            instead="Set correlation higher, which keeps fewer.",
        )
        return {
            **state, "first": first, "second": second, "mean": mean[first, second],
            "scale": 1.0 / deviation[first, second],
        }  # fmt: skip

    def features(self, state: State, data: Dataset) -> Any:
        X, first, second = self.below(state, data), state["first"], state["second"]
        d = X.shape[1]
        out = np.empty((len(X), d + len(first)), np.float32)

        def work(a: int, b: int) -> None:
            out[a:b, :d] = X[a:b]
            with np.errstate(over="ignore", invalid="ignore"):  # features near the largest float32
                products = X[a:b, first].astype(np.float64) * X[a:b, second]
                out[a:b, d:] = (products - state["mean"]) * state["scale"]

        map_blocks(work, len(X))
        return out


def product_statistics(X: Singles, labels: Array) -> tuple[Array, Array, Array]:
    """Mean and deviation of each product of two features, and its correlation with the labels, 0 if it is constant.

    Each is (d, d), and costs O(N·d²) in matrix products.
    """
    n, d = X.shape
    y = labels - labels.mean() if n else labels

    def sums(a: int, b: int) -> Array:
        x = X[a:b].astype(np.float64)
        return np.stack([x.T @ x, (x * x).T @ (x * x), x.T @ (y[a:b, None] * x)])

    first, squares, with_y = np.sum(map_blocks(sums, n), axis=0) / n if n else np.zeros((3, d, d))
    variance = squares - first * first
    varies = variance > 1e-12 * squares
    deviation = np.sqrt(np.where(varies, variance, 1.0))
    spread = float(y.std()) if n else 0.0
    return first, deviation, np.where(varies & (spread > 0), with_y / (deviation * (spread or 1.0)), 0.0)
