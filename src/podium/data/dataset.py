"""Dataset: queries of documents, each document a row of features, with labels, preferences or neither.

    >>> import numpy as np
    >>> data = Dataset.from_arrays(np.eye(3), [1, 0, 2], qid=["b", "a", "b"])
    >>> data
    Dataset(2 queries, 3 documents, 3 features, labels 0 to 2)
    >>> data.labels.tolist(), data.grouped().labels.tolist(), data.grouped().offsets.tolist()
    ([1.0, 0.0, 2.0], [1.0, 2.0, 0.0], [0, 2, 3])

A dataset keeps the row order it was given: features, labels, scores and ranks all speak it. What works query by query
asks for `grouped()`, where the rows of a query lie together; until then `offsets` refuses to be used, so that rows of
different queries are never mixed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.arrays import dense, is_sparse
from podium.columns import check_row_order, float_numbers, plain_column, text_ids, whole_numbers
from podium.data.array_parts import feature_array, label_array, query_codes
from podium.data.preferences import Preferences, from_rows
from podium.data.scattered import Scattered
from podium.errors import DataError, counted
from podium.rows import in_blocks, take_rows

if TYPE_CHECKING:
    import scipy.sparse as sp

_PER_ROW = ("features", "labels", "document_ids", "document_weights", "score_offsets", "comments")


@dataclass(frozen=True, eq=False)
class Dataset:
    """The documents of Q queries: N rows of d features. Nothing in it changes after it is made."""

    features: NDArray[np.float32] | sp.csr_array  # (N, d), C order or CSR; or `Rows`, which are not in memory
    labels: NDArray[np.float64] | None  # (N,) grades; larger is better, equal grades are ties
    offsets: NDArray[np.int64]  # (Q+1,): rows offsets[q]:offsets[q+1] are query q; refuses where rows lie apart
    query_ids: NDArray[Any] | None = None  # (Q,) text
    document_ids: NDArray[Any] | None = None  # (N,) text
    feature_names: tuple[str, ...] | None = None
    query_weights: NDArray[np.float64] | None = None  # (Q,)
    document_weights: NDArray[np.float64] | None = None  # (N,) how much counts that this document is relevant
    score_offsets: NDArray[np.float64] | None = None  # (N,) added to scores while learning, beside document weights
    preferences: Preferences | None = None
    comments: NDArray[Any] | None = None  # (N,) what stood after '#' in a LETOR file
    info: Mapping[str, Any] | None = None  # how the features were made, for a model that must make them again
    rows: NDArray[np.int64] | None = None  # (N,) after `grouped`, the row that each was before; None: the same
    source: str | None = None  # where it came from, for messages

    def __post_init__(self) -> None:
        n, offsets = self.features.shape[0], self._offsets
        if offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
            raise DataError(f"offsets must rise from 0 to the {n} rows; got {offsets}.", where=self.source)
        for name in (*_PER_ROW[1:], "rows"):
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise DataError(f"{len(value)} {name} for {n} rows of features.", where=self.source)
        for name in ("query_ids", "query_weights"):
            value = getattr(self, name)
            if value is not None and len(value) != self.n_queries:
                raise DataError(f"{len(value)} {name} for {self.n_queries} queries.", where=self.source)
        self._check_feature_names()
        self._check_query_weights()
        self._check_document_weights()

    @classmethod
    def from_arrays(
        cls,
        features: Any,
        labels: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        document_ids: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        query_weights: ArrayLike | None = None,
        document_weights: ArrayLike | None = None,
        preferences: tuple[ArrayLike, ...] | None = None,
        comments: ArrayLike | None = None,
        source: str | None = None,
    ) -> Dataset:
        """A dataset from arrays, in their row order.

        `qid` names each row's query, or `group` gives the sizes of consecutive queries; with neither, all rows
        are one query. `preferences` is (winner rows, loser rows[, probabilities[, weights]]). `query_weights` follow
        the queries in order of first appearance, `document_weights` the rows; see `relevance`.
        """
        check_row_order(source, features=features, labels=labels, qid=qid, document_ids=document_ids)
        X = feature_array(features, source)
        n = X.shape[0]
        codes, names = query_codes(qid, group, n, source)
        offsets, apart = np.array([0, n]), False
        if len(names) != 1:
            offsets = np.append(0, np.cumsum(np.bincount(codes, minlength=len(names))))
            apart = bool((np.diff(codes) < 0).any())
        data = cls(
            features=X,
            labels=None if labels is None else label_array(labels, n, source),
            offsets=cast(Any, Scattered(offsets, np.argsort(codes, kind="stable"))) if apart else offsets,
            query_ids=names,
            document_ids=None if document_ids is None else text_ids(document_ids, "document id", where=source),
            feature_names=None if feature_names is None else tuple(text_ids(feature_names, "name", where=source)),
            query_weights=None if query_weights is None else float_numbers(query_weights, "query weight", where=source),
            document_weights=None
            if document_weights is None
            else float_numbers(document_weights, "document weight", where=source),
            comments=None if comments is None else np.asarray(comments, dtype=object),
            source=source,
        )
        return data if preferences is None else data.with_preferences(*preferences)

    def with_features(self, features: Any, names: tuple[str, ...] | None) -> Dataset:
        """The same documents with other features; what else was checked when it was made is not checked again."""
        if features.shape[0] != self.n_documents or (names is not None and len(names) != features.shape[1]):
            raise DataError(f"features of shape {features.shape} for {self.n_documents} rows.", where=self.source)
        return self._replaced(features=features, feature_names=names)

    def grouped(self) -> Dataset:
        """The same data with the rows of each query together; itself where they are."""
        if not isinstance(self.offsets, Scattered):
            return self
        order = self.offsets.order
        moved: dict[str, Any] = {
            name: take_rows(x, order) for name in _PER_ROW if (x := getattr(self, name)) is not None
        }
        return replace(self, offsets=self.offsets.offsets, rows=order, **moved)

    def to_grouped(self, values: ArrayLike) -> NDArray[Any]:
        """Numbers per row of this dataset, in the row order of `grouped()`."""
        return np.asarray(values)[self.offsets.order] if isinstance(self.offsets, Scattered) else np.asarray(values)

    def from_grouped(self, values: ArrayLike) -> NDArray[Any]:
        """Numbers per row of `grouped()`, in the row order of this dataset."""
        values = np.asarray(values)
        if not isinstance(self.offsets, Scattered):
            return values
        back = np.empty_like(values)
        back[self.offsets.order] = values
        return back

    @property
    def n_queries(self) -> int:
        return len(self._offsets) - 1

    @property
    def n_documents(self) -> int:
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.features.shape[1])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of documents of each query."""
        return np.diff(self._offsets)

    @property
    def query_index(self) -> NDArray[np.int64]:
        """The number of each row's query."""  # (N,)
        return self.from_grouped(np.repeat(np.arange(self.n_queries), self.sizes))

    @property
    def _offsets(self) -> NDArray[np.int64]:
        return self.offsets.offsets if isinstance(self.offsets, Scattered) else self.offsets

    def __repr__(self) -> str:
        parts = [
            counted(self.n_queries, "query", "queries"),
            counted(self.n_documents, "document"),
            counted(self.n_features, "feature"),
            "no labels" if self.labels is None else f"labels {_range(self.labels)}",
            "" if self.preferences is None else counted(len(self.preferences), "preference"),
            f"from {self.source}" if self.source else "",
        ]
        return f"Dataset({', '.join(filter(None, parts))})"

    def relevance(self) -> NDArray[np.float64]:
        """How much counts that each document is relevant: its weight, or 0 where its label says that it is not.

        With document weights, training minimises Σ_d w_d L(s, e_d) over the documents of a query, e_d the labels in
        which d alone is relevant. That is the risk of clicks: w_d = 1/propensity where d was clicked, else 0.
        """  # (N,)
        assert self.document_weights is not None
        return self.document_weights if self.labels is None else self.document_weights * self.labels

    def query_weights_of_rows(self) -> NDArray[np.float64]:
        """The weight of each row's query; 1 where queries have none."""  # (N,)
        if self.query_weights is None:
            return np.ones(self.n_documents)
        return self.from_grouped(np.repeat(self.query_weights, self.sizes))

    def query_name(self, q: int) -> str:
        """The id of query q as text; its number where it has none."""
        return str(self.query_ids[q]) if self.query_ids is not None else str(q)

    def document_name(self, row: int) -> str:
        """The id of a row's document as text; where it has none, its row number before `grouped`."""
        if self.document_ids is not None:
            return str(self.document_ids[row])
        return str(row if self.rows is None else self.rows[row])

    def with_preferences(
        self,
        winners: ArrayLike,
        losers: ArrayLike,
        probability: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Dataset:
        """The same data with explicit preferences between rows of this dataset."""
        where = self.from_grouped(np.arange(self.n_documents))
        first, second = whole_numbers(winners, "winner"), whole_numbers(losers, "loser")
        for rows in (first, second):
            if len(rows) and (rows.min() < 0 or rows.max() >= self.n_documents):
                bad = rows.min() if rows.min() < 0 else rows.max()
                raise DataError(f"Preferences name row {bad}, but there are {self.n_documents} rows.")
        edges = from_rows(where[first], where[second], probability, weights=weights, offsets=self._offsets)
        return replace(self, preferences=edges)

    def select(self, queries: ArrayLike) -> Dataset:
        """Some of the queries, in the order given, the rows of each together."""
        if isinstance(self.offsets, Scattered):
            return self.grouped().select(queries)
        chosen = self._query_numbers(queries)
        starts, ends = self.offsets[chosen], self.offsets[chosen + 1]
        if len(chosen) == 1 or (len(chosen) and (starts[1:] == ends[:-1]).all()):
            take: Any = slice(int(starts[0]), int(ends[-1]))  # queries that lie together are not copied
        else:
            take = _rows_of(starts, ends)

        offsets = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(ends - starts, out=offsets[1:])

        def pick(x: Any) -> Any:
            return None if x is None else x[take]

        def per_query(x: Any) -> Any:
            return None if x is None else x[chosen]

        return self._replaced(
            features=take_rows(self.features, take),
            labels=pick(self.labels),
            offsets=offsets,
            query_ids=per_query(self.query_ids),
            document_ids=pick(self.document_ids),
            query_weights=per_query(self.query_weights),
            document_weights=pick(self.document_weights),
            score_offsets=pick(self.score_offsets),
            preferences=None if self.preferences is None else self.preferences.select(chosen),
            comments=pick(self.comments),
            rows=None,
        )

    def _replaced(self, **changes: Any) -> Dataset:
        """The same data with other fields, not checked again: every step of a solver selects queries."""
        copy = object.__new__(Dataset)
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    def _query_numbers(self, queries: ArrayLike) -> NDArray[np.int64]:
        given = plain_column(queries, "query number", where=self.source)
        if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= self.n_queries):
            raise DataError(
                f"queries must be whole numbers from 0 to {self.n_queries - 1}; got {given.ravel()[:5].tolist()}. "
                "For a mask, give np.flatnonzero(mask).",
                where=self.source,
            )
        return given.astype(np.int64, copy=False)

    def dense(self) -> Dataset:
        """The same data with dense features."""
        return replace(self, features=dense(self.features))

    def digest(self) -> str:
        """A short hash of everything that learning sees: features, labels, queries, weights, preferences."""
        if isinstance(self.offsets, Scattered):
            return self.grouped().digest()
        h = hashlib.sha256(repr(self.features.shape).encode())
        if is_sparse(self.features):
            places = (self.features.indices, self.features.indptr)  # of 32 bits or of 64
            arrays: list[Any] = [self.features.data, *(np.asarray(place, np.int64) for place in places)]
        else:
            arrays = []
            for block in in_blocks(self.features):
                h.update(np.ascontiguousarray(block).data if block.size else b"")
        arrays += [self.labels, self.offsets, self.query_weights, self.document_weights]
        arrays += [] if self.score_offsets is None else [self.score_offsets]
        if self.preferences is not None:
            arrays += [self.preferences.edges, self.preferences.offsets]
        for array in arrays:
            h.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        return h.hexdigest()[:16]

    def _check_feature_names(self) -> None:
        names = self.feature_names
        if names is None:
            return
        if len(names) != self.n_features:
            raise DataError(f"{len(names)} feature names for {self.n_features} features.", where=self.source)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"two features are called {twice!r}. Give each a name of its own.", where=self.source)

    def _check_query_weights(self) -> None:
        weights = self.query_weights
        if weights is None:
            return
        bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
        if len(bad):
            raise DataError(
                f"query {self.query_name(int(bad[0]))}: its weight must be a finite number of at least 0; got "
                f"{weights[bad[0]]}.",
                where=self.source,
            )

    def _check_document_weights(self) -> None:
        added = self.score_offsets
        if added is not None and (self.document_weights is None or not np.isfinite(added).all()):
            raise DataError("score offsets must be finite numbers, and go with document weights.", where=self.source)
        if self.document_weights is None:
            return
        bad = np.flatnonzero(~np.isfinite(self.document_weights))
        if len(bad):
            raise DataError(
                f"document {self.document_name(int(bad[0]))}: weight {self.document_weights[bad[0]]} is not a finite "
                "number.",
                where=self.source,
            )
        if self.preferences is not None:
            raise DataError("document weights and preferences cannot be combined. Give one of them.", where=self.source)
        if self.labels is not None and not np.isin(self.labels, (0.0, 1.0)).all():
            raise DataError(
                "document weights go with labels 0 and 1 (relevant or not), or with none; got grades up to "
                f"{self.labels.max():g}. Weight whole queries (query_weights), or give preferences with weights.",
                where=self.source,
            )


def _rows_of(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Any:
    """The rows starts[k]:ends[k] for all k: a slice, which copies nothing, where they follow each other."""
    if len(starts) and (starts[1:] == ends[:-1]).all():
        return slice(starts[0], ends[-1])
    parts = [np.arange(a, b) for a, b in zip(starts, ends, strict=True)]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _range(labels: NDArray[np.float64]) -> str:
    return f"{labels.min():g} to {labels.max():g}" if len(labels) else "of none"
