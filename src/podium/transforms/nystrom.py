"""Nyström features (Williams & Seeger, 2001): features of a Gaussian (RBF) kernel, which make linear scorers nonlinear.

    transform=nystrom                                  300 landmarks on z-scores
    transform=nystrom(components=none,gamma=0.5)       every training document a landmark: the exact kernel

With landmarks l_1 … l_m, K the m × m matrix of k(l_a, l_b) = e^(−γ‖l_a − l_b‖²/d), d features, the features of
x are K^(−½)·(k(x, l_1), …, k(x, l_m)): their inner products are the kernel's, exactly so between landmarks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Words
from podium.base.errors import needs_memory
from podium.base.registry import param, register
from podium.base.threads import map_blocks
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.transforms.base import State


@register
class Nystrom(Stacked):
    """Features whose inner products approximate a Gaussian (RBF) kernel, from `components` random distinct documents.

    With components=none every training document is a landmark, and the kernel is exact. γ is divided by the number of
    features, so that the same values suit few features and many. Cost: O(N·m·d + N·m²), and m² memory.
    Reference: Williams & Seeger, Using the Nyström method to speed up kernel machines, NIPS 2001.
    """

    components: int | None = param(default=300, least=1)
    """Documents that serve as landmarks; none for all training documents, an exact kernel."""
    gamma: float = param(default=1.0, above=0, search=(0.03, 30.0, "log"))
    """Width of the kernel: it falls as e^(−γ‖x − x′‖²/features)."""
    seed: int = param(default=0, least=0)
    """Seed of the choice of landmarks."""

    def check(self, data: Dataset) -> None:
        super().check(data)
        n, m = data.n_documents, self._count(data)
        needs_memory(
            24.0 * m * m + 4.0 * n * m,
            f"a kernel with {m} of {n} documents as landmarks",
            instead="Use nystrom(components=300), or a linear scorer on transform=zscore.",
        )

    def fit(self, data: Dataset) -> State:
        self.check(data)
        state = self.fit_below(data)
        X = self.below(state, data)
        _, drawn = np.unique(_lots(data.dense().features, self.seed), return_index=True)
        landmarks = X[drawn[: self._count(data)]].astype(np.float64)
        gamma = np.float64(self.gamma / max(X.shape[1], 1))
        values, vectors = np.linalg.eigh(gaussian(landmarks, landmarks, gamma))
        kept = values > 1e-10 * values.max(initial=0.0)  # the others are linear combinations of these, up to rounding
        root = vectors[:, kept] / np.sqrt(values[kept])
        return {**state, "landmarks": landmarks, "root": root, "gamma": np.array([gamma])}

    def features(self, state: State, data: Dataset) -> Any:
        X, landmarks, root, gamma = self.below(state, data), state["landmarks"], state["root"], state["gamma"][0]
        out = np.empty((len(X), root.shape[1]), np.float32)

        def work(a: int, b: int) -> None:
            out[a:b] = gaussian(X[a:b].astype(np.float64), landmarks, gamma) @ root

        map_blocks(work, len(X))
        return out

    def apply(self, state: State, data: Dataset) -> Dataset:
        """Dataset with the features of the kernel, which have no names."""
        return replace(data, features=self.features(state, data), feature_names=None)

    def _count(self, data: Dataset) -> int:
        return data.n_documents if self.components is None else min(self.components, data.n_documents)


def _lots(X: Any, seed: int) -> Words:
    """Random number hashed from each row, so that sampling does not depend on row order; equal for equal rows."""
    lots = np.full(len(X), seed + 1, np.uint64)
    for k in range(X.shape[1]):
        lots ^= (X[:, k] + np.float32(0)).view(np.uint32)  # −0 becomes 0
        lots *= np.uint64(0x9E3779B97F4A7C15)
        lots ^= lots >> np.uint64(29)
    lots *= np.uint64(0xBF58476D1CE4E5B9)
    return lots ^ (lots >> np.uint64(32))


def gaussian(X: Array, Z: Array, gamma: np.float64) -> Array:
    """e^(−γ‖x − z‖²) for each row of X and of Z."""
    return np.asarray(np.exp(-gamma * squared_distances(X, Z)))


def squared_distances(X: Array, Z: Array) -> Array:
    """‖x − z‖² for each row of X and of Z."""
    squares = np.sum(X * X, axis=1)[:, None] + np.sum(Z * Z, axis=1)[None, :] - 2.0 * X @ Z.T
    return np.asarray(np.maximum(squares, 0.0))
