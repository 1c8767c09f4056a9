"""Boosted regression trees, grown and evaluated by LightGBM. Parameters are its text model, as bytes in an array."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from podium.registry import param, register
from podium.scorers import tree_text
from podium.scorers.base import Array, Scorer
from podium.threads import default_threads


@register
class Trees(Scorer):
    """A sum of regression trees; `boosting` grows them.

    Cost: O(documents × features) per tree to grow, O(trees × depth) per document to score.
    Use it for: the strongest default on engineered features; takes missing values and any scale.
    Reference: Ke et al., LightGBM, NeurIPS 2017.
    """

    num_leaves: int = param(default=31, least=2, most=131072, search=(4, 64, "log"))
    min_data_in_leaf: int = param(default=20, least=1, search=(5, 100, "log"))
    """The least number of documents in a leaf."""
    feature_fraction: float = param(default=1.0, above=0, most=1, search=(0.3, 1.0))
    """The fraction of features that each tree may use."""
    max_bin: int = param(default=255, least=2)
    solver = "boosting"

    def score(self, params: NDArray[np.uint8], X: Any) -> Array:
        if X.shape[0] == 0:
            return np.empty(0)
        booster = self.booster(params, X.shape[1])
        predicted = booster.predict(for_lightgbm(X), raw_score=True, num_threads=default_threads())
        return np.asarray(predicted, np.float64)

    def booster(self, params: NDArray[np.uint8], n_features: int) -> Any:
        """LightGBM's own object of the trees."""
        return _booster(params.tobytes(), n_features)


def for_lightgbm(X: Any) -> Any:
    """Features in a form that LightGBM takes without converting them: it knows sparse matrices, not sparse arrays."""
    return sp.csr_matrix(X) if isinstance(X, sp.csr_array) else X


@functools.lru_cache(maxsize=8)
def _booster(text: bytes, n_features: int) -> Any:
    import lightgbm

    tree_text.check(text, n_features)
    return lightgbm.Booster(model_str=text.decode())
