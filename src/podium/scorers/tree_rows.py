"""Rows that are not in memory, as LightGBM reads them to bin them: a sample, then all of them in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.rows import Rows
from podium.threads import BLOCK


def sequence(X: Rows) -> Any:
    """A `lightgbm.Sequence` over rows."""
    import lightgbm

    class Batches(lightgbm.Sequence):  # type: ignore[misc]
        """LightGBM asks for the rows of its sample one by one, from the first to the last: the block is kept."""

        batch_size = BLOCK

        def __init__(self) -> None:
            self._first, self._block = 0, X.read(0, 0)

        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, slice):
                return X[key]
            row = int(key)
            if not self._first <= row < self._first + len(self._block):
                self._first = row - row % BLOCK
                self._block = X.read(self._first, min(self._first + BLOCK, len(X)))
            return self._block[row - self._first].astype(np.float64)

        def __len__(self) -> int:
            return len(X)

    return Batches()
