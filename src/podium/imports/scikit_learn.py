"""Forests of scikit-learn in memory, from their public arrays: no pickle is read."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.imports.foreign_file import ForeignModel, refuse
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow

AVERAGED = ("RandomForestRegressor", "ExtraTreesRegressor")
ALONE = ("DecisionTreeRegressor", "ExtraTreeRegressor")
BOOSTED = ("GradientBoostingRegressor",)


def is_of_scikit_learn(model: Any) -> bool:
    """Whether it is one of the models that are read."""
    return type(model).__module__.startswith("sklearn.") and type(model).__name__ in AVERAGED + ALONE + BOOSTED


def read_scikit_learn(model: Any) -> tuple[ForeignModel, str]:
    """The model, and a digest of its arrays. It decides as scikit-learn does on float32: x ≤ threshold goes left."""
    kind = type(model).__name__
    if not hasattr(model, "n_features_in_"):
        refuse(f"the {kind} is not fitted.")
    if getattr(model, "n_outputs_", 1) != 1:
        refuse("it gives several numbers per document. A ranking needs one.")
    trees, start, digest = list[FlatTree](), 0.0, hashlib.sha256(kind.encode())
    if kind in BOOSTED:
        grown, factor, start = [stage[0] for stage in model.estimators_], float(model.learning_rate), _start(model)
    else:
        grown = [model] if kind in ALONE else model.estimators_
        factor = 1.0 / len(grown)
    if start:
        trees.append(grow(0, {0: Leaf(start)}.__getitem__, n_features=model.n_features_in_))
    for each in grown:
        trees.append(_tree(each.tree_, factor, model.n_features_in_))
        for part in (each.tree_.feature, each.tree_.threshold, each.tree_.value):
            digest.update(np.ascontiguousarray(part).tobytes())
    names = getattr(model, "feature_names_in_", None)
    named = None if names is None else tuple(map(str, names))
    form = forest_of(trees, model.n_features_in_)
    return ForeignModel("scikit-learn", form, named, version("scikit-learn"), {"kind": kind}), digest.hexdigest()


def _start(model: Any) -> float:
    """The score before the first tree."""
    if isinstance(model.init_, str):  # zero
        return 0.0
    if not hasattr(model.init_, "constant_"):
        refuse("its trees are on top of another model (init). Fit it without.")
    return float(np.ravel(model.init_.constant_)[0])


def _tree(tree: Any, factor: float, n_features: int) -> FlatTree:
    values: Array = factor * np.ravel(tree.value)
    left, right, nan_left = tree.children_left, tree.children_right, tree.missing_go_to_left

    def look(node: int) -> Split | Leaf:
        if left[node] == right[node]:
            return Leaf(float(values[node]), float(tree.n_node_samples[node]))
        ways = int(left[node]), int(right[node])
        return Split(int(tree.feature[node]), float(tree.threshold[node]), bool(nan_left[node]), *ways)

    return grow(0, look, n_features=n_features)
