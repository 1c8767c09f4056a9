"""Boosted regression trees, grown by LightGBM; params["trees"] is its text model, as bytes.

Where params["exact"] is there, the trees are another library's: values next to 0 are then themselves, not 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.scorers.base import Params, Prepared, Scorer
from podium.scorers.forms import TreesForm
from podium.scorers.trees import lightgbm_text
from podium.scorers.trees.lightgbm_text import read_forest


@register
class Trees(Scorer):
    """A sum of regression trees; `boosting` grows them.

    Cost: O(documents × features) per tree to grow, O(trees × depth) per document to score.
    Use it for: the strongest default on engineered features; takes missing values and any scale.
    Reference: Ke et al., LightGBM, NeurIPS 2017.
    """

    num_leaves: int = param(default=31, least=2, most=131072, search=(4, 64, "log"))
    min_data_in_leaf: int = param(default=20, least=0, search=(5, 100, "log"))
    """The least number of documents in a leaf. A cluster estimates it, so that its trees are not one machine's."""
    min_sum_hessian_in_leaf: float = param(default=1e-3, above=0)
    """The least sum of curvature in a leaf. With min_data_in_leaf=0, a cluster has one machine's trees by it."""
    feature_fraction: float = param(default=1.0, above=0, most=1, search=(0.3, 1.0))
    """The fraction of features that each tree may use."""
    max_bin: int = param(default=255, least=2)
    solver = "boosting"
    per_query = False

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        from podium.scorers.trees.quickscorer import lay_out

        text = params.get("trees", np.empty(0, np.uint8))
        scores = lay_out(read_forest(text, n_features, exact="exact" in params))

        def score(data: Dataset) -> Array:
            if data.n_features != n_features:
                raise IncompatibleError(f"trees over {n_features} features cannot score {data.n_features} features.")
            return scores(data.features)

        return score

    def form(self, params: Params, n_features: int) -> TreesForm:
        return TreesForm(params["trees"], n_features, "exact" in params)


def booster(text: NDArray[np.uint8], n_features: int) -> Any:
    """LightGBM's own object of trees, parsed from their text, which is checked first."""
    import lightgbm

    whole = text.tobytes()
    lightgbm_text.check(whole, n_features)
    return lightgbm.Booster(model_str=whole.decode())
