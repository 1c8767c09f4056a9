"""Rows that are not in memory, as LightGBM reads them where bins are known: all of them, in batches."""

from __future__ import annotations

from typing import Any

from podium.rows import Rows
from podium.threads import BLOCK


def sequence(X: Rows) -> Any:
    """A `lightgbm.Sequence` over rows."""
    import lightgbm

    class Batches(lightgbm.Sequence):  # type: ignore[misc]
        batch_size = BLOCK

        def __getitem__(self, key: Any) -> Any:
            return X[key]

        def __len__(self) -> int:
            return len(X)

    return Batches()
