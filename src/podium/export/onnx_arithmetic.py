"""Transforms and layers as ONNX operators with their tensors, and back from the tensors.

Names are fixed, so equal tensors give equal graphs: a file is recognised by comparing its graph with podium's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from podium.base.arrays import AnyArray
from podium.export.exported_forms import Net
from podium.export.onnx_curves import curve_graph, read_curve
from podium.export.transforms import Front, Kernel, Mixture, Products
from podium.scorers.activations import GELU_CUBE, GELU_SCALE, SELU_BELOW, SELU_SCALE, Activation

Graph = tuple[list[Any], dict[str, Any]]
"""Operators, and tensors by name."""


def net_graph(onnx: ModuleType, net: Net) -> Graph:
    """The transformed features, then the layers in double, to `score`."""
    make, last = onnx.helper.make_node, len(net.layers) - 1
    nodes, tensors = front_graph(onnx, net.front)
    for k, (weights, offset) in enumerate(net.layers):
        tensors |= {f"weights{k}": weights, f"offset{k}": offset}
        out = "score" if k == last else f"layer{k + 1}"
        nodes += [
            make("MatMul", [f"layer{k}", f"weights{k}"], [f"product{k}"]),
            make("Add", [f"product{k}", f"offset{k}"], [out if k == last else f"sum{k}"]),
        ]
        if k < last:
            more, needs = _activation(make, net.activation, k, out)
            nodes, tensors = nodes + more, tensors | needs
    return nodes, tensors


def _activation(make: Callable[..., Any], activation: Activation, k: int, out: str) -> Graph:
    """From `sum{k}` to `out`, by operators that runtimes have in double."""
    if activation in ("tanh", "relu"):
        return [make(activation.capitalize(), [f"sum{k}"], [out])], {}
    if activation in ("elu", "selu"):
        return _bent(make, k, out, *((1.0, 1.0) if activation == "elu" else (SELU_SCALE, SELU_BELOW)))
    cube = [
        make("Mul", [f"sum{k}", f"sum{k}"], [f"square{k}"]),
        make("Mul", [f"square{k}", f"sum{k}"], [f"cube{k}"]),
        make("Mul", [f"cube{k}", "gelu_cube"], [f"bend{k}"]),
        make("Add", [f"sum{k}", f"bend{k}"], [f"inner{k}"]),
    ]
    gelu = activation == "gelu"
    scale = np.array([GELU_SCALE if gelu else 0.5])
    nodes = [
        *(cube if gelu else []),
        make("Mul", [f"inner{k}" if gelu else f"sum{k}", "gate_scale"], [f"gate{k}"]),
        make("Tanh", [f"gate{k}"], [f"open{k}"]),
        make("Add", [f"open{k}", "one"], [f"opened{k}"]),
        make("Mul", [f"sum{k}", "half"], [f"half{k}"]),
        make("Mul", [f"half{k}", f"opened{k}"], [out]),
    ]
    tensors = {"gate_scale": scale, "one": np.ones(1), "half": np.array([0.5])}
    return nodes, tensors | ({"gelu_cube": np.array([GELU_CUBE])} if gelu else {})


def _bent(make: Callable[..., Any], k: int, out: str, above: float, below: float) -> Graph:
    """`above`·max(0, z) + `below`·(e^min(0, z) − 1)."""
    nodes = [
        make("Relu", [f"sum{k}"], [f"rising{k}"]),
        make("Sub", [f"sum{k}", f"rising{k}"], [f"falling{k}"]),
        make("Exp", [f"falling{k}"], [f"power{k}"]),
        make("Sub", [f"power{k}", "one"], [f"less{k}"]),
        make("Mul", [f"less{k}", "of_less"], [f"bent{k}"]),
        make("Mul", [f"rising{k}", "of_rising"], [f"straight{k}"]),
        make("Add", [f"straight{k}", f"bent{k}"], [out]),
    ]
    return nodes, {"one": np.ones(1), "of_less": np.array([below]), "of_rising": np.array([above])}


def front_graph(onnx: ModuleType, front: Front) -> Graph:
    """From `features` to `layer0`: podium's float32 numbers, in double."""
    make, double, single = onnx.helper.make_node, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT
    tensors = {"filling": front.filling, "centre": front.centre, "scale": front.scale}
    if front.within_query:
        tensors = {"zero": np.zeros(1), "one": np.ones(1), "above": np.full(1, np.inf), "below": np.full(1, -np.inf)}
    if len(front.added):
        tensors |= {"filling": front.filling, "added": front.added.astype(np.int64)}
    nodes = [make("Cast", ["features"], ["x"], to=double), make("IsNaN", ["features"], ["missing"])]
    nodes += _of_query(make) if front.within_query else []
    if front.curve is not None:
        more, needs = curve_graph(onnx, front.curve)
        nodes, tensors = [make("Cast", ["features"], ["raw"], to=double), *nodes[1:], *more], tensors | needs
    first = "mixed0" if front.mixtures else "layer0"
    nodes += [
        make("Where", ["missing", "centre" if front.within_query else "filling", "x"], ["filled"]),
        make("Sub", ["filled", "centre"], ["centred"]),
        make("Mul", ["centred", "scale"], ["scaled"]),
        make("Cast", ["scaled"], ["rounded"], to=single),
        make("Cast", ["rounded"], ["all_scaled" if len(front.added) else first], to=double),
    ]
    if len(front.added):
        nodes += [
            make("Where", ["missing", "filling", "x"], ["as_they_are"]),
            make("Gather", ["all_scaled", "added"], ["beside"], axis=1),
            make("Concat", ["as_they_are", "beside"], [first], axis=1),
        ]
    for k, mixture in enumerate(front.mixtures):
        out = f"mixed{k + 1}" if k + 1 < len(front.mixtures) else "layer0"
        nodes += [
            make("IsNaN", [f"mixed{k}"], [f"gap{k}"]),
            make("Where", [f"gap{k}", "zero", f"mixed{k}"], [f"known{k}"]),
        ]
        operators = (
            _products(onnx, mixture, k, out) if isinstance(mixture, Products) else _kernel(onnx, mixture, k, out)
        )
        more, needs = operators
        nodes += more
        tensors |= {"zero": np.zeros(1), **needs}
    return nodes, tensors


