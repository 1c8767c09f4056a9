"""LightGBM datasets: features are binned a group of columns at a time, to save memory.

While rows arrive, LightGBM holds a sample of the columns and all of their bins twice. So each group of columns is a
dataset of its own, and is then merged into the first. The groups depend on the shape of the features alone: trees of
rows on disk equal those of rows in memory, to the bit.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Singles, is_sparse
from podium.base.errors import DataError
from podium.base.matrix_on_disk import FileRows, Rows, blocks
from podium.base.threads import BLOCK

if TYPE_CHECKING:
    import lightgbm
    import scipy.sparse as sp

MEMORY = 2**25
"""Bytes for a group of columns; at least one column is binned at a time."""
_SAMPLE = 200_000  # most documents from which LightGBM finds bins; it holds 12 to 24 bytes of each


def binned(X: Singles | Rows, settings: dict[str, Any], categorical: Sequence[int] = ()) -> lightgbm.Dataset:
    """Bin dense features: a constructed `lightgbm.Dataset`, with labels of 0."""
    n, codes = len(X), set(categorical)
    groups = _columns(X, max(MEMORY // (4 * n + 24 * min(n, _SAMPLE) + 1), 1))
    whole = _dataset(groups, 0, settings, codes, label=np.zeros(n, np.float32))
    while whole.num_feature() < X.shape[1]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that raw features are not kept
            whole.add_features_from(_dataset(groups, whole.num_feature(), settings, codes, label=None))
    return whole


def for_lightgbm(X: Singles | sp.csr_array | Rows) -> Any:
    """Features in a form that LightGBM accepts: it takes sparse matrices, not sparse arrays.

    Rows on disk are read block by block.
    """
    if isinstance(X, Rows):
        return _batches(X)
    if not is_sparse(X):
        return X
    import scipy.sparse as sp

    return sp.csr_matrix(X)


def _dataset(
    groups: Iterator[Singles], first: int, settings: dict[str, Any], codes: set[int], *, label: Singles | None
) -> lightgbm.Dataset:
    """Dataset of the next group of columns, of which only the bins are kept."""
    import lightgbm

    columns = next(groups)
    names = [f"Column_{k}" for k in range(first, first + columns.shape[1])]
    here = [k - first for k in sorted(codes) if first <= k < first + columns.shape[1]]
    return lightgbm.Dataset(
        columns, label=label, feature_name=names, params=settings, categorical_feature=here
    ).construct()


def _columns(X: Singles | Rows, width: int) -> Iterator[Singles]:
    """Groups of columns, in order. Rows on disk are first written to a temporary file by columns."""
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


def _write_columns(X: Rows, width: int, file: IO[bytes]) -> None:
    """Write all rows of the first group of columns, then all rows of the next one."""
    n, d = X.shape
    for a, b in blocks(0, n):
        block = X.read(a, b)
        for c in range(0, d, width):
            part = np.ascontiguousarray(block[:, c : c + width], "<f4")
            file.seek(4 * (n * c + a * part.shape[1]))
            file.write(part.data)
    file.flush()


def _batches(X: Rows) -> lightgbm.Sequence:
    """A `lightgbm.Sequence` of rows on disk, which LightGBM reads block by block."""
    import lightgbm

    class Batches(lightgbm.Sequence):  # type: ignore[misc]
        batch_size = BLOCK

        def __getitem__(self, key: int | slice | list[int]) -> Any:
            return X[key]

        def __len__(self) -> int:
            return len(X)

    return Batches()
