"""XGBoost's JSON model, for `Booster.load_model` and `XGBRanker.load_model`."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from typing import Any

import numpy as np

from podium.base.arrays import Singles
from podium.base.float32 import next_up
from podium.base.registry import register
from podium.export.base import EngineScores, Target, dumps, installed, single
from podium.export.exported_forms import ExportedForm
from podium.export.exported_trees import Trees
from podium.export.supported_form import Exportable
from podium.imports.xgboost import read_xgboost
from podium.scorers.trees.exact_splits import expand
from podium.scorers.trees.forest import Forest

_ROOT = 2147483647


@register
class XGBoost(Target):
    """XGBoost 2 and later: x < threshold in float32, added up in float32. Trees only."""

    name = "xgboost"
    forms = (Trees,)
    replay = "python -c 'import xgboost; b = xgboost.Booster(model_file=\"FILE\"); …b.predict(…, output_margin=True)'"

    def write_trees(self, exportable: Exportable, forest: Forest) -> bytes:
        forest, d = expand(forest), exportable.model.n_features
        trees = [_tree(forest, t) for t in range(forest.n_trees)]
        model = {
            "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
            "iteration_indptr": list(range(len(trees) + 1)),
            "tree_info": [0] * len(trees),
            "trees": trees,
        }
        base = {
            "base_score": "0E0",
            "boost_from_average": "0",
            "num_class": "0",
            "num_feature": str(d),
            "num_target": "1",
        }
        learner = {
            "attributes": {},
            "feature_names": list(exportable.names),
            "feature_types": ["float"] * d,
            "gradient_booster": {"model": model, "name": "gbtree"},
            "learner_model_param": base,
            "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
        }
        return dumps({"learner": learner, "version": [2, 1, 0]}).encode()

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        form = read_xgboost(raw).form
        assert isinstance(form, Forest)
        return Trees(form)

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> EngineScores | None:
        xgboost = installed("xgboost")
        if xgboost is None:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.json")
            with open(path, "wb") as file:
                file.write(raw)
            booster = xgboost.Booster({"nthread": 1}, model_file=path)
        matrix = xgboost.DMatrix(X, feature_names=booster.feature_names, feature_types=booster.feature_types)
        return EngineScores(
            booster.predict(matrix, output_margin=True).astype(np.float64), f"XGBoost {xgboost.__version__}"
        )


def _tree(forest: Forest, t: int) -> dict[str, Any]:
    """A tree, numbered level by level: XGBoost goes to `left + !(x < threshold)`, so siblings must be neighbours."""
    a, c = int(forest.first_split[t]), int(forest.first_leaf[t])
    cover = np.ones(len(forest.values)) if forest.cover is None else forest.cover
    rows: list[list[Any]] = []  # left, right, parent, feature, condition, default_left, training documents
    waiting = deque([(0 if forest.first_split[t + 1] > a else -1, _ROOT)])
    named = 1
    while waiting:
        node, parent = waiting.popleft()
        if node < 0:
            rows.append([-1, -1, parent, 0, single(forest.values[c - 1 - node]), 0, cover[c - 1 - node]])
            continue
        k, here = a + node, len(rows)
        condition = single(float(next_up(forest.threshold[k])))
        rows.append([named, named + 1, parent, int(forest.feature[k]), condition, int(forest.missing_left[k]), 0.0])
        waiting += [(int(forest.left[k]), here), (int(forest.right[k]), here)]
        named += 2
    left, right, parents, feature, conditions, default, counts = map(list, zip(*rows, strict=True))
    n = len(rows)
    for here in range(n - 1, 0, -1):  # children come after their parents
        counts[parents[here]] += counts[here]
    return {
        "base_weights": [value if child < 0 else 0.0 for value, child in zip(conditions, left, strict=True)],
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": default,
        "id": t,
        "left_children": left,
        "loss_changes": [0.0] * n,
        "parents": parents,
        "right_children": right,
        "split_conditions": conditions,
        "split_indices": feature,
        "split_type": [0] * n,
        "sum_hessian": list(map(single, counts)),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(forest.n_features),
            "num_nodes": str(n),
            "size_leaf_vector": "1",
        },
    }
