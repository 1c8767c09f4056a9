"""Inputs: convert a dataset, a data frame, or arrays with qid or group to a table.

The row order is the caller's, and numbers per row are returned in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import is_sparse
from podium.base.columns import check_row_order
from podium.base.errors import DataError
from podium.base.matrix_on_disk import Rows
from podium.data.dataset import Dataset
from podium.data.frames import DOCUMENT_IDS, ROW_NUMBERS, frame_table, from_frame
from podium.data.table import Table

T = TypeVar("T", bound=Table)


def labelled_data(
    data: object, labels: ArrayLike | None = None, *, qid: ArrayLike | None = None, group: ArrayLike | None = None
) -> Dataset:
    """Data for training, with adjacent rows of each query; arguments as for `labelled_table`."""
    return labelled_table(data, labels, qid=qid, group=group).grouped()


def labelled_table(
    data: object, labels: ArrayLike | None = None, *, qid: ArrayLike | None = None, group: ArrayLike | None = None
) -> Table:
    """Data for training or evaluation: a dataset, a frame with columns label and qid, or arrays with qid or group."""
    if isinstance(data, Table):
        if labels is not None:
            raise DataError("a Dataset has its labels in it; give arrays, or a Dataset alone.")
        _refuse_queries(qid, group)
        return data
    if is_frame(data):
        if labels is None and qid is None and group is None:
            return from_frame(data)
        check_row_order(features=data, labels=labels, qid=qid)
        return _with_queries(_only_features(data), labels, qid=qid, group=group)
    return _with_queries(Dataset.from_arrays(_matrix(data)), labels, qid=qid, group=group)


def unlabelled_table(
    data: object,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    features: Sequence[str] | None = None,
    query_features: Sequence[str] = (),
    per_query: bool = False,
    categorical: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """Documents to score: a dataset, arrays, or a frame with the columns `features`, of which some are categories.

    A frame may have columns of `query_features`, too.

    Without qid and group, all rows are one query; that is refused if scores depend on the whole query (`per_query`).
    """
    if isinstance(data, Table):
        _refuse_queries(qid, group)
        return data
    alone = qid is None and group is None
    if is_frame(data):
        check_row_order(features=data, qid=qid)
        table = frame_table(data)
        columns = table.columns
        about = [name for name in query_features if name in columns]
        others = (*_ROLES, *DOCUMENT_IDS, *ROW_NUMBERS, *about)
        chosen = features or [name for name in columns if name not in others]
        table = table.drop([name for name in ROW_NUMBERS if name in columns and name not in chosen])
        if alone and "qid" in columns:
            return from_frame(table, label=None, features=chosen, query_features=about, categorical=categorical or ())
        unlabelled = from_frame(table, label=None, qid=None, features=chosen, categorical=categorical or ())
    else:
        unlabelled = Dataset.from_arrays(_matrix(data))
    if alone and per_query:
        raise DataError(
            "the model looks at a whole query at a time: give qid (a query id per row) or group (the sizes of "
            f"consecutive queries); group=[{unlabelled.n_documents}] if all rows are one query."
        )
    return unlabelled if alone else _with_queries(unlabelled, None, qid=qid, group=group)


def align_features(data: T, names: tuple[str, ...] | None) -> T:
    """Put the features into the order of training: by name if both have names, else by position."""
    theirs = data.feature_names
    if names is None or theirs is None or names == theirs:
        return data
    place = {name: column for column, name in enumerate(theirs)}
    missing = [name for name in names if name not in place]
    if missing:
        raise DataError(
            f"no feature {missing[0]!r}, which the model was trained with"
            + (f" ({len(missing)} are missing)." if len(missing) > 1 else "."),
            where=data.source,
        )
    columns = [place[name] for name in names]
    kept = data.categories or {}
    categories = {c: kept[column] for c, column in enumerate(columns) if column in kept} or None
    X: Any = data.features
    if isinstance(X, Rows):
        mapped: Any = X.mapped(lambda block: np.take(block, columns, axis=1), len(columns))
    else:
        mapped = np.take(X, columns, axis=1) if isinstance(X, np.ndarray) else X[:, columns]
    return data.with_features(mapped, names, categories=categories)


def widened(data: T, width: int) -> T:
    """Add features up to `width`, all 0: a sparse file need not mention its last features."""
    missing = width - data.n_features
    if missing == 0:
        return data
    if data.feature_names is not None:
        raise DataError(f"{data.n_features} columns of features; another part has {width}.", where=data.source)
    X: Any = data.features
    if isinstance(X, Rows):
        padded: Any = X.mapped(lambda block: np.pad(block, ((0, 0), (0, missing))), width)
        return replace(data, features=padded)
    if isinstance(X, np.ndarray):
        return replace(data, features=np.pad(X, ((0, 0), (0, missing))))
    import scipy.sparse as sp

    wide = sp.csr_array((X.data, X.indices, X.indptr), (data.n_documents, width))
    return replace(data, features=wide)


def is_frame(data: object) -> bool:
    """Whether data is a data frame of pandas, polars, pyarrow or another library that narwhals supports."""
    if isinstance(data, np.ndarray | list | tuple) or is_sparse(data):
        return False
    import narwhals as nw

    try:
        return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.DuplicateError:  # of columns that share a name
        return True


_ROLES = ("label", "qid")


def _refuse_queries(qid: ArrayLike | None, group: ArrayLike | None) -> None:
    if qid is not None or group is not None:
        raise DataError("a Dataset knows its queries; qid and group are for arrays and frames.")


def _matrix(data: Any) -> Any:
    if isinstance(data, str | os.PathLike):
        raise DataError(f"expected data; got a path. Read it first: podium.read_data({os.fspath(data)!r}).")
    if isinstance(data, tuple) and data and np.ndim(data[0]) == 2:
        raise DataError("expected features; got a tuple. Give its parts: features, labels, qid=….")
    return data


def _only_features(frame: object) -> Table:
    """Features of a frame that comes with arrays of labels or queries: all its columns."""
    table = frame_table(frame)
    for name in (*_ROLES, *ROW_NUMBERS):
        if name in table.columns:
            raise DataError(
                f"the frame has a column {name!r}, which would be a feature if labels or queries are arrays. "
                "Drop it, or give the frame alone."
            )
    return from_frame(table, label=None, qid=None)


def _with_queries(data: Table, labels: ArrayLike | None, *, qid: ArrayLike | None, group: ArrayLike | None) -> Table:
    if qid is None and group is None:
        raise DataError(
            "which rows belong to one query? Give qid (a query id per row) or group (the sizes of consecutive "
            f"queries); group=[{data.n_documents}] makes all rows one query."
        )
    table = Dataset.from_arrays(
        data.features,
        labels,
        qid=qid,
        group=group,
        document_ids=data.document_ids,
        feature_names=data.feature_names,
    )
    return table if data.categories is None else replace(table, categories=data.categories)
