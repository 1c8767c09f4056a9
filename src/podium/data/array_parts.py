"""Convert arrays of any kind to the parts of a dataset: features, labels, and the query of each row."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arrays import Array, Ints, Singles, is_sparse
from podium.base.columns import float_cells, float_numbers, kind_of, number_ids, plain_column, without_mask
from podium.base.errors import DataError, PodiumWarning
from podium.base.matrix_on_disk import Rows, blocks

if TYPE_CHECKING:
    import scipy.sparse as sp


def feature_array(features: object, source: str | None) -> Singles | sp.csr_array:
    """Features as 32-bit floats, a row per document; missing and masked values are NaN."""  # (N, d)
    if isinstance(features, Rows):
        return cast("Singles", features)
    if is_sparse(features):
        return _sparse(features, source)
    X = _cells(features, source)
    if X.ndim != 2:
        raise DataError(f"features must be a matrix (documents × features); got shape {X.shape}.", where=source)
    with np.errstate(over="ignore"):
        singles: Singles = np.ascontiguousarray(X, dtype=np.float32)
    if X.dtype.kind == "f" and X.dtype.itemsize > 4:
        for a, b in blocks(0, len(X)):
            _refuse_overflow(singles[a:b], X[a:b], a, source)
    return singles


def label_array(labels: ArrayLike, n: int, source: str | None) -> Array:
    """Labels of n rows; missing ones are NaN, not judged, and a warning counts them. Some must be there."""  # (n,)
    y = float_numbers(labels, "label", where=source)
    if len(y) != n:
        raise DataError(f"{len(y)} labels for {n} rows of features.", where=source)
    bad = np.flatnonzero(np.isinf(y))
    if len(bad):
        raise DataError(f"row {bad[0]}: label {y[bad[0]]} is not a finite number.", where=source)
    missing = np.flatnonzero(np.isnan(y))
    if n and len(missing) == n:
        raise DataError("no row has a label. Fill in some, or give no labels.", where=source)
    if len(missing):
        where = f"{source}: " if source else ""
        warnings.warn(
            f"{where}{len(missing)} of {n} labels are missing, the first in row {missing[0]}: these documents count as "
            "not judged. Training leaves them out.",
            PodiumWarning,
            stacklevel=3,
        )
    return y


def query_codes(
    qid: ArrayLike | None, group: ArrayLike | None, n: int, source: str | None
) -> tuple[Ints, NDArray[Any]]:
    """Query number of each of n rows, by first appearance, and the ids of the queries."""
    if qid is not None and group is not None:
        raise DataError("give qid (a query per row) or group (sizes), not both.", where=source)
    if group is not None:
        return _consecutive(group, n, source)
    if qid is None:
        return np.zeros(n, np.int64), np.array(["0"] if n else [], dtype=object)
    codes, names = number_ids(qid, "query id", where=source)
    if len(codes) != n:
        raise DataError(f"{len(codes)} query ids for {n} rows of features.", where=source)
    return codes, np.array(names, dtype=object)


def _consecutive(group: ArrayLike, n: int, source: str | None) -> tuple[Ints, NDArray[Any]]:
    """Query number of each row, from the sizes of consecutive queries."""
    sizes = plain_column(group, "group size", where=source)
    if len(sizes) and (sizes.dtype.kind not in "iu" or int(sizes.min()) < 0 or int(sizes.max()) > n):
        shown = ", ".join(map(str, sizes[:5].tolist())) + (", …" if len(sizes) > 5 else "")
        raise DataError(f"group sizes must be whole numbers from 0 to the {n} rows; got [{shown}].", where=source)
    sizes = sizes.astype(np.int64)
    if sizes.sum() != n:
        raise DataError(f"group sizes add up to {sizes.sum()}, but there are {n} rows.", where=source)
    names = np.array([str(q) for q in range(len(sizes))], dtype=object)
    return np.repeat(np.arange(len(sizes)), sizes), names


def _sparse(features: Any, source: str | None) -> sp.csr_array:
    """A sparse matrix in canonical CSR format; duplicate entries are added before they are rounded to 32 bits."""
    import scipy.sparse as sp

    if features.dtype.kind not in "biuf" or features.ndim != 2:
        raise DataError(
            f"features must be a matrix of numbers (documents × features); got {kind_of(features)}, shape "
            f"{features.shape}.",
            where=source,
        )
    wide: Any = sp.csr_array(features)
    if not wide.has_canonical_format:
        wide = wide.copy()  # never sort the caller's arrays
        wide.sum_duplicates()
    with np.errstate(over="ignore"):
        cells = wide.data.astype(np.float32, copy=False)
    matrix = sp.csr_array((cells, wide.indices, wide.indptr), wide.shape)
    if wide.dtype.kind == "f" and wide.dtype.itemsize > 4:
        bad = np.flatnonzero(np.isinf(cells) & np.isfinite(wide.data))
        if len(bad):
            row = int(np.searchsorted(wide.indptr, bad[0], side="right")) - 1
            _refuse_large(row, int(wide.indices[bad[0]]), wide.data[bad[0]], source)
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return cast("sp.csr_array", matrix)


def _cells(features: object, source: str | None) -> NDArray[Any]:
    """Features as an array of numbers of any type."""
    if isinstance(features, np.ma.MaskedArray):
        features = without_mask(features)
    try:
        X = np.asarray(list(features) if isinstance(features, Iterator) else features)
    except (TypeError, ValueError) as error:  # rows of several lengths
        raise DataError(f"features must be numbers, a row per document ({error}).", where=source) from None
    if X.dtype.kind not in "biufO":
        raise DataError(f"features must be numbers, a row per document; got {kind_of(X)}.", where=source)
    return float_cells(X, "feature", where=source) if X.dtype.kind == "O" and X.ndim == 2 else X


def _refuse_overflow(singles: Singles, X: NDArray[Any], first: int, source: str | None) -> None:
    large = np.isinf(singles)
    if not large.any():
        return
    for row, column in np.argwhere(large & np.isfinite(X))[:1]:
        _refuse_large(first + int(row), int(column), X[row, column], source)


def _refuse_large(row: int, column: int, value: float, source: str | None) -> None:
    raise DataError(
        f"row {row}: feature {column + 1} is {value}; features are 32-bit floats, up to 3.4e38.", where=source
    )
