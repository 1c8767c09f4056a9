"""float32 numbers in order: the next one up or down, and the largest one below a float64.

>>> import numpy as np
>>> below = round_down(np.array([0.1]))
>>> float(below[0]) < 0.1 < float(next_up(below)[0])
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Singles

LARGEST = float(np.finfo(np.float32).max)


def round_down(values: Any) -> Singles:
    """The largest float32 up to each value: x ≤ value for the same float32 numbers x."""
    values = np.asarray(values, np.float64)
    with np.errstate(over="ignore", under="ignore"):
        near = values.astype(np.float32)
    return np.where(near.astype(np.float64) > values, next_down(near), near)


def next_up(values: Any) -> Singles:
    """The next float32; of ∞ itself."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.nextafter(np.asarray(values, np.float32), np.float32(np.inf)))


def next_down(values: Any) -> Singles:
    """The float32 before; of −∞ itself."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.nextafter(np.asarray(values, np.float32), np.float32(-np.inf)))


def to_place(values: Singles) -> NDArray[np.int64]:
    """Whole numbers in the order of finite float32 numbers, one apart for neighbours; both zeros are 0."""
    bits = values.view(np.int32).astype(np.int64)
    return np.where(bits >= 0, bits, -(bits + 2**31))


def from_place(places: NDArray[np.int64]) -> Singles:
    """The float32 numbers at these places."""
    bits = np.where(places >= 0, places, -places - 2**31)
    return bits.astype(np.int32).view(np.float32)
