"""ONNX: one graph from `features` [N, d] to `score` [N, 1], for onnxruntime and other runtimes.

It uses opset 17, ai.onnx.ml 3 and IR 8, for runtimes since 2023. Features are float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Literal

import numpy as np

from podium.base.arrays import AnyArray, Singles
from podium.base.errors import MissingPackageError, ModelFileError
from podium.base.float32 import round_down
from podium.base.registry import register
from podium.base.version import version
from podium.export.base import EngineScores, Target, installed
from podium.export.exported_forms import ExportedForm, Net
from podium.export.exported_trees import Trees
from podium.export.onnx_arithmetic import Graph, front_graph, net_graph, read_front, read_net
from podium.export.supported_form import Exportable
from podium.export.transforms import Front
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.activations import Activation
from podium.scorers.trees.exact_splits import expand
from podium.scorers.trees.forest import Forest


@register
class ONNX(Target):
    """ONNX: trees summed in double and rounded to float32 (`precision=single`: all in float32); networks in double."""

    precision: Literal["double", "single"] = "double"
    """Precision in which trees are added up."""
    name = "onnx"
    forms = (Trees, Net)
    takes_infinite = True
    replay = "onnxruntime.InferenceSession('FILE').run(None, {'features': X})"

    @property
    def single(self) -> bool:  # type: ignore[override]
        return self.precision == "single"

    @property
    def rounds_score(self) -> bool:  # type: ignore[override]
        return self.precision == "double"

    def write(self, exportable: Exportable) -> bytes:
        onnx = _onnx()
        make, d = onnx.helper, exportable.model.n_features
        if isinstance(exportable.form, Net):
            kind, (nodes, tensors) = onnx.TensorProto.DOUBLE, net_graph(onnx, exportable.form)
        else:
            kind, (nodes, tensors) = onnx.TensorProto.FLOAT, self._inputs_of_trees(onnx, exportable.form.front)
            assert exportable.form.forest is not None, "of its forms"
            nodes.append(_trees(onnx, expand(exportable.form.forest), _end(nodes), single=self.single))
        graph = make.make_graph(
            nodes,
            "podium",
            [make.make_tensor_value_info("features", onnx.TensorProto.FLOAT, ["N", d])],
            [make.make_tensor_value_info("score", kind, ["N", 1])],
            initializer=[onnx.numpy_helper.from_array(np.ascontiguousarray(x), key) for key, x in tensors.items()],
        )
        opsets = [make.make_opsetid("", 17), make.make_opsetid("ai.onnx.ml", 3)]
        model = make.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="podium")
        about = {
            "podium": version(),
            "learner": repr(exportable.model.learner),
            "features": "\n".join(exportable.names),
        }
        make.set_model_props(model, about)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        onnx = _onnx()
        try:
            return self._read(onnx, onnx.load_from_string(raw).graph, len(names))
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise ModelFileError(f"The graph is not one of podium's ({error}). Export the model again.") from error
        except Exception as error:
            if type(error).__name__ != "DecodeError":
                raise
            raise ModelFileError("The file is not ONNX, or damaged. Export the model again.") from error

    def _inputs_of_trees(self, onnx: ModuleType, front: Front | None) -> Graph:
        """The inputs of the trees, computed from `features`: as double, or as float32 with precision=single."""
        nodes, tensors = ([], {}) if front is None else front_graph(onnx, front)
        make = onnx.helper.make_node
        if nodes and self.single:
            nodes.append(make("Cast", [_end(nodes)], ["singles"], to=onnx.TensorProto.FLOAT))
        elif not nodes and not self.single:
            nodes.append(make("Cast", ["features"], ["doubles"], to=onnx.TensorProto.DOUBLE))
        return nodes, tensors

    def _read(self, onnx: ModuleType, graph: Any, n_features: int) -> ExportedForm:
        """The form of a graph; raises an error unless podium would write the same graph for it."""
        tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
        trees = [node for node in graph.node if node.op_type == "TreeEnsembleRegressor"]
        form: ExportedForm
        if trees:
            front = read_front(tensors, n_features) if tensors else None
            forest = _read_trees(onnx, trees[0], n_features if front is None else front.widths[-1])
            form = Trees(forest, front)
            nodes, constants = self._inputs_of_trees(onnx, front)
            if list(trees[0].input) != [_end(nodes)] or list(trees[0].output) != ["score"]:
                raise ValueError("trees of other features")
            nodes.append(trees[0])
        else:
            form = read_net(tensors, n_features, _activation(graph, tensors))
            nodes, constants = net_graph(onnx, form)
        if [node.SerializeToString() for node in graph.node] != [node.SerializeToString() for node in nodes]:
            raise ValueError("other operators")
        if any(
            tensors[key].dtype != constant.dtype or not np.array_equal(tensors[key], constant, equal_nan=True)
            for key, constant in constants.items()
        ):
            raise ValueError("other constants")
        return form

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> EngineScores | None:
        runtime = installed("onnxruntime")
        if runtime is None:
            return None
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        session = runtime.InferenceSession(raw, options, providers=["CPUExecutionProvider"])
        scores = session.run(["score"], {"features": X})[0]
        return EngineScores(scores[:, 0].astype(np.float64), f"onnxruntime {runtime.__version__}")


def _activation(graph: Any, tensors: Mapping[str, AnyArray]) -> Activation:
    """The activation whose constants a graph has."""
    if "of_less" in tensors:
        return "elu" if float(tensors["of_less"][0]) == 1.0 else "selu"
    if "gate_scale" in tensors:
        return "gelu" if "gelu_cube" in tensors else "silu"
    return "tanh" if any(node.op_type == "Tanh" for node in graph.node) else "relu"


def _end(nodes: list[Any]) -> str:
    """Name of the last operator's output."""
    return str(nodes[-1].output[0]) if nodes else "features"


