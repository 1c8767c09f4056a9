"""Curves of features as ONNX operators with their tensors, and back: clipping and quantiles, from `raw` to `x`.

A value's place among the knots is found in two steps of √K comparisons: its block of knots, then its knot there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from podium.base.arrays import AnyArray, Array
from podium.export.transforms import Clipped, Curve, Quantiles
from podium.transforms.quantile import normal_table

Graph = tuple[list[Any], dict[str, Any]]
"""Operators, and tensors by name."""


def curve_graph(onnx: ModuleType, curve: Curve) -> Graph:
    """From `raw` in double, where `missing` or not, to `x`."""
    make = onnx.helper.make_node
    if isinstance(curve, Clipped):
        nodes = [make("Max", ["raw", "clip_low"], ["not_below"]), make("Min", ["not_below", "clip_high"], ["x"])]
        return nodes, {"clip_low": curve.low, "clip_high": curve.high}
    out = "share" if curve.normal else "x"
    nodes, tensors = _share_nodes(onnx, out), _share_tensors(curve)
    if curve.normal:
        more, needs = _normal(onnx)
        nodes, tensors = nodes + more, tensors | needs
    return nodes, tensors


def read_curve(tensors: Mapping[str, AnyArray]) -> Curve | None:
    """The curve of these tensors; raises KeyError or ValueError if they do not fit together."""
    if "clip_low" in tensors:
        return Clipped(tensors["clip_low"], tensors["clip_high"])
    if "n_knots" not in tensors:
        return None
    counts, padded = tensors["n_knots"], [tensors[key] for key in ("knot", "knot_low", "knot_high")]
    if any(len(counts) * int(counts.max(initial=0)) > part.size for part in padded):
        raise ValueError("fewer knots than they say")
    columns = [part.reshape(len(counts), -1) for part in padded]
    knots = [np.concatenate([np.zeros(0), *(row[:n] for row, n in zip(part, counts, strict=True))]) for part in columns]
    knot, low, high = knots
    return Quantiles(np.cumsum([0, *counts.tolist()]), knot, low, high, "normal_share" in tensors)


def _share_tensors(curve: Quantiles) -> dict[str, Any]:
    """Knots of all features in blocks of one size, the rest filled up; `feature` is the first block of each."""
    counts = np.diff(curve.first)
    side = int(np.ceil(np.sqrt(counts.max(initial=1) + 1)))

    def padded(values: Array, filling: float) -> Array:
        out = np.full((len(counts), side * side), filling)
        for l, n in enumerate(counts):
            out[l, :n] = values[curve.first[l] : curve.first[l] + n]
        return out

    knots, varies = padded(curve.knot, np.inf), counts > 1
    ends = np.where(varies, np.maximum(curve.first[1:] - 1, 0), 0)
    last = curve.knot[ends] if len(curve.knot) else np.zeros(len(counts))
    return {
        "n_knots": counts.astype(np.int64),
        "knot": knots.ravel(),
        "knot_low": padded(curve.low, 1.0).ravel(),
        "knot_high": padded(curve.high, 1.0).ravel(),
        "knot_blocks": knots.reshape(-1, side),
        "knot_starts": knots[:, ::side],
        "block": side * np.arange(len(counts), dtype=np.int64),
        "side": np.array([side], np.int64),
        "step": np.array([1], np.int64),
        "inner": np.array([2], np.int64),
        "least_knot": np.where(varies, knots[:, 0], 0.0),
        "most_knot": np.where(varies, last, 0.0),
        "varies": varies,
        "nothing": np.zeros(1),
        "half": np.full(1, 0.5),
        "all": np.ones(1),
    }


def _share_nodes(onnx: ModuleType, out: str) -> list[Any]:
    make = onnx.helper.make_node
    return [
        make("Where", ["missing", "least_knot", "raw"], ["there"]),
        make("Max", ["there", "least_knot"], ["from_least"]),
        make("Min", ["from_least", "most_knot"], ["inside"]),
        *_last(onnx, "inside", "knot", ["knot_starts", "knot_blocks", "block"]),
        make("Gather", ["knot", "knot_at"], ["left"]),
        make("Gather", ["knot", "knot_after"], ["right"]),
        make("Gather", ["knot_low", "knot_at"], ["low_at"]),
        make("Gather", ["knot_high", "knot_at"], ["high_at"]),
        make("Gather", ["knot_low", "knot_after"], ["low_after"]),
        *_line(make, "place", ["inside", "left", "right", "high_at", "low_after"]),
        make("Add", ["low_at", "high_at"], ["both"]),
        make("Mul", ["both", "half"], ["at_knot"]),
        make("Equal", ["inside", "left"], ["is_knot"]),
        make("Where", ["is_knot", "at_knot", "place_line"], ["share_inside"]),
        make("Less", ["there", "least_knot"], ["is_below"]),
        make("Where", ["is_below", "nothing", "share_inside"], ["share_from"]),
        make("Greater", ["there", "most_knot"], ["is_above"]),
        make("Where", ["is_above", "all", "share_from"], ["share_to"]),
        make("Where", ["varies", "share_to", "half"], [out]),
    ]


def _last(onnx: ModuleType, value: str, key: str, tables: list[str]) -> list[Any]:
    """The last knot up to each value, `key_at`, and the one after it, by blocks of `side`."""
    make, (starts, blocks, block), integer = onnx.helper.make_node, tables, onnx.TensorProto.INT64
    side = "side" if key == "knot" else "normal_side"
    return [
        make("Unsqueeze", [value, "inner"], [f"{key}_value"]),
        make("GreaterOrEqual", [f"{key}_value", starts], [f"{key}_begun"]),
        make("Cast", [f"{key}_begun"], [f"{key}_begun_count"], to=integer),
        make("ReduceSum", [f"{key}_begun_count", "inner"], [f"{key}_n_begun"], keepdims=0),
        make("Sub", [f"{key}_n_begun", "step"], [f"{key}_own_block"]),
        make("Add", [f"{key}_own_block", block], [f"{key}_block"]),
        make("Gather", [blocks, f"{key}_block"], [f"{key}_row"], axis=0),
        make("GreaterOrEqual", [f"{key}_value", f"{key}_row"], [f"{key}_passed"]),
        make("Cast", [f"{key}_passed"], [f"{key}_passed_count"], to=integer),
        make("ReduceSum", [f"{key}_passed_count", "inner"], [f"{key}_n_passed"], keepdims=0),
        make("Mul", [f"{key}_block", side], [f"{key}_before"]),
        make("Add", [f"{key}_before", f"{key}_n_passed"], [f"{key}_after"]),
        make("Sub", [f"{key}_after", "step"], [f"{key}_at"]),
    ]


def _line(make: Callable[..., Any], key: str, points: list[str]) -> list[Any]:
    """`key_line`: the line through (x0, y0) and (x1, y1) at x, within y0 and y1."""
    x, x0, x1, y0, y1 = points
    return [
        make("Sub", [y1, y0], [f"{key}_rise"]),
        make("Sub", [x1, x0], [f"{key}_run"]),
        make("Div", [f"{key}_rise", f"{key}_run"], [f"{key}_slope"]),
        make("Sub", [x, x0], [f"{key}_beyond"]),
        make("Div", [y0, f"{key}_slope"], [f"{key}_start"]),
        make("Add", [f"{key}_beyond", f"{key}_start"], [f"{key}_along"]),
        make("Mul", [f"{key}_along", f"{key}_slope"], [f"{key}_y"]),
        make("Max", [f"{key}_y", y0], [f"{key}_from"]),
        make("Min", [f"{key}_from", y1], [f"{key}_line"]),
    ]


def _normal(onnx: ModuleType) -> Graph:
    """From `share` to `x`, its normal quantile, by a table of the lower half."""
    make, (share, quantile) = onnx.helper.make_node, normal_table()
    side = int(np.ceil(np.sqrt(len(share) + 1)))
    padded = np.full(side * side, np.inf)
    padded[: len(share) - 1] = share[:-1]  # a half is on the last line
    nodes = [
        make("Sub", ["all", "share"], ["rest"]),
        make("Greater", ["share", "half"], ["upper"]),
        make("Where", ["upper", "rest", "share"], ["lower_half"]),
        make("Max", ["lower_half", "edge"], ["tail"]),
        *_last(onnx, "tail", "normal", ["normal_starts", "normal_blocks", "normal_first"]),
        make("Gather", ["normal_share", "normal_at"], ["normal_left"]),
        make("Gather", ["normal_share", "normal_after"], ["normal_right"]),
        make("Gather", ["normal_quantile", "normal_at"], ["quantile_left"]),
        make("Gather", ["normal_quantile", "normal_after"], ["quantile_right"]),
        *_line(make, "normal", ["tail", "normal_left", "normal_right", "quantile_left", "quantile_right"]),
        make("Neg", ["normal_line"], ["mirrored"]),
        make("Where", ["upper", "mirrored", "normal_line"], ["x"]),
    ]
    tensors = {
        "normal_share": share,
        "normal_quantile": quantile,
        "normal_blocks": padded.reshape(-1, side),
        "normal_starts": padded[::side],
        "normal_first": np.zeros(1, np.int64),
        "normal_side": np.array([side], np.int64),
        "edge": share[:1],
    }
    return nodes, tensors