def _of_query(make: Callable[..., Any]) -> list[Any]:
    """`centre` and `scale` of min–max scaling over all rows; a missing or constant feature has scale 0."""
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


def _products(onnx: ModuleType, products: Products, k: int, out: str) -> Graph:
    """The features, followed by float32((x_first·x_second − mean)·times)."""
    make = onnx.helper.make_node
    nodes = [
        make("Gather", [f"known{k}", f"first{k}"], [f"a{k}"], axis=1),
        make("Gather", [f"known{k}", f"second{k}"], [f"b{k}"], axis=1),
        make("Mul", [f"a{k}", f"b{k}"], [f"pairs{k}"]),
        make("Sub", [f"pairs{k}", f"mean{k}"], [f"pairs_centred{k}"]),
        make("Mul", [f"pairs_centred{k}", f"times{k}"], [f"pairs_scaled{k}"]),
        make("Cast", [f"pairs_scaled{k}"], [f"pairs_rounded{k}"], to=onnx.TensorProto.FLOAT),
        make("Cast", [f"pairs_rounded{k}"], [f"more{k}"], to=onnx.TensorProto.DOUBLE),
        make("Concat", [f"known{k}", f"more{k}"], [out], axis=1),
    ]
    first, second = products.first.astype(np.int64), products.second.astype(np.int64)
    return nodes, {f"first{k}": first, f"second{k}": second, f"mean{k}": products.mean, f"times{k}": products.scale}


