"""Solr Learning to Rank: the body of `PUT /solr/CORE/schema/model-store`."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.errors import ModelFileError
from podium.base.float32 import from_place, to_place
from podium.base.registry import register
from podium.export.base import Target, as_trees, dumps, single
from podium.export.exported_forms import Affine, ExportedForm
from podium.export.exported_trees import Trees
from podium.export.supported_form import Exportable
from podium.imports.foreign_file import at, json_object, number
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.trees.forest import Forest, build

_CLASS = "org.apache.solr.ltr.model."
_SLACK = np.float32(1e-6)


@register
class Solr(Target):
    """Solr 9: x ≤ threshold + 1e-6 and sums in float32. Thresholds are written so that this sum is podium's.

    Near 0, some sums cannot be reached: the proof names the values in between.
    """

    model: str = "podium"
    """The model's name in Solr."""
    store: str = "_DEFAULT_"
    """The feature store that has its features."""
    name = "solr"
    forms = (Trees, Affine)
    drops_offset = True
    replay = "curl -X PUT -H 'Content-Type: application/json' --data-binary @FILE HOST/solr/CORE/schema/model-store"

    def write_linear(self, exportable: Exportable, affine: Affine) -> bytes:
        weights = {name: single(weight) for name, weight in zip(exportable.names, affine.weights, strict=True)}
        return self._body(exportable, "LinearModel", {"weights": weights})

    def write_trees(self, exportable: Exportable, forest: Forest) -> bytes:
        trees = as_trees(forest, self.name)
        sides = tells_missing(trees)
        roots = [_tree(trees, t, exportable.names, sides=sides) for t in range(trees.n_trees)]
        params: dict[str, Any] = {"isNullSameAsZero": False} if sides else {}
        params["trees"] = [{"weight": "1", "root": root} for root in roots]
        return self._body(exportable, "MultipleAdditiveTreesModel", params)

    def _body(self, exportable: Exportable, kind: str, params: dict[str, Any]) -> bytes:
        features = [{"name": name} for name in exportable.names]
        store = {} if self.store == "_DEFAULT_" else {"store": self.store}
        return dumps(
            {"class": _CLASS + kind, "name": self.model, **store, "features": features, "params": params}
        ).encode()

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        model = json_object(raw)
        params, place = at(model, "params"), {name: l for l, name in enumerate(names)}
        features = {at(feature, "name", kind=str) for feature in at(model, "features", kind=list)}
        if not features <= set(names):
            raise ModelFileError(
                f"The file has a feature {sorted(features - set(names))[0][:40]!r} that the model has not."
            )
        if model.get("class") == _CLASS + "LinearModel":
            weights = at(params, "weights")
            if set(weights) != features:
                raise ModelFileError("Solr's linear models need a weight for each feature, and no other.")
            return Affine(
                np.array([np.float32(weights.get(name, 0.0)) for name in names], np.float64), 0.0, np.zeros(len(names))
            )
        if model.get("class") != _CLASS + "MultipleAdditiveTreesModel":
            raise ModelFileError(f"{str(model.get('class'))[:60]!r} is not a model that podium writes.")
        sides = params.get("isNullSameAsZero") is False
        trees = [_read(tree, place, sides=sides) for tree in at(params, "trees", kind=list)]
        return Trees(forest_of(trees, len(names)))


def tells_missing(forest: Forest | None) -> bool:
    """Whether trees tell missing values from 0, so that Solr's features must be NaN if a document has none."""
    return forest is not None and bool((forest.missing_left != (forest.threshold >= 0)).any())


def slacked(f: float) -> float:
    """The float32 T with the largest T + 1e-6 ≤ f, in float32 as Solr adds them."""
    if np.isinf(f):
        return f
    near = to_place(np.array([np.float32(f) - _SLACK], np.float32)) + np.arange(-4, 5)
    with np.errstate(over="ignore"):
        tried = from_place(np.clip(near, -_LAST, _LAST))
        sums = tried + _SLACK
    return float(tried[np.flatnonzero(sums <= np.float32(f))[-1]])


_LAST = int(to_place(np.array([np.finfo(np.float32).max], np.float32))[0])


def _tree(trees: Forest, t: int, names: tuple[str, ...], *, sides: bool) -> dict[str, Any]:
    def split(k: int, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
        node: dict[str, Any] = {
            "feature": names[trees.feature[k]],
            "threshold": str(single(slacked(trees.threshold[k]))),
            "left": left,
            "right": right,
        }
        return node | ({"missing": "left" if trees.missing_left[k] else "right"} if sides else {})

    return build(trees, t, leaf=lambda k: {"value": str(single(trees.values[k]))}, split=split)


def _read(tree: object, place: dict[str, int], *, sides: bool) -> FlatTree:
    weight = np.float32(number(at(tree, "weight", kind=str), "weight"))

    def look(node: dict[str, Any]) -> Split | Leaf:
        if "value" in at(node):
            return Leaf(float(np.float32(number(at(node, "value", kind=str), "value")) * weight))
        name = at(node, "feature", kind=str)
        if name not in place:
            raise ModelFileError(f"The tree returns 0 at feature {name[:40]!r}, which the model does not have.")
        with np.errstate(over="ignore"):
            cut = float(np.float32(number(at(node, "threshold", kind=str), "threshold")) + _SLACK)
        side = at(node, "missing", kind=str) if sides else ("left" if cut >= 0 else "right")
        if side not in ("left", "right"):
            raise ModelFileError(f"missing is {side[:20]!r}; left or right is expected.")
        return Split(place[name], cut, side == "left", at(node, "left"), at(node, "right"))

    return grow(at(tree, "root"), look, n_features=len(place))
