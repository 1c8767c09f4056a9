"""Scattered: what stands in the place of a dataset's offsets while the rows of some query lie apart.

Cutting such rows by offsets would mix queries without a word, so every use as an array raises; `Dataset.grouped` is
what code that works query by query asks for first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from podium.errors import DataError


@dataclass(frozen=True, eq=False)
class Scattered:
    """Where each query's rows lie once they are put together."""

    offsets: NDArray[np.int64]  # (Q+1,) of the grouped rows
    order: NDArray[np.int64]  # (N,) grouped row k is row order[k] here

    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        raise DataError(_WHY)

    __array__ = __getitem__ = __iter__ = __len__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"no {name}: {_WHY}")


_WHY = "the rows of a query lie apart, so offsets cannot cut them. Use data.grouped()."
