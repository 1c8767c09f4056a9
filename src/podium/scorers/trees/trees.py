"""Boosted regression trees, grown by LightGBM; params["trees"] is its text model, as bytes.

If there is params["exact"], the trees are of another library: tiny values are compared as they are, not as 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

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
from podium.scorers.trees.symmetric import DEEPEST

MOST_LEAVES = 16
"""Of growth=mixed: the most leaves of the smaller trees."""
MOST_DOCUMENTS = 20_000
"""Of growth=mixed: the most training documents."""


@register
class Trees(Scorer):
    """Sum of regression trees (gradient boosted decision trees); the solver `boosting` grows them.

    Symmetric trees have one split for all nodes of a level; documents without gradient count for min_data_in_leaf, too.
    The four forests of growth=mixed are each stopped early: leaf by leaf with num_leaves, at most 16, and with four
    times as many leaves, and symmetric with depths 4 and 6. Above 20,000 documents they bring too little.
    Cost: O(documents × features) per tree to grow, O(trees × depth) per document to score.
    Use it for: the strongest default on engineered features; handles missing values and any scale.
    Reference: Ke et al., LightGBM, NeurIPS 2017.
    """

    growth: Literal["leaves", "levels", "mixed"] = "leaves"
    """How trees grow. `leaves`: the best leaf is split next. `levels`: symmetric trees of max_depth levels, by
    default 6. `mixed`: the mean of four forests, two of each of these kinds, as one."""
    num_leaves: int = param(default=31, least=2, most=131072, search=(4, 64, "log"))
    """Most leaves of a tree."""
    min_data_in_leaf: int = param(default=20, least=0, search=(5, 100, "log"))
    """Minimum number of documents in a leaf. A cluster estimates it, so its trees differ from one machine's."""
    min_sum_hessian_in_leaf: float = param(default=1e-3, above=0)
    """Minimum sum of curvature in a leaf. With min_data_in_leaf=0, a cluster grows the same trees as one machine."""
    feature_fraction: float = param(default=1.0, above=0, most=1, search=(0.3, 1.0))
    """Fraction of features that each tree may use."""
    max_bin: int = param(default=255, least=2)
    """Most bins into which the values of a feature are put to find splits."""
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
    splits_categories = True

    def check(self, data: Dataset) -> None:
        if self.smooth > 0 and self.min_data_in_leaf < 2:
            raise ParameterError(f"smooth={self.smooth} needs min_data_in_leaf of at least 2.")
        if self.smooth > 0 and (self.rising or self.falling):
            raise ParameterError(
                "smooth moves leaves after LightGBM has ordered them by rising and falling: leave it out."
            )
        check_constraints(self, data)
        if self.growth != "leaves":
            self._check_symmetric(data)

    def _check_symmetric(self, data: Dataset) -> None:
        """Raise a clear error for settings and data that symmetric trees do not know."""
        fields = [
            "extra", "smooth", "feature_fraction_bynode", "rising", "falling", "together", "costs",
            "min_sum_hessian_in_leaf",
        ]  # fmt: skip
        changed = [name for name in fields if getattr(self, name) != getattr(type(self)(), name)]
        what = "categories" if data.categories else "positions" if data.positions is not None else ", ".join(changed)
        if what:
            raise IncompatibleError(
                f"growth={self.growth} grows symmetric trees, which do not know {what}. Set growth=leaves."
            )
        if self.growth == "mixed" and self.max_depth is not None:
            raise IncompatibleError(
                f"growth=mixed also grows symmetric trees of depths 4 and {DEEPEST}; got max_depth={self.max_depth}. "
                "Leave it out, or set growth=leaves or levels."
            )
        if self.growth == "mixed" and self.num_leaves > MOST_LEAVES:
            raise IncompatibleError(
                f"growth=mixed also grows trees of four times num_leaves, which may be at most {MOST_LEAVES}; got "
                f"{self.num_leaves}."
            )
        if self.growth == "mixed" and data.n_documents > MOST_DOCUMENTS:
            raise IncompatibleError(
                f"growth=mixed grows four forests, which pays with up to {MOST_DOCUMENTS} documents; there are "
                f"{data.n_documents}. Set growth=leaves or levels."
            )
        if self.growth == "levels" and (self.max_depth or 0) > DEEPEST:
            raise ParameterError(f"symmetric trees have a depth of at most {DEEPEST}; got max_depth={self.max_depth}.")

    def mixture(self) -> list[Trees]:
        """The forests whose mean growth=mixed is."""
        return [
            replace(self, growth="leaves"),
            replace(self, growth="leaves", num_leaves=4 * self.num_leaves),
            replace(self, growth="levels", max_depth=4),
            replace(self, growth="levels", max_depth=DEEPEST),
        ]

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
