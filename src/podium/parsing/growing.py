"""Growing: a flat array to which numbers are appended.

It grows by a quarter with `ndarray.resize`, which for large arrays moves pages instead of copying them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Growing:
    """A flat array to which numbers are appended; the first `size` are in use."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.array: NDArray[Any] = np.zeros(0, dtype)
        self.size = 0

    def expect(self, size: int, *, zero: bool = False) -> None:
        """Make room for `size` numbers at once, which takes no memory before they are written.

        Numbers not written yet are then arbitrary, or 0 with `zero`, which costs time if memory is reused.
        """
        larger = (np.zeros if zero else np.empty)(max(size, len(self.array)), self.array.dtype)
        larger[: len(self.array)] = self.array
        self.array = larger

    def reserve(self, size: int) -> NDArray[Any]:
        """The array with room for `size` numbers; numbers not written yet are 0."""
        if size > len(self.array):
            self._resize(max(size, len(self.array) * 5 // 4))
        self.size = size
        return self.array

    def extend(self, numbers: NDArray[Any]) -> None:
        start = self.size
        self.reserve(start + len(numbers))[start : start + len(numbers)] = numbers

    def finished(self) -> NDArray[Any]:
        self._resize(self.size)
        return self.array

    def _resize(self, size: int) -> None:
        try:
            self.array.resize(size, refcheck=False)
        except ValueError:  # plain forms of compiled code keep a weak reference to it
            kept = self.array[:size]
            self.array = np.zeros(size, self.array.dtype)
            self.array[: len(kept)] = kept
