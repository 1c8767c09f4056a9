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


def is_sparse(X: object) -> TypeIs[sp.csr_array]:
    """Whether features are a sparse matrix of scipy; scipy is not imported to find out."""
    if isinstance(X, np.ndarray):
        return False
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)  # None while another thread imports it
    return issparse is not None and bool(issparse(X))


def dense(X: object) -> AnyArray:
    """Features as a dense matrix; cells that a sparse one does not store are 0."""  # (N, d)
    return np.asarray(X.toarray() if is_sparse(X) else X)


def column(X: Any, at: int) -> Singles:
    """One feature of all documents; missing values stay NaN."""  # (N,)
    if is_sparse(X):
        return np.asarray(X[:, [at]].toarray(), np.float32).ravel()
    return np.ascontiguousarray(X[:, at], np.float32)
