"""Arrays: the types and small helpers that every layer shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]


def dense(X: Any) -> NDArray[Any]:
    """Features as a dense matrix; what a sparse one does not store is 0."""  # (N, d)
    return np.asarray(X.toarray() if isinstance(X, sp.csr_array) else X)


def column(X: Any, at: int) -> NDArray[np.float32]:
    """One feature of all documents; missing values stay NaN."""  # (N,)
    if isinstance(X, sp.csr_array):
        return np.asarray(X[:, [at]].toarray(), np.float32).ravel()
    return np.ascontiguousarray(X[:, at], np.float32)