def _kernel(onnx: ModuleType, kernel: Kernel, k: int, out: str) -> Graph:
    """float32(e^(−γ·max(0, ‖x‖² + ‖z‖² − 2⟨x, z⟩))·root), the landmarks z as columns."""
    make = onnx.helper.make_node
    nodes = [
        make("Mul", [f"known{k}", f"known{k}"], [f"squares{k}"]),
        make("ReduceSum", [f"squares{k}", "along"], [f"length{k}"]),
        make("Mul", [f"landmarks{k}", f"landmarks{k}"], [f"landmark_squares{k}"]),
        make("ReduceSum", [f"landmark_squares{k}", "down"], [f"landmark_length{k}"]),
        make("MatMul", [f"known{k}", f"landmarks{k}"], [f"inner{k}"]),
        make("Add", [f"inner{k}", f"inner{k}"], [f"twice{k}"]),
        make("Add", [f"length{k}", f"landmark_length{k}"], [f"lengths{k}"]),
        make("Sub", [f"lengths{k}", f"twice{k}"], [f"difference{k}"]),
        make("Relu", [f"difference{k}"], [f"distance{k}"]),
        make("Mul", [f"distance{k}", f"gamma{k}"], [f"power{k}"]),
        make("Neg", [f"power{k}"], [f"exponent{k}"]),
        make("Exp", [f"exponent{k}"], [f"near{k}"]),
        make("MatMul", [f"near{k}", f"root{k}"], [f"of_kernel{k}"]),
        make("Cast", [f"of_kernel{k}"], [f"rounded{k}"], to=onnx.TensorProto.FLOAT),
        make("Cast", [f"rounded{k}"], [out], to=onnx.TensorProto.DOUBLE),
    ]
    axes = {"along": np.array([1]), "down": np.array([0])}
    numbers = {f"gamma{k}": np.array([kernel.gamma]), f"landmarks{k}": kernel.landmarks.T, f"root{k}": kernel.root}
    return nodes, {**axes, **numbers}


def read_net(tensors: Mapping[str, AnyArray], n_features: int, activation: Activation) -> Net:
    """The network of these tensors with an activation; raises KeyError or ValueError if they do not fit together."""
    n = sum(name.startswith("weights") for name in tensors)
    layers = tuple((tensors[f"weights{k}"], tensors[f"offset{k}"]) for k in range(n))
    net = Net(read_front(tensors, n_features), layers, activation)
    if [weights.shape for weights, _ in layers] != [*itertools.pairwise(net.widths[len(net.front.mixtures) :])]:
        raise ValueError("layers that do not follow each other")
    return net


def read_front(tensors: Mapping[str, AnyArray], n_features: int) -> Front:
    """The front of these tensors; raises KeyError or ValueError if they do not fit together."""
    none, within, mixtures = np.zeros(n_features), "above" in tensors, list[Mixture]()
    added = tensors["added"].astype(np.int32) if "added" in tensors else np.zeros(0, np.int32)
    centre, scale = (none if within else tensors[key] for key in ("centre", "scale"))
    filling = none if within and not len(added) else tensors["filling"]
    while {f"first{len(mixtures)}", f"root{len(mixtures)}"} & tensors.keys():
        k = len(mixtures)
        if f"first{k}" in tensors:
            first, second = (tensors[f"{key}{k}"].astype(np.int32) for key in ("first", "second"))
            mixtures.append(Products(first, second, tensors[f"mean{k}"], tensors[f"times{k}"]))
        else:
            mixtures.append(Kernel(float(tensors[f"gamma{k}"][0]), tensors[f"landmarks{k}"].T, tensors[f"root{k}"]))
    curve = read_curve(tensors)
    front = Front(centre, scale, filling, within_query=within, added=added, mixtures=tuple(mixtures), curve=curve)
    if len(front.centre) != n_features:
        raise ValueError("another number of features")
    return front
