"""float32 numbers in order: the next one up or down, and the largest one below a float64.

>>> import numpy as np
>>> below = round_down(np.array([0.1]))
>>> float(below[0]) < 0.1 < float(next_up(below)[0])
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Ints, Singles

LARGEST = float(np.finfo(np.float32).max)


def round_down(values: ArrayLike | list[Any]) -> Singles:
    """The largest float32 not above each value, so that x ≤ value holds for the same float32 numbers x."""
    wanted = np.asarray(values, np.float64)
    with np.errstate(over="ignore", under="ignore"):
        near = wanted.astype(np.float32)
    return np.where(near.astype(np.float64) > wanted, next_down(near), near)


def next_up(values: ArrayLike) -> Singles:
    """The next larger float32; ∞ stays."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.nextafter(np.asarray(values, np.float32), np.float32(np.inf)))


def next_down(values: ArrayLike) -> Singles:
    """The next smaller float32; −∞ stays."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.nextafter(np.asarray(values, np.float32), np.float32(-np.inf)))


def to_place(values: Singles) -> Ints:
    """Index of each finite float32 in their order: neighbours differ by 1, and both zeros are 0."""
    bits = values.view(np.int32).astype(np.int64)
    return np.where(bits >= 0, bits, -(bits + 2**31))


def from_place(places: Ints) -> Singles:
    """The float32 numbers of these indices."""
    bits = np.where(places >= 0, places, -places - 2**31)
    return bits.astype(np.int32).view(np.float32)
