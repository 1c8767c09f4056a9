"""Features in Parquet files that stay on disk: rows are read by row groups, on any machine that sees the files."""

from __future__ import annotations

import os
import platform
from typing import Any

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import DataError
from podium.base.matrix_on_disk import Rows, blocks
from podium.data.dataset import Dataset
from podium.data.frames import ROW_NUMBERS, feature_matrix, from_frame, roles_of
from podium.data.table import Table
from podium.formats.remote import is_url, opened
from podium.formats.tables.table_parts import is_parquet, parquet_files
from podium.formats.tables.tables import read_frame


class TableRows(Rows):
    """The feature columns of a Parquet table. A row group is read as a whole, and the last one is kept."""

    def __init__(self, place: str, shape: tuple[int, int], names: tuple[str, ...]) -> None:
        super().__init__(shape)
        self.place, self.names = place, names
        self._index: list[tuple[str, int, int]] | None = None  # file, row group, rows
        self._last: tuple[tuple[str, int], Singles] | None = None

    def __reduce__(self) -> Any:
        return TableRows, (self.place, self.shape, self.names)

    def read(self, first: int, last: int) -> Singles:
        out, at = np.empty((last - first, self.shape[1]), np.float32), 0
        try:
            for file, group, size in self._groups():
                a, b = max(first, at), min(last, at + size)
                if a < b:
                    out[a - first : b - first] = self._group(file, group)[a - at : b - at]
                at += size
        except OSError as error:
            raise DataError(
                f"cannot be read on {platform.node()}: {error.strerror}. Put it where every machine reads it under "
                "this path.",
                where=self.place,
            ) from error
        if at != len(self):
            raise DataError(f"{at} rows, where {len(self)} were; it was changed.", where=self.place)
        return out

    def _groups(self) -> list[tuple[str, int, int]]:
        if self._index is None:
            self._index = [
                (name, group, file.metadata.row_group(group).num_rows)
                for name, file in parquet_files(self.place)
                for group in range(file.num_row_groups)
            ]
        return self._index

    def _group(self, file: str, group: int) -> Singles:
        kept = self._last
        if kept is None or kept[0] != (file, group):
            import narwhals as nw
            import pyarrow.parquet

            with opened(file) as stream:
                rows = pyarrow.parquet.ParquetFile(stream).read_row_group(group, columns=list(self.names))
            table: Any = nw.from_native(rows, eager_only=True)
            kept = self._last = (file, group), feature_matrix(table, list(self.names), file)
        return kept[1]


def open_table(place: str, *, labelled: bool = True) -> Table:
    """Open a Parquet table with the default column names; its features are read when they are needed."""
    names = next(parquet_files(place))[1].schema_arrow.names
    asked = {"label": "label" if labelled else None, "qid": "qid", "document_id": None, **dict.fromkeys(ROW_NUMBERS)}
    roles, features = roles_of(names, asked, None, place)
    used = [name for name in roles.values() if name is not None]
    data = read_frame(
        place, lambda frame: from_frame(frame, label=roles["label"], features=[], source=place), columns=used
    )
    return data.with_features(TableRows(place, (data.n_documents, len(features)), tuple(features)), tuple(features))


def shared_table(data: Table) -> Table | None:
    """The same data with features in the Parquet files it was read from; None if these differ or it was not Parquet."""
    if data.source is None or not is_parquet(data.source):
        return None
    place = data.source if is_url(data.source) else os.path.abspath(data.source)
    try:
        table = open_table(place, labelled=data.labels is not None)
    except (DataError, OSError):
        return None  # its columns have other names
    table = table.grouped() if isinstance(data, Dataset) else table
    X: Any = data.features
    Y: Any = table.features
    same = X.shape == Y.shape and without_features(data) == without_features(table)
    if same and all(np.array_equal(X[a:b], Y[a:b], equal_nan=True) for a, b in blocks(0, len(Y))):
        return table
    return None


def without_features(data: Table) -> str:
    """A hash of labels, queries, weights and preferences."""
    return data.with_features(np.empty((data.n_documents, 0), np.float32), None).digest()
