"""Dataset: queries of documents, each document a row of features, with labels, preferences or neither.

    >>> import numpy as np
    >>> data = Dataset.from_arrays(np.eye(3), [1, 0, 2], qid=["b", "a", "b"])
    >>> data
    Dataset(2 queries, 3 documents, 3 features, labels 0 to 2)
    >>> data.labels.tolist(), data.grouped().labels.tolist(), data.grouped().offsets.tolist()
    ([1.0, 0.0, 2.0], [1.0, 2.0, 0.0], [0, 2, 3])

A dataset keeps the row order of its input: features, labels, scores and ranks all have it. If the rows of a query are
not adjacent, as here, `from_arrays` gives an `Ungrouped` table, which has no `offsets`, so that rows of different
queries are never mixed; `grouped()` puts the rows of each query together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arrays import AnyArray, Flags, Ints, is_sparse
from podium.base.columns import check_row_order, float_numbers, plain_column, text_ids
from podium.base.errors import DataError
from podium.base.matrix_on_disk import in_blocks, take_rows
from podium.data.array_parts import feature_array, label_array, query_codes
from podium.data.table import PER_ROW, Table


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Table):
    """A table in which the rows of each query are adjacent."""

    offsets: Ints  # (Q+1,): rows offsets[q]:offsets[q+1] are query q

    @classmethod
    def from_arrays(
        cls,
        features: object,
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
    ) -> Table:
        """Make a dataset from arrays, in their row order.

        `qid` is the query id of each row, or `group` gives the sizes of consecutive queries; with neither, all rows
        are one query. `preferences` is (winner rows, loser rows[, probabilities[, weights]]). `query_weights` follow
        the queries in order of first appearance, `document_weights` the rows; see `relevance`.

        `features`: a row per document; NaN is a missing value.
        `labels`: a grade per row; NaN is not judged.
        `document_ids`: an id per row.
        `feature_names`: a name per column.
        `comments`: a text per row, kept in LETOR files.
        `source`: where the data came from, for messages.
        """
        check_row_order(source, features=features, labels=labels, qid=qid, document_ids=document_ids)
        X = feature_array(features, source)
        n = X.shape[0]
        codes, names = query_codes(qid, group, n, source)
        offsets, apart = np.array([0, n]), False
        if len(names) != 1:
            offsets = np.append(0, np.cumsum(np.bincount(codes, minlength=len(names))))
            apart = bool((np.diff(codes) < 0).any())
        data = table_of(
            offsets,
            np.argsort(codes, kind="stable") if apart else None,
            features=X,
            labels=None if labels is None else label_array(labels, n, source),
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

    @classmethod
    def from_label_rankings(
        cls, features: object, rankings: Sequence[Any] | None = None, *, labels: Sequence[Any] | None = None
    ) -> Dataset:
        """Make a dataset of instances that each rank labels: see `podium.data.label_rankings`.

        `features`: a row per instance.
        `rankings`: the order of labels of each instance, or `labels` as they are.
        """
        from podium.data.label_rankings import label_rankings

        return label_rankings(features, rankings, labels=labels)

    def grouped(self) -> Dataset:
        return self

    @property
    def grouped_offsets(self) -> Ints:
        return self.offsets

    def to_grouped(self, values: ArrayLike) -> NDArray[Any]:
        return np.asarray(values)

    def from_grouped(self, values: ArrayLike) -> NDArray[Any]:
        return np.asarray(values)

    def select(self, queries: ArrayLike) -> Dataset:
        chosen = self._query_numbers(queries)
        starts, ends = self.offsets[chosen], self.offsets[chosen + 1]
        take = _rows_of(starts, ends)
        offsets = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(ends - starts, out=offsets[1:])

        def pick(x: AnyArray | None) -> Any:
            return None if x is None else x[take]

        def per_query(x: AnyArray | None) -> Any:
            return None if x is None else x[chosen]

        return self._replaced(
            features=take_rows(self.features, take),
            labels=pick(self.labels),
            offsets=offsets,
            query_ids=per_query(self.query_ids),
            document_ids=pick(self.document_ids),
            query_weights=per_query(self.query_weights),
            document_weights=pick(self.document_weights),
            row_weights=pick(self.row_weights),
            score_offsets=pick(self.score_offsets),
            base_scores=pick(self.base_scores),
            positions=pick(self.positions),
            preferences=None if self.preferences is None else self.preferences.select(chosen),
            topics=None if self.topics is None else self.topics.select(chosen),
            relations=None if self.relations is None else self.relations.select(chosen),
            query_features=per_query(self.query_features),
            comments=pick(self.comments),
            rows=None,
        )

    def judged(self) -> Dataset:
        """The documents that have a label, without queries that have none left; itself if all labels are there."""
        if not self.n_unjudged:
            return self
        assert self.labels is not None, "some are NaN"
        keep = ~np.isnan(self.labels)
        judged = self.keep_documents(keep)
        return judged.select(np.flatnonzero(judged.sizes))

    def keep_documents(self, keep: Flags) -> Dataset:
        """Some of the documents of each query.

        `keep`: whether each row stays.
        """
        if self.preferences is not None or self.topics is not None or self.relations is not None:
            raise DataError(
                "documents without a label (NaN) cannot be left out of data with preferences, topics or relations. "
                "Give every document a label.",
                where=self.source,
            )
        counts = np.bincount(self.query_index[keep], minlength=self.n_queries)
        rows = np.arange(self.n_documents) if self.rows is None else self.rows
        parts = {name: getattr(self, name) for name in PER_ROW}
        taken = {name: take_rows(part, np.flatnonzero(keep)) for name, part in parts.items() if part is not None}
        return self._replaced(**taken, offsets=np.append(0, np.cumsum(counts)), rows=rows[keep])

    def _query_numbers(self, queries: ArrayLike) -> Ints:
        numbers = plain_column(queries, "query number", where=self.source)
        if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= self.n_queries):
            raise DataError(
                f"queries must be whole numbers from 0 to {self.n_queries - 1}; got {numbers.ravel()[:5].tolist()}. "
                "For a mask, give np.flatnonzero(mask).",
                where=self.source,
            )
        return numbers.astype(np.int64, copy=False)

    def digest(self) -> str:
        h = hashlib.sha256(repr(self.features.shape).encode())
        if is_sparse(self.features):
            places = (self.features.indices, self.features.indptr)  # of 32 bits or of 64
            arrays: list[Any] = [self.features.data, *(np.asarray(place, np.int64) for place in places)]
        else:
            arrays = []
            for block in in_blocks(self.features):
                h.update(np.ascontiguousarray(block).data if block.size else b"")
        arrays += [self.labels, self.offsets, self.query_weights, self.document_weights]
        arrays += [array for array in (self.score_offsets, self.base_scores) if array is not None]
        if self.row_weights is not None:
            h.update(b"rows" + self.row_weights.tobytes())
        if self.positions is not None:
            h.update(b"positions" + self.positions.tobytes())
        if self.preferences is not None:
            arrays += [self.preferences.edges, self.preferences.offsets]
        for array in arrays:
            h.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        for name, triples in {"topics": self.topics, "relations": self.relations}.items():
            if triples is not None:
                h.update(name.encode() + triples.values.tobytes() + triples.offsets.tobytes())
        if self.categories:
            h.update(repr(sorted(self.categories.items())).encode())
        if self.query_features is not None:
            h.update(b"queries" + np.ascontiguousarray(self.query_features).tobytes())
        return h.hexdigest()[:16]


@dataclass(frozen=True, eq=False, repr=False)
class Ungrouped(Table):
    """A table in which the rows of some query are not adjacent."""

    order: Ints  # (N,) grouped row k is row order[k] here
    cuts: Ints  # (Q+1,): rows order[cuts[q]:cuts[q+1]] are query q

    @property
    def grouped_offsets(self) -> Ints:
        return self.cuts

    @property
    def offsets(self) -> NoReturn:
        """Refuse: cutting these rows by offsets would mix queries."""
        raise DataError("the rows of a query lie apart, so offsets cannot cut them. Use data.grouped().")

    def grouped(self) -> Dataset:
        kept = {field.name: getattr(self, field.name) for field in fields(Table)}
        moved = {name: take_rows(kept[name], self.order) for name in PER_ROW if kept[name] is not None}
        return Dataset(**(kept | moved | {"rows": self.order}), offsets=self.cuts)

    def to_grouped(self, values: ArrayLike) -> NDArray[Any]:
        return np.asarray(values)[self.order]

    def from_grouped(self, values: ArrayLike) -> NDArray[Any]:
        values = np.asarray(values)
        back = np.empty_like(values)
        back[self.order] = values
        return back


def table_of(offsets: Ints, order: Ints | None, **parts: Any) -> Table:
    """Make a table whose rows are grouped by `order`; a `Dataset` if they are grouped already (None)."""
    return Dataset(**parts, offsets=offsets) if order is None else Ungrouped(**parts, order=order, cuts=offsets)


def _rows_of(starts: Ints, ends: Ints) -> Any:
    """The rows starts[k]:ends[k] for all k: a slice, which copies nothing, if they are consecutive."""
    if len(starts) and (starts[1:] == ends[:-1]).all():
        return slice(int(starts[0]), int(ends[-1]))
    parts = [np.arange(a, b) for a, b in zip(starts, ends, strict=True)]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
