"""Boosted regression trees, grown by LightGBM; params["trees"] is its text model, as bytes.

If there is params["exact"], the trees are of another library: tiny values are compared as they are, not as 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Bytes
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.scorers.base import Params, Prepared, Scorer
from podium.scorers.forms import TreesForm
from podium.scorers.trees import lightgbm_text
from podium.scorers.trees.constraints import check_constraints
from podium.scorers.trees.lightgbm_text import read_forest


@register
class Trees(Scorer):
    """Sum of regression trees (gradient boosted decision trees); the solver `boosting` grows them.

    Cost: O(documents × features) per tree to grow, O(trees × depth) per document to score.
    Use it for: the strongest default on engineered features; handles missing values and any scale.
    Reference: Ke et al., LightGBM, NeurIPS 2017.
    """

    num_leaves: int = param(default=31, least=2, most=131072, search=(4, 64, "log"))
    min_data_in_leaf: int = param(default=20, least=0, search=(5, 100, "log"))
    """Minimum number of documents in a leaf. A cluster estimates it, so its trees differ from one machine's."""
    min_sum_hessian_in_leaf: float = param(default=1e-3, above=0)
    """Minimum sum of curvature in a leaf. With min_data_in_leaf=0, a cluster grows the same trees as one machine."""
    feature_fraction: float = param(default=1.0, above=0, most=1, search=(0.3, 1.0))
    """Fraction of features that each tree may use."""
    max_bin: int = param(default=255, least=2)
    max_depth: int | None = param(default=None, least=1, search=[None, 3, 5, 8])
    """Largest number of splits from the root to a leaf; none: only num_leaves limits trees."""
    extra: bool = param(default=False, search=[False, True])
    """Extremely randomised trees: one random threshold is tried for each feature and split."""
    smooth: float = param(default=0.0, least=0)
    """Pull of a leaf with few documents towards the split above it."""
    feature_fraction_bynode: float = param(default=1.0, above=0, most=1)
    """Fraction of features that each split may use, of those of its tree."""
    rising: tuple[str, ...] = ()
    """Features, by name or number from 1, with which scores never fall."""
    falling: tuple[str, ...] = ()
    """Features with which scores never rise."""
    together: tuple[tuple[str, ...], ...] = ()
    """Groups of features that may be on one path from the root; a feature in no group is alone."""
    costs: tuple[float, ...] = ()
    """For each feature, the gain that its first split in the model must bring beyond any other."""
    cat_smooth: float = param(default=10.0, least=0)
    """Of categories: pull of rare ones towards the others, when they are put in order to find the best set."""
    cat_l2: float = param(default=10.0, least=0)
    """Of categories: penalty of splits by sets, beside the solver's."""
    max_cat_threshold: int = param(default=32, least=1)
    """Of categories: the most in the smaller part of a split."""
    min_data_per_group: int = param(default=100, least=1)
    """Of categories: minimum number of documents of those that a set gains at a time."""
    solver = "boosting"
    per_query = False

    def check(self, data: Dataset) -> None:
        if self.smooth > 0 and self.min_data_in_leaf < 2:
            raise ParameterError(f"smooth={self.smooth} needs min_data_in_leaf of at least 2.")
        if self.smooth > 0 and (self.rising or self.falling):
            raise ParameterError(
                "smooth moves leaves after LightGBM has ordered them by rising and falling: leave it out."
            )
        check_constraints(self, data)

    @property
    def constrained(self) -> bool:
        """Whether there are settings of single features."""
        return bool(self.rising or self.falling or self.together or self.costs)

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


def booster(text: Bytes, n_features: int) -> Any:
    """Check the text of trees and parse it into LightGBM's Booster."""
    import lightgbm

    whole = text.tobytes()
    lightgbm_text.check(whole, n_features)
    return lightgbm.Booster(model_str=whole.decode())
