"""Elasticsearch's built-in learning to rank: the body of `PUT _ml/trained_models/ID`, for its rescorer."""

from __future__ import annotations

from typing import Any

from podium.base.errors import ModelFileError
from podium.base.float32 import round_down
from podium.base.registry import register
from podium.export.base import FeatureIndex, Target, double, dumps
from podium.export.exported_forms import ExportedForm
from podium.export.exported_trees import Trees
from podium.export.supported_form import Exportable
from podium.imports.foreign_file import at, json_object, numbers
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.trees.exact_splits import expand
from podium.scorers.trees.forest import Forest


@register
class Elastic(Target):
    """Elasticsearch's `learning_to_rank` rescorer: x ≤ threshold and sums in double; scores are float32. Trees only.

    `feature_extractors` are left empty: write the query of each feature yourself.
    """

    name = "elastic"
    forms = (Trees,)
    single = False
    rounds_score = True
    replay = "curl -X PUT -H 'Content-Type: application/json' -d @FILE HOST/_ml/trained_models/podium"

    def write_trees(self, exportable: Exportable, forest: Forest) -> bytes:
        expanded, names = expand(forest), list(exportable.names)
        trees = [{"tree": _tree(expanded, t, names)} for t in range(expanded.n_trees)]
        ensemble = {
            "feature_names": names,
            "trained_models": trees,
            "aggregate_output": {"weighted_sum": {}},
            "target_type": "regression",
        }
        body = {
            "description": "Exported by podium. Add a feature extractor for each feature name before use.",
            "input": {"field_names": names},
            "inference_config": {"learning_to_rank": {"feature_extractors": []}},
            "definition": {"preprocessors": [], "trained_model": {"ensemble": ensemble}},
        }
        return dumps(body).encode()

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        ensemble = at(json_object(raw), "definition", "trained_model", "ensemble")
        if at(ensemble, "aggregate_output") != {"weighted_sum": {}}:
            raise ModelFileError("The trees are not added up with weight 1.")
        place = FeatureIndex(names)
        trees = [_read(at(model, "tree"), place) for model in at(ensemble, "trained_models", kind=list)]
        return Trees(forest_of(trees, len(names)))


def _tree(forest: Forest, t: int, names: list[str]) -> dict[str, Any]:
    """A tree as a list of nodes: its splits, then its leaves."""
    a, b, c = int(forest.first_split[t]), int(forest.first_split[t + 1]), int(forest.first_leaf[t])
    n = b - a
    nodes: list[dict[str, Any]] = [
        {
            "node_index": k,
            "decision_type": "lte",
            "threshold": double(forest.threshold[a + k]),
            "split_feature": int(forest.feature[a + k]),
            "left_child": _index(int(forest.left[a + k]), n),
            "right_child": _index(int(forest.right[a + k]), n),
            "default_left": bool(forest.missing_left[a + k]),
        }
        for k in range(n)
    ]
    leaves = forest.values[c : int(forest.first_leaf[t + 1])].tolist()
    nodes += [{"node_index": n + k, "leaf_value": value} for k, value in enumerate(leaves)]
    return {"feature_names": names, "tree_structure": nodes, "target_type": "regression"}


def _index(child: int, n_splits: int) -> int:
    return child if child >= 0 else n_splits - 1 - child


def _read(tree: dict[str, Any], place: FeatureIndex) -> FlatTree:
    nodes = {at(node, "node_index", kind=int): node for node in at(tree, "tree_structure", kind=list)}
    names = at(tree, "feature_names", kind=list)

    def look(index: int) -> Split | Leaf:
        node = nodes.get(index)
        if node is None:
            raise ModelFileError(f"There is no node {index}.")
        if "leaf_value" in node:
            return Leaf(float(numbers([node["leaf_value"]], "leaf_value")[0]))
        if node.get("decision_type") != "lte":
            raise ModelFileError(f"A split compares by {str(node.get('decision_type'))[:20]!r}; podium writes lte.")
        name = at(names, at(node, "split_feature", kind=int), kind=str)
        cut = float(round_down([at(node, "threshold", kind=(int, float))])[0])
        ways = (at(node, "left_child", kind=int), at(node, "right_child", kind=int))
        return Split(place[name], cut, at(node, "default_left", kind=bool), *ways)

    return grow(0, look, n_features=len(place))
