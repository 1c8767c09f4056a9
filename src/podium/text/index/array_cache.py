"""Kept: a least-recently-used cache of arrays, within a budget of bytes.

>>> import numpy as np
>>> kept = Kept(budget=20)
>>> for key in "abac":
...     _ = kept.get(key, lambda: (np.zeros(10, np.int8),))
>>> list(kept)
['a', 'c']
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator

from podium.base.arrays import AnyArray

Arrays = tuple[AnyArray, ...]


class Kept:
    """Arrays by key. Beyond the budget the least recently used are dropped, but never the newest."""

    def __init__(self, budget: int) -> None:
        self.budget, self.bytes = budget, 0
        self._values: OrderedDict[Hashable, Arrays] = OrderedDict()
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._values)

    def get(self, key: Hashable, make: Callable[[], Arrays]) -> Arrays:
        """The arrays of a key; `make` computes them if they are not cached."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        arrays = make()
        with self._lock:
            self.bytes += _size(arrays) - _size(self._values.pop(key, ()))
            self._values[key] = arrays
            while self.bytes > self.budget and len(self._values) > 1:
                self.bytes -= _size(self._values.popitem(last=False)[1])
        return arrays


def _size(arrays: Arrays) -> int:
    return sum(array.nbytes for array in arrays)
