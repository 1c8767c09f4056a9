"""Read XGBoost models, as written by `save_model`: JSON or UBJSON, of trees (gbtree, dart) or linear (gblinear).

A split sends x < c to the left, which is x ≤ the float32 before c. The score is the margin, as of
`predict(output_margin=True)`, except that sums are in float64 here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.float32 import next_down
from podium.imports import ubjson
from podium.imports.foreign_file import (
    ForeignModel,
    at,
    json_object,
    n_features_of,
    names_of,
    number,
    numbers,
    refuse,
    whole,
)
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.forms import LinearForm

_IDENTITY = ("rank:", "reg:squarederror", "reg:linear", "reg:absoluteerror", "reg:pseudohubererror", "binary:logitraw")
_LOGIT, _LOG = ("binary:logistic", "reg:logistic"), ("count:poisson", "reg:gamma", "reg:tweedie")


def read_xgboost(raw: bytes, *, best: bool = False) -> ForeignModel:
    """Read an XGBoost model; with `best`, only the trees up to its best iteration."""
    is_text = raw.lstrip()[:1] == b"{" and raw.lstrip()[1:].lstrip()[:1] in (b'"', b"}")
    model = json_object(raw) if is_text else ubjson.loads(raw)
    learner, about = at(model, "learner"), at(model, "learner", "learner_model_param")
    if whole(about.get("num_class", "0"), "num_class") > 1 or whole(about.get("num_target", "1"), "num_target") > 1:
        refuse("it gives several numbers per document. A ranking needs one.")
    n_features = n_features_of(whole(about.get("num_feature"), "num_feature"))
    version = model.get("version")
    facts: dict[str, Any] = {
        "format": "xgboost",
        "names": names_of(learner.get("feature_names"), n_features),
        "version": ".".join(map(str, version))[:40] if isinstance(version, list) else None,
    }
    booster = at(learner, "gradient_booster")
    offset = _margin(learner, about)
    if booster.get("name") == "gblinear":
        entries = numbers(at(booster, "model", "weights", kind=list), "weights", length=n_features + 1)
        weights = np.array(entries, np.float64)
        if not np.isfinite(weights).all():
            refuse("its weights are not finite numbers.")
        return ForeignModel(form=LinearForm(weights[:-1], weights[-1] + offset), **facts)
    trees, notes = _trees(learner, booster, n_features, best=best)
    if offset or not trees:
        trees.append(FlatTree(leaves=[Leaf(offset, 1.0)]))
    return ForeignModel(form=forest_of(trees, n_features), notes=notes, **facts)


def _margin(learner: dict[str, Any], about: dict[str, Any]) -> float:
    """Score before the first tree: the base score, through the inverse of the objective's link."""
    objective = at(learner, "objective", "name", kind=str)
    base: Any = number(str(about.get("base_score", "0")).strip("[]"), "base_score")
    with np.errstate(over="ignore"):
        base = np.float32(base)
        odds = np.float32(1) / base - np.float32(1) if base > 0 else np.float32(0)
    if objective.startswith(_IDENTITY):
        margin = base
    elif objective in _LOGIT and odds > 0:
        margin = np.float32(-math.log(float(odds)))  # as XGBoost rounds it
    elif objective in _LOG and base > 0:
        margin = np.float32(math.log(float(base)))
    else:
        refuse(f"its objective is {objective!r} with base score {base}, for which the margin is not known.")
    if not math.isfinite(margin):
        refuse(f"its base score is {base}.")
    return float(margin)


def _trees(
    learner: dict[str, Any], booster: dict[str, Any], n_features: int, *, best: bool
) -> tuple[list[FlatTree], dict[str, Any]]:
    name = booster.get("name")
    if name not in ("gbtree", "dart"):
        refuse(f"its booster is {str(name)[:20]!r}; gbtree, dart and gblinear can be read.")
    model = at(booster, "gbtree", "model") if name == "dart" else at(booster, "model")
    trees = at(model, "trees", kind=list)
    if any(numbers(at(model, "tree_info", kind=list), "tree_info", length=len(trees), whole=True)):
        refuse("its trees are of several classes.")
    scale = [1.0] * len(trees)
    if name == "dart":
        scale = numbers(at(booster, "weight_drop", kind=list), "weight_drop", length=len(trees))
    notes: dict[str, Any] = {}
    attributes = learner.get("attributes")
    if isinstance(attributes, dict) and "best_iteration" in attributes:
        notes["best_iteration"] = whole(attributes["best_iteration"], "best_iteration")
    kept = len(trees)
    if best:
        if "best_iteration" not in notes:
            refuse("it knows no best iteration, since it was trained without early stopping. Import all trees.")
        each = whole(at(model, "gbtree_model_param").get("num_parallel_tree", "1"), "num_parallel_tree")
        kept = min(kept, max(notes["best_iteration"] + 1, 0) * max(each, 1))
    return [_tree(trees[k], n_features, float(scale[k])) for k in range(kept)], notes


def _tree(tree: dict[str, Any], n_features: int, scale: float) -> FlatTree:
    n = len(at(tree, "left_children", kind=list))
    whole_keys = ("left_children", "right_children", "split_indices", "default_left")
    columns = {
        key: [int(item) if isinstance(item, bool) else item for item in at(tree, key, kind=list)] for key in whole_keys
    }
    for key in whole_keys:
        numbers(columns[key], key, length=n, whole=True)
    if not set(columns["default_left"]) <= {0, 1}:
        refuse("default_left of a node is neither 0 nor 1.")
    conditions = numbers(at(tree, "split_conditions", kind=list), "split_conditions", length=n)
    if any(numbers(tree.get("split_type", []) or [], "split_type", whole=True)) or tree.get("categories"):
        refuse("it splits on categories. Encode them as numbers, and train again.")
    if whole(at(tree, "tree_param").get("size_leaf_vector", "1"), "size_leaf_vector") > 1:
        refuse("its leaves hold several numbers. A ranking needs one.")
    hessian, gains = (numbers(tree.get(key, [math.nan] * n), key, length=n) for key in ("sum_hessian", "loss_changes"))
    with np.errstate(over="ignore"):
        singles = np.array(conditions, np.float64).astype(np.float32)
    cuts = next_down(singles).tolist()

    def look(node: int) -> Split | Leaf:
        if not 0 <= node < n:
            refuse(f"a tree of {n} nodes names node {node}.")
        left, right = columns["left_children"][node], columns["right_children"][node]
        if left != -1 and right != left + 1:
            refuse("the two children of a node are not neighbours, which XGBoost takes for granted.")
        if left == -1:
            return Leaf(float(np.float32(singles[node] * np.float32(scale))), hessian[node])
        gain = gains[node] if math.isfinite(gains[node]) else 0.0
        nan_left = bool(columns["default_left"][node])
        return Split(columns["split_indices"][node], cuts[node], nan_left, left, right, max(gain, 0.0))

    return grow(0, look, n_features=n_features)
