"""Packing: models inside the parameters of another model, so that one file holds them all.

NUMBER/head          the model's description, as bytes of JSON
NUMBER/params/NAME   its parameters
NUMBER/state/NAME    the state of its transform
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from podium.base.errors import ModelFileError, PodiumError
from podium.base.json_arrays import packed_json as packed_json
from podium.base.json_arrays import unpacked_json as unpacked_json
from podium.model import Model, try_out
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
    """The models of packed parameters, from a file that nobody vouches for; each has scored a document."""
    models = []
    for number, model in enumerate(_members(params, count, most_features=most_features)):
        try:
            models.append(try_out(model))
        except PodiumError:
            raise
        except Exception as error:  # odd arrays may raise anything
            raise ModelFileError(f"Member {number} is damaged ({error}). Train the model again.") from error
    return models


def _members(params: Params, count: int, *, most_features: int) -> list[Model]:
    if any(name.count("params/") > _DEEPEST for name in params):
        raise ModelFileError(f"Models within models, more than {_DEEPEST} deep: the file is damaged.")
    members: dict[str, Params] = {str(number): {} for number in range(count)}
    for name, array in params.items():
        number, _, rest = name.partition("/")
        if number in members:
            members[number][rest] = array
    models = []
    for number, own in members.items():
        head = unpacked_json(own, "head")
        if not isinstance(head, dict):
            raise ModelFileError(f"Member {number} has no description. Train the model again.")
        models.append(Model.of_parts(head, own, most_features=most_features))
    return models


def members_params(params: Params, number: int) -> Params:
    """The arrays of one member."""
    folder = f"{number}/"
    return {name.removeprefix(folder): array for name, array in params.items() if name.startswith(folder)}


def query_columns_of(params: Params) -> tuple[str, ...]:
    """The query features that packed models cannot score without."""
    count = sum(1 for name in params if re.fullmatch(r"\d+/head", name))
    models = _members(params, count, most_features=2**31)
    return tuple(dict.fromkeys(name for model in models for name in model.query_columns))


_DEEPEST = 20
