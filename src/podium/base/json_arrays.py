"""Values of JSON in arrays of bytes, so that a file of arrays can hold names and texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from podium.base.arrays import AnyArray
from podium.base.errors import ModelFileError

_LONGEST = 2**26
"""Bytes of a value: names of a million features fit."""


def packed_json(value: object) -> Any:
    """A value as bytes of JSON, in an array."""
    return np.frombuffer(json.dumps(value, ensure_ascii=False).encode(), np.uint8)


def unpacked_json(arrays: Mapping[str, AnyArray], name: str) -> Any:
    """The value of `packed_json`, from arrays that nobody vouches for."""
    array = arrays.get(name)
    if array is None or array.dtype != np.uint8 or array.ndim != 1 or len(array) > _LONGEST:
        raise ModelFileError(f"The model's part {name!r} is missing or damaged. Train the model again.")
    try:
        return json.loads(array.tobytes())
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The model's part {name!r} is damaged ({error}). Train the model again.") from None
