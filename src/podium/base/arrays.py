"""Arrays: the types and small helpers that every layer shares."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse as sp
    from typing_extensions import TypeIs

Array = NDArray[np.float64]
"""Double precision: scores, labels, gradients."""
Singles = NDArray[np.float32]
"""Single precision: features."""
Ints = NDArray[np.int64]
"""Rows, ranks, offsets, counts."""
Int32s = NDArray[np.int32]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
"""Text as bytes."""
Words = NDArray[np.uint64]
"""Eight bytes each."""
AnyArray = NDArray[Any]


def is_sparse(X: Any) -> TypeIs[sp.csr_array]:
    """Whether features are one of scipy's sparse matrices; scipy is not imported to find out."""
    if isinstance(X, np.ndarray):
        return False
    known = getattr(sys.modules.get("scipy.sparse"), "issparse", None)  # None while another thread imports it
    return known is not None and bool(known(X))


def dense(X: Any) -> NDArray[Any]:
    """Features as a dense matrix; what a sparse one does not store is 0."""  # (N, d)
    return np.asarray(X.toarray() if is_sparse(X) else X)


def column(X: Any, at: int) -> NDArray[np.float32]:
    """One feature of all documents; missing values stay NaN."""  # (N,)
    if is_sparse(X):
        return np.asarray(X[:, [at]].toarray(), np.float32).ravel()
    return np.ascontiguousarray(X[:, at], np.float32)
