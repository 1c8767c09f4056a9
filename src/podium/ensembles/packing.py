"""Packing: models inside the parameters of another model, so that one file holds them all.

NUMBER/head          the model's description, as bytes of JSON
NUMBER/params/NAME   its parameters
NUMBER/state/NAME    the state of its transform
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from podium.base.errors import ModelFileError
from podium.model import Model
from podium.scorers import Params


def pack(models: Sequence[Model]) -> Params:
    """Parameters that hold models."""
    packed: Params = {}
    for number, model in enumerate(models):
        head, arrays = model.parts()
        packed[f"{number}/head"] = packed_json(head)
        packed.update({f"{number}/{name}": array for name, array in arrays.items()})
    return packed


def unpack(params: Params, count: int, *, most_features: int) -> list[Model]:
    """The models of packed parameters, from a file that nobody vouches for."""
    if any(name.count("params/") > _DEEPEST for name in params):
        raise ModelFileError(f"Models within models, more than {_DEEPEST} deep: the file is damaged.")
    models = []
    for number in range(count):
        head = unpacked_json(params, f"{number}/head")
        if not isinstance(head, dict):
            raise ModelFileError(f"Member {number} has no description. Train the model again.")
        models.append(Model.of_parts(head, members_params(params, number), most_features=most_features))
    return models


def members_params(params: Params, number: int) -> Params:
    """The arrays of one member."""
    folder = f"{number}/"
    return {name.removeprefix(folder): array for name, array in params.items() if name.startswith(folder)}


def packed_json(value: object) -> Any:
    """A value as bytes of JSON, in an array."""
    return np.frombuffer(json.dumps(value, ensure_ascii=False).encode(), np.uint8)


def unpacked_json(params: Params, name: str) -> Any:
    """The value of `packed_json`."""
    array = params.get(name)
    if array is None or array.dtype != np.uint8 or array.ndim != 1 or len(array) > _LONGEST:
        raise ModelFileError(f"The model's part {name!r} is missing or damaged. Train the model again.")
    try:
        return json.loads(array.tobytes())
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The model's part {name!r} is damaged ({error}). Train the model again.") from None


_DEEPEST = 20
_LONGEST = 2**26
"""Bytes of a description: names of a million features fit."""
