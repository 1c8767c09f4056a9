"""Elasticsearch Learning to Rank plugin: the body of `POST _ltr/_featureset/SET/_createmodel`."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.errors import ModelFileError
from podium.base.float32 import next_down, next_up
from podium.base.registry import register
from podium.export.base import FeatureIndex, Target, as_trees, dumps, single
from podium.export.exported_forms import Affine, ExportedForm
from podium.export.exported_trees import Trees
from podium.export.supported_form import Exportable
from podium.imports.foreign_file import at, json_object
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.trees.forest import Forest, build

_SPLIT = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}
_OBJECTIVES = (
    "binary:logistic", "binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear", "reg:logistic",
)  # fmt: skip


@register
class ElasticsearchLTR(Target):
    """Elasticsearch LTR plugin, `model/xgboost+json` and `model/linear`: x < threshold and sums in float32.

    Features that do not match are NaN for trees, and 0 for linear models. Plugins before 2024 send NaN to the right.
    """

    model: str = "podium"
    """The model's name in the plugin."""
    shift: bool = False
    """Add a constant to trees so that no score is negative."""
    name = "elasticsearch-ltr"
    forms = (Trees, Affine)
    drops_offset = True
    replay = "curl -H 'Content-Type: application/json' -d @FILE HOST/_ltr/_featureset/SET/_createmodel"

    def write_linear(self, exportable: Exportable, affine: Affine) -> bytes:
        weights = {name: single(weight) for name, weight in zip(exportable.names, affine.weights, strict=True)}
        return self._body("model/linear", weights)

    def write_trees(self, exportable: Exportable, forest: Forest) -> bytes:
        trees = as_trees(forest, self.name)
        splits = [_tree(trees, t, exportable.names) for t in range(trees.n_trees)]
        splits += [{"nodeid": 0, "leaf": single(self.constant(exportable))}] if self.shift else []
        return self._body("model/xgboost+json", {"objective": "rank:ndcg", "splits": splits})

    def _body(self, kind: str, definition: dict[str, Any]) -> bytes:
        model = {"type": kind, "definition": dumps(definition)}
        return dumps({"model": {"name": self.model, "model": model}}).encode()

    def constant(self, exportable: Exportable) -> float:
        forest = exportable.form.forest
        if forest is None or not self.shift:
            return super().constant(exportable)
        least = float(np.minimum.reduceat(forest.values, forest.first_leaf[:-1]).sum())
        return float(next_up(max(-least, 0.0)))

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        model = at(json_object(raw), "model", "model")
        if model.get("feature_normalizers"):
            raise ModelFileError("The model has feature_normalizers, which podium does not write. Export it again.")
        definition = json_object(at(model, "definition", kind=str).encode())
        place = FeatureIndex(names)
        if model.get("type") == "model/linear":
            weights = np.zeros(len(names))
            for name, weight in definition.items():
                weights[place[name]] = np.float32(weight)
            return Affine(weights, 0.0, np.zeros(len(names)))
        if model.get("type") != "model/xgboost+json" or definition.get("objective") not in _OBJECTIVES:
            raise ModelFileError(f"The plugin has no {str(model.get('type'))[:40]!r} with this objective.")
        if "logistic" in definition["objective"]:
            raise ModelFileError("A logistic objective puts a sigmoid on the scores. Export the model again.")
        return Trees(forest_of([_read(tree, place) for tree in at(definition, "splits", kind=list)], len(names)))


def _tree(trees: Forest, t: int, names: tuple[str, ...]) -> dict[str, Any]:
    """A tree as nested nodes, children numbered first; every split has `missing`, which the plugin requires."""
    number = iter(range(2 * int(trees.first_leaf[t + 1] - trees.first_leaf[t])))

    def split(k: int, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
        return {
            "nodeid": next(number),
            "depth": 0,
            "split": names[trees.feature[k]],
            "split_condition": single(float(next_up(trees.threshold[k]))),
            "yes": left["nodeid"],
            "no": right["nodeid"],
            "missing": (left if trees.missing_left[k] else right)["nodeid"],
            "children": [left, right],
        }

    root = build(trees, t, leaf=lambda k: {"nodeid": next(number), "leaf": single(trees.values[k])}, split=split)
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if "depth" in node:
            node["depth"] = depth
            waiting += [(child, depth + 1) for child in node["children"]]
    return root


def _read(tree: dict[str, Any], place: FeatureIndex) -> FlatTree:
    def look(node: dict[str, Any]) -> Split | Leaf:
        keys = set(at(node))
        if keys == {"nodeid", "leaf"}:
            return Leaf(float(np.float32(at(node, "leaf", kind=(int, float)))))
        if keys != _SPLIT:
            raise ModelFileError(f"The plugin's reader refuses a split with {', '.join(sorted(map(str, keys)))[:99]}.")
        children = at(node, "children", kind=list)
        yes, no, missing = (at(node, key, kind=int) for key in ("yes", "no", "missing"))
        if [at(child, "nodeid", kind=int) for child in children] != [yes, no] or missing not in (yes, no):
            raise ModelFileError("The children of a split are not its yes and no, in this order.")
        with np.errstate(over="ignore"):
            condition = np.float32(at(node, "split_condition", kind=(int, float)))
        return Split(place[node["split"]], float(next_down(condition)), missing == yes, *children)

    return grow(tree, look, n_features=len(place))
