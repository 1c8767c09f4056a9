"""Numbers as engines read them back, and trees as nested formats can hold them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from podium.errors import IncompatibleError
from podium.scorers.trees.exact_splits import depth, expand
from podium.scorers.trees.forest import Forest

DEEPEST = 400
_INFINITE = 1e39  # overflows to infinity as float32, is beyond every float32 as float64, and is plain JSON


def single(value: float) -> float:
    """A number whose shortest text is read as this float32, whether directly or by way of float64."""
    return float(np.copysign(_INFINITE, value)) if np.isinf(value) else float(str(np.float32(value)))


def double(value: float) -> float:
    """The number itself; for infinity one beyond every float32."""
    return float(np.copysign(_INFINITE, value)) if np.isinf(value) else float(value)


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON."""
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)


def as_trees(forest: Forest, target: str) -> Forest:
    """Trees without shared splits, of a depth that nested formats can hold."""
    found = expand(forest)
    deepest = depth(found)
    if deepest > DEEPEST:
        raise IncompatibleError(
            f"a tree is {deepest} splits deep, and readers of {target} allow about {DEEPEST} levels. "
            "Train with fewer leaves, or export to xgboost, onnx, c or python."
        )
    return found
