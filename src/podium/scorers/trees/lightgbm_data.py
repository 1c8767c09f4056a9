"""Features as LightGBM bins them for training: some columns at a time, so that few of them are in memory as numbers.

LightGBM holds a sample of its columns, and all of their bins twice while rows arrive, until it has the last one. So
each group of columns is a dataset of its own, and the first takes in the others. The groups depend on the shape of the
features alone: rows that are on disk have the trees of rows in memory, to the bit.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from podium.base.arrays import Singles, is_sparse
from podium.base.errors import DataError
from podium.base.matrix_on_disk import FileRows, Rows, blocks
from podium.base.threads import BLOCK

MEMORY = 2**25
"""Bytes for the columns that are binned at a time, where one column takes less."""
_SAMPLE = 200_000  # documents that LightGBM finds bins from, at most; it holds 12 to 24 bytes of each


def binned(X: Any, settings: dict[str, Any]) -> Any:
    """A `lightgbm.Dataset` of dense features, constructed, with labels of 0."""
    n = len(X)
    groups = _columns(X, max(MEMORY // (4 * n + 24 * min(n, _SAMPLE) + 1), 1))
    whole = _dataset(groups, 0, settings, label=np.zeros(n, np.float32))
    while whole.num_feature() < X.shape[1]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the features themselves are not kept
            whole.add_features_from(_dataset(groups, whole.num_feature(), settings, label=None))
    return whole


def for_lightgbm(X: Any) -> Any:
    """Features in a form that LightGBM takes without converting them: it knows sparse matrices, not sparse arrays.

    Rows that are not in memory are binned block by block.
    """
    if isinstance(X, Rows):
        return _batches(X)
    if not is_sparse(X):
        return X
    import scipy.sparse as sp

    return sp.csr_matrix(X)


def _dataset(groups: Iterator[Singles], first: int, settings: dict[str, Any], *, label: Any) -> Any:
    """The next columns, of which nothing but the bins is kept."""
    import lightgbm

    some = next(groups)
    names = [f"Column_{k}" for k in range(first, first + some.shape[1])]
    return lightgbm.Dataset(some, label=label, feature_name=names, params=settings).construct()


def _columns(X: Any, width: int) -> Iterator[Singles]:
    """Some columns at a time, in their order. Rows that are not in memory are first written to disk by columns."""
    n, d = X.shape
    if not isinstance(X, Rows) or width >= d:
        for c in range(0, max(d, 1), width):
            yield np.ascontiguousarray(X[:, c : c + width] if width < d else X[:])
        return
    with tempfile.TemporaryFile(prefix="podium-") as file:
        try:
            _write_columns(X, width, file)
        except OSError as error:
            raise DataError(
                f"trees write the features once more, {4 * n * d / 1e9:.1f} GB, to a temporary file: {error.strerror}. "
                "Set TMPDIR to a folder with room.",
                where=tempfile.gettempdir(),
            ) from error
        for c in range(0, d, width):
            yield FileRows(file.fileno(), (n, min(width, d - c)), start=4 * n * c)[:]


def _write_columns(X: Rows, width: int, file: Any) -> None:
    """Write all rows of the first columns, then all rows of the next ones."""
    n, d = X.shape
    for a, b in blocks(0, n):
        block = X.read(a, b)
        for c in range(0, d, width):
            some = np.ascontiguousarray(block[:, c : c + width], "<f4")
            file.seek(4 * (n * c + a * some.shape[1]))
            file.write(some.data)
    file.flush()


def _batches(X: Rows) -> Any:
    """A `lightgbm.Sequence` over rows that are not in memory, which LightGBM reads block by block."""
    import lightgbm

    class Batches(lightgbm.Sequence):  # type: ignore[misc]
        batch_size = BLOCK

        def __getitem__(self, key: Any) -> Any:
            return X[key]

        def __len__(self) -> int:
            return len(X)

    return Batches()
