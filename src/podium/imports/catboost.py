"""Read CatBoost models, as written by `save_model(…, format="json")`, over numeric features.

x > border goes right, for float32 borders. A symmetric tree has the same split at each level: bit i of a leaf's index
is the outcome of split i. The score is `predict(prediction_type="RawFormulaVal")`, Σ·scale + bias.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

from podium.base.float32 import round_down
from podium.imports.foreign_file import ForeignModel, at, json_object, n_features_of, number, numbers, refuse
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow

_DEEPEST = 16


def read_catboost(raw: bytes) -> ForeignModel:
    """Read a CatBoost model."""
    model = json_object(raw)
    for kind in ("categorical_features", "text_features", "embedding_features"):
        if at(model, "features_info").get(kind):
            refuse(f"it has {kind.replace('_', ' ')}. Train on numbers alone.")
    features = [_feature(feature) for feature in at(model, "features_info", "float_features", kind=list)]
    n_features = n_features_of(len(features))
    if sorted(feature.place for feature in features) != list(range(n_features)):
        refuse("its features are not numbered from 0 on.")
    scale_and_bias = at(model, "scale_and_bias", kind=list)
    bias = scale_and_bias[1] if len(scale_and_bias) == 2 else None
    if isinstance(bias, list) and len(bias) > 1:
        refuse("it gives several numbers per document. A ranking needs one.")
    bias = numbers(bias if isinstance(bias, list) else [bias], "scale_and_bias", length=1)[0]
    scale = number(scale_and_bias[0], "scale_and_bias")
    if not (math.isfinite(scale) and math.isfinite(bias)):
        refuse("its scale and bias are not finite numbers.")
    if "oblivious_trees" in model:
        trees = [_symmetric(tree, features, scale) for tree in at(model, "oblivious_trees", kind=list)]
    else:
        trees = [_asymmetric(tree, features, scale) for tree in at(model, "trees", kind=list)]
    trees += [FlatTree(leaves=[Leaf(float(bias), 1.0)])] if bias else []
    names = [feature.name for feature in sorted(features)]
    has_names = len(set(names)) == len(names) and all(names) and names != [str(k) for k in range(n_features)]
    about = model.get("model_info")
    version_info = str(about.get("catboost_version_info", "")) if isinstance(about, dict) else ""
    version = re.search(r"\bv?(\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)\b", version_info)
    return ForeignModel(
        "catboost",
        forest_of(trees, n_features),
        names=tuple(names) if has_names else None,
        version=version[1] if version else None,
    )


class _Feature(NamedTuple):
    place: int  # among all features
    nan_left: bool  # whether a missing value goes left
    name: str
    borders: list[float]  # split_index counts the borders of all features, one after another


def _feature(feature: Any) -> _Feature:
    treatment = feature.get("nan_value_treatment") if isinstance(feature, dict) else None
    if treatment not in ("AsIs", "AsFalse", "AsTrue"):
        refuse(f"nan_value_treatment is {str(treatment)[:20]!r}.")
    name = feature.get("feature_id") or feature.get("feature_name") or ""
    borders = round_down(np.array(numbers(at(feature, "borders", kind=list), "borders"), np.float64)).tolist()
    place = at(feature, "flat_feature_index", kind=int)
    return _Feature(place, treatment != "AsTrue", name if isinstance(name, str) else "", borders)


def _split(split: dict[str, Any], features: list[_Feature]) -> tuple[int, float, bool]:
    """Feature, border and side of missing values."""
    if at(split, "split_type", kind=str) != "FloatFeature":
        refuse(f"it has a split of type {split['split_type'][:20]!r}. Train on numbers alone.")
    index = at(split, "float_feature_index", kind=int)
    if not 0 <= index < len(features):
        refuse(f"a split is on feature {index + 1} of {len(features)}.")
    feature = features[index]
    border = float(round_down([number(at(split, "border", kind=(int, float)), "border")])[0])
    first = sum(len(before.borders) for before in features[:index])
    at_index = at(split, "split_index", kind=int) - first
    if not 0 <= at_index < len(feature.borders) or feature.borders[at_index] != border:
        refuse(f"split_index of a split is not that of its border {border}, by which CatBoost decides.")
    return feature.place, border, feature.nan_left


def _value(value: object, scale: float) -> float:
    return float(numbers([value], "leaf_values")[0]) * scale


def _symmetric(tree: dict[str, Any], features: list[_Feature], scale: float) -> FlatTree:
    splits = [_split(split, features) for split in at(tree, "splits", kind=list)]
    n = len(splits)
    if n > _DEEPEST:
        refuse(f"a symmetric tree has {n} levels; at most {_DEEPEST} can be read.")
    values = numbers(at(tree, "leaf_values", kind=list), "leaf_values", length=2**n)
    weights = numbers(tree.get("leaf_weights", [math.nan] * 2**n), "leaf_weights", length=2**n)

    def look(node: tuple[int, int]) -> Split | Leaf:
        level, prefix = node
        if level == 0:
            return Leaf(_value(values[prefix], scale), weights[prefix])
        feature, border, nan_left = splits[level - 1]
        return Split(feature, border, nan_left, (level - 1, prefix), (level - 1, prefix | 1 << (level - 1)))

    return grow((n, 0), look, n_features=len(features))


def _asymmetric(tree: object, features: list[_Feature], scale: float) -> FlatTree:
    def look(node: object) -> Split | Leaf:
        if isinstance(node, dict) and "value" in node:
            value = node["value"][0] if isinstance(node["value"], list) and len(node["value"]) == 1 else node["value"]
            weight = node.get("weight", math.nan)
            return Leaf(_value(value, scale), numbers([weight], "weight")[0])
        feature, border, nan_left = _split(at(node, "split"), features)
        return Split(feature, border, nan_left, at(node, "left"), at(node, "right"))

    return grow(tree, look, n_features=len(features))
