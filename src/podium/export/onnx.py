"""ONNX: one graph from `features` [N, d] to `score` [N, 1], for onnxruntime and whatever else reads it.

Operators of 2023 and later: opset 17, ai.onnx.ml 3, IR 8. Features are float32.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from podium.errors import MissingPackageError, ModelFileError
from podium.export.base import Ran, Target, missing_package
from podium.export.handover import Handed, Handover
from podium.export.net import Net
from podium.float32 import Singles, round_down
from podium.imports.growing import Grown, Leaf, Split, forest, grow
from podium.registry import register
from podium.scorers.forest import Forest
from podium.scorers.splits import expand
from podium.version import version


@register
class ONNX(Target):
    """ONNX: trees added up in double, the sum as float32 (`precision=single`: all in float32); networks in double."""

    precision: Literal["double", "single"] = "double"
    name = "onnx"
    forms = (Forest, Net)
    takes_infinite = True
    replay = "onnxruntime.InferenceSession('FILE').run(None, {'features': X})"

    @property
    def single(self) -> bool:  # type: ignore[override]
        return self.precision == "single"

    @property
    def rounds_score(self) -> bool:  # type: ignore[override]
        return self.precision == "double"

    def write(self, given: Handover) -> bytes:
        onnx = _onnx()
        make, d = onnx.helper, given.model.n_features
        if isinstance(given.form, Forest):
            nodes, constants, kind = _trees(onnx, expand(given.form), single=self.single)
        else:
            assert isinstance(given.form, Net)
            nodes, constants, kind = _net(onnx, given.form)
        graph = make.make_graph(
            nodes,
            "podium",
            [make.make_tensor_value_info("features", onnx.TensorProto.FLOAT, ["N", d])],
            [make.make_tensor_value_info("score", kind, ["N", 1])],
            initializer=constants,
        )
        opsets = [make.make_opsetid("", 17), make.make_opsetid("ai.onnx.ml", 3)]
        model = make.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="podium")
        about = {"podium": version(), "learner": repr(given.model.learner), "features": "\n".join(given.names)}
        make.set_model_props(model, about)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))

    def read(self, raw: bytes, names: tuple[str, ...]) -> Handed:
        onnx = _onnx()
        try:
            graph = onnx.load_from_string(raw).graph
            trees = [node for node in graph.node if node.op_type == "TreeEnsembleRegressor"]
            if len(trees) == 1:
                return _read_trees(onnx, trees[0], len(names))
            return _read_net(onnx, graph)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise ModelFileError(f"The graph is not one of podium's ({error}). Export the model again.") from error
        except Exception as error:
            if type(error).__name__ != "DecodeError":
                raise
            raise ModelFileError("The file is not ONNX, or damaged. Export the model again.") from error

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> Ran | None:
        runtime = missing_package("onnxruntime")
        if runtime is None:
            return None
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        session = runtime.InferenceSession(raw, options, providers=["CPUExecutionProvider"])
        scores = session.run(["score"], {"features": X})[0]
        return Ran(scores[:, 0].astype(np.float64), f"onnxruntime {runtime.__version__}")


def _onnx() -> Any:
    onnx = missing_package("onnx")
    if onnx is None:
        raise MissingPackageError("onnx", "Writing and reading ONNX", "onnx")
    return onnx


def _trees(onnx: Any, found: Forest, *, single: bool) -> tuple[list[Any], list[Any], int]:
    """A TreeEnsembleRegressor; its nodes are the splits of a tree, then its leaves."""
    sizes = np.diff(found.first_split)
    splits, leaves = sizes, np.diff(found.first_leaf)
    columns: list[list[Any]] = [[] for _ in range(8)]
    trees, ids, modes, features, values, true, false, nan = columns
    for t in range(found.n_trees):
        a, b = int(found.first_split[t]), int(found.first_split[t + 1])
        n, m = int(splits[t]), int(leaves[t])
        trees += [t] * (n + m)
        ids += range(n + m)
        modes += ["BRANCH_LEQ"] * n + ["LEAF"] * m
        features += [*found.feature[a:b].tolist(), *[0] * m]
        values += [*found.threshold[a:b].tolist(), *[0.0] * m]
        for side, column in ((found.left, true), (found.right, false)):
            column += [*np.where(side[a:b] >= 0, side[a:b], n - 1 - side[a:b]).tolist(), *[0] * m]
        nan += [*found.missing_left[a:b].astype(int).tolist(), *[0] * m]
    owner = np.repeat(np.arange(found.n_trees), leaves)
    places = np.arange(len(found.values)) - found.first_leaf[owner] + splits[owner]
    common: dict[str, Any] = {
        "nodes_treeids": trees, "nodes_nodeids": ids, "nodes_modes": modes, "nodes_featureids": features,
        "nodes_truenodeids": true, "nodes_falsenodeids": false, "nodes_missing_value_tracks_true": nan,
        "target_treeids": owner.tolist(), "target_nodeids": places.tolist(), "target_ids": [0] * len(owner),
        "n_targets": 1, "aggregate_function": "SUM", "post_transform": "NONE",
    }  # fmt: skip
    make, double = onnx.helper, onnx.TensorProto.DOUBLE
    if single:
        tree = make.make_node(
            "TreeEnsembleRegressor", ["features"], ["score"], domain="ai.onnx.ml",
            nodes_values=values, target_weights=found.values.astype(np.float32).tolist(), **common,
        )  # fmt: skip
        return [tree], [], onnx.TensorProto.FLOAT
    tree = make.make_node(
        "TreeEnsembleRegressor", ["doubles"], ["score"], domain="ai.onnx.ml",
        nodes_values_as_tensor=make.make_tensor("values", double, [len(values)], values),
        target_weights_as_tensor=make.make_tensor("weights", double, [len(owner)], found.values.tolist()),
        **common,
    )  # fmt: skip
    return [make.make_node("Cast", ["features"], ["doubles"], to=double), tree], [], onnx.TensorProto.FLOAT


def _net(onnx: Any, net: Net) -> tuple[list[Any], list[Any], int]:
    """The transform as podium computes it, its result as float32, then the layers in double."""
    make, double, single = onnx.helper.make_node, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT
    tensors = {"filling": net.filling, "centre": net.centre, "scale": net.scale}
    if net.within_query:
        tensors = {"zero": np.zeros(1), "one": np.ones(1), "above": np.full(1, np.inf), "below": np.full(1, -np.inf)}
    nodes = [make("Cast", ["features"], ["x"], to=double), make("IsNaN", ["features"], ["missing"])]
    nodes += _of_query(make, double) if net.within_query else []
    nodes += [
        make("Where", ["missing", "centre" if net.within_query else "filling", "x"], ["filled"]),
        make("Sub", ["filled", "centre"], ["centred"]),
        make("Mul", ["centred", "scale"], ["scaled"]),
        make("Cast", ["scaled"], ["rounded"], to=single),
        make("Cast", ["rounded"], ["layer0"], to=double),
    ]
    last = len(net.layers) - 1
    for k, (weights, offset) in enumerate(net.layers):
        tensors |= {f"weights{k}": weights, f"offset{k}": offset}
        out = "score" if k == last else f"layer{k + 1}"
        nodes += [
            make("MatMul", [f"layer{k}", f"weights{k}"], [f"product{k}"]),
            make("Add", [f"product{k}", f"offset{k}"], [out if k == last else f"sum{k}"]),
        ]
        if k < last:
            nodes.append(make("Tanh" if net.activation == "tanh" else "Relu", [f"sum{k}"], [out]))
    constants = [
        onnx.numpy_helper.from_array(np.ascontiguousarray(one, np.float64), key) for key, one in tensors.items()
    ]
    return nodes, constants, double


def _of_query(make: Any, double: int) -> list[Any]:
    """centre and scale of min–max scaling over all rows; a feature that is missing or constant has scale 0."""
    return [
        make("Where", ["missing", "above", "x"], ["for_least"]),
        make("Where", ["missing", "below", "x"], ["for_most"]),
        make("ReduceMin", ["for_least"], ["least"], axes=[0], keepdims=1),
        make("ReduceMax", ["for_most"], ["most"], axes=[0], keepdims=1),
        make("Sub", ["most", "least"], ["width"]),
        make("Greater", ["width", "zero"], ["varies"]),
        make("Where", ["varies", "width", "one"], ["divisor"]),
        make("Div", ["one", "divisor"], ["inverse"]),
        make("Where", ["varies", "inverse", "zero"], ["scale"]),
        make("Less", ["least", "above"], ["known"]),
        make("Where", ["known", "least", "zero"], ["centre"]),
    ]


def _read_trees(onnx: Any, node: Any, n_features: int) -> Forest:
    found = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    values, weights = (
        onnx.numpy_helper.to_array(found[f"{key}_as_tensor"]) if f"{key}_as_tensor" in found else np.array(found[key])
        for key in ("nodes_values", "target_weights")
    )
    keys = zip(found["nodes_treeids"], found["nodes_nodeids"], strict=True)
    rows = {key: k for k, key in enumerate(keys)}
    targets = zip(found["target_treeids"], found["target_nodeids"], strict=True)
    outputs = {key: float(weight) for key, weight in zip(targets, weights, strict=True)}
    cuts = round_down(values)

    def tree(t: int) -> Grown:
        def look(node: int) -> Split | Leaf:
            k = rows[t, node]
            mode = found["nodes_modes"][k]
            if mode == b"LEAF":
                return Leaf(outputs[t, node])
            if mode != b"BRANCH_LEQ":
                raise ValueError(f"a node of mode {mode!r}")
            ways = (found["nodes_truenodeids"][k], found["nodes_falsenodeids"][k])
            nan_left = bool(found["nodes_missing_value_tracks_true"][k])
            return Split(found["nodes_featureids"][k], float(cuts[k]), nan_left, *ways)

        return grow(0, look, n_features=n_features)

    return forest([tree(t) for t in sorted(set(found["nodes_treeids"]))], n_features)


def _read_net(onnx: Any, graph: Any) -> Net:
    tensors = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    ops = [node.op_type for node in graph.node]
    within = "ReduceMin" in ops
    scaling = [node.op_type for node in _of_query(onnx.helper.make_node, onnx.TensorProto.DOUBLE)] if within else []
    head = ["Cast", "IsNaN", *scaling, "Where", "Sub", "Mul", "Cast", "Cast"]
    n = ops.count("MatMul")
    between = {op for op in ops[len(head) :] if op not in ("MatMul", "Add")}
    if ops[: len(head)] != head or not between <= {"Tanh", "Relu"} or len(between) > 1:
        raise ValueError("other operators")
    layers = tuple((tensors[f"weights{k}"], tensors[f"offset{k}"]) for k in range(n))
    activation: Literal["tanh", "relu"] = "tanh" if "Tanh" in between else "relu"
    none = np.zeros(len(layers[0][0]))
    centre, scale, filling = (none if within else tensors[key] for key in ("centre", "scale", "filling"))
    return Net(centre, scale, filling, layers, activation, within_query=within)
