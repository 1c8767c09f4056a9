"""Odd values in JSON."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

ODD = [
    None, True, "", " ", "x", "1", "nan", "\ud800", "\0", [], {}, [[]], [None], {"": None}, {"a": {"a": 1}}, 0, -1, 0.5,
    10**400, 2**63, float("nan"), float("inf"), 1e308,
]  # fmt: skip


def mutated_value(values: list[Any], rng: np.random.Generator) -> None:
    """Change one or two values in a list of JSON values: they become others, absent, twice or are elsewhere."""
    for _ in range(rng.integers(1, 3)):
        places = list(inside(values))
        if not places:
            return
        holder, key = places[rng.integers(0, len(places))]
        other, source = places[rng.integers(0, len(places))]
        match rng.integers(0, 4):
            case 0:
                del holder[key]
            case 1:
                holder[key] = copy.deepcopy(other[source])
            case 2 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case _:
                holder[key] = copy.deepcopy(ODD[rng.integers(0, len(ODD))])


def inside(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in a JSON value: what holds it, and its key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from inside(value[key])