def _onnx() -> ModuleType:
    onnx = installed("onnx")
    if onnx is None:
        raise MissingPackageError("onnx", "Writing and reading ONNX", "onnx")
    return onnx


def _trees(onnx: ModuleType, forest: Forest, seen: str, *, single: bool) -> Any:
    """A TreeEnsembleRegressor; its nodes are the splits of a tree, then its leaves."""
    sizes = np.diff(forest.first_split)
    splits, leaves = sizes, np.diff(forest.first_leaf)
    columns: list[list[Any]] = [[] for _ in range(8)]
    trees, ids, modes, features, values, true, false, nan = columns
    for t in range(forest.n_trees):
        a, b = int(forest.first_split[t]), int(forest.first_split[t + 1])
        n, m = int(splits[t]), int(leaves[t])
        trees += [t] * (n + m)
        ids += range(n + m)
        modes += ["BRANCH_LEQ"] * n + ["LEAF"] * m
        features += [*forest.feature[a:b].tolist(), *[0] * m]
        values += [*forest.threshold[a:b].tolist(), *[0.0] * m]
        for side, column in ((forest.left, true), (forest.right, false)):
            column += [*np.where(side[a:b] >= 0, side[a:b], n - 1 - side[a:b]).tolist(), *[0] * m]
        nan += [*forest.missing_left[a:b].astype(int).tolist(), *[0] * m]
    owner = np.repeat(np.arange(forest.n_trees), leaves)
    places = np.arange(len(forest.values)) - forest.first_leaf[owner] + splits[owner]
    common: dict[str, Any] = {
        "nodes_treeids": trees, "nodes_nodeids": ids, "nodes_modes": modes, "nodes_featureids": features,
        "nodes_truenodeids": true, "nodes_falsenodeids": false, "nodes_missing_value_tracks_true": nan,
        "target_treeids": owner.tolist(), "target_nodeids": places.tolist(), "target_ids": [0] * len(owner),
        "n_targets": 1, "aggregate_function": "SUM", "post_transform": "NONE",
    }  # fmt: skip
    make, double = onnx.helper, onnx.TensorProto.DOUBLE
    if single:
        return make.make_node(
            "TreeEnsembleRegressor", [seen], ["score"], domain="ai.onnx.ml",
            nodes_values=values, target_weights=forest.values.astype(np.float32).tolist(), **common,
        )  # fmt: skip
    return make.make_node(
        "TreeEnsembleRegressor", [seen], ["score"], domain="ai.onnx.ml",
        nodes_values_as_tensor=make.make_tensor("values", double, [len(values)], values),
        target_weights_as_tensor=make.make_tensor("weights", double, [len(owner)], forest.values.tolist()),
        **common,
    )  # fmt: skip


def _read_trees(onnx: ModuleType, node: Any, n_features: int) -> Forest:
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}

    def numbers(key: str) -> AnyArray:
        tensor = attributes.get(f"{key}_as_tensor")
        return np.array(attributes[key] if tensor is None else onnx.numpy_helper.to_array(tensor))

    values, weights = numbers("nodes_values"), numbers("target_weights")
    keys = zip(attributes["nodes_treeids"], attributes["nodes_nodeids"], strict=True)
    rows = {key: k for k, key in enumerate(keys)}
    targets = zip(attributes["target_treeids"], attributes["target_nodeids"], strict=True)
    outputs = {key: float(weight) for key, weight in zip(targets, weights, strict=True)}
    cuts = round_down(values)

    def tree(t: int) -> FlatTree:
        def look(node: int) -> Split | Leaf:
            k = rows[t, node]
            mode = attributes["nodes_modes"][k]
            if mode == b"LEAF":
                return Leaf(outputs[t, node])
            if mode != b"BRANCH_LEQ":
                raise ValueError(f"a node of mode {mode!r}")
            ways = (attributes["nodes_truenodeids"][k], attributes["nodes_falsenodeids"][k])
            nan_left = bool(attributes["nodes_missing_value_tracks_true"][k])
            return Split(attributes["nodes_featureids"][k], float(cuts[k]), nan_left, *ways)

        return grow(0, look, n_features=n_features)

    return forest_of([tree(t) for t in sorted(set(attributes["nodes_treeids"]))], n_features)
