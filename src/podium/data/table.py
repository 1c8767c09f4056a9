"""Table: documents in rows, each of one query, in the caller's order.

A table is a `Dataset`, if the rows of each query are adjacent, or `Ungrouped`. Functions that take and return numbers
per row take a table; functions that work query by query take a dataset: `grouped()` makes one of any table, and
`to_grouped` and `from_grouped` convert numbers per row there and back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arrays import AnyArray, Array, Ints, Singles, dense
from podium.base.columns import float_numbers, whole_numbers
from podium.base.errors import DataError, counted
from podium.base.shown import facts_html
from podium.data.categories import Categories
from podium.data.preferences import Preferences, from_rows
from podium.data.triples import Triples

if TYPE_CHECKING:
    import scipy.sparse as sp

    from podium.base.matrix_on_disk import Rows
    from podium.data.dataset import Dataset

PER_ROW = (
    "features", "labels", "document_ids", "document_weights", "row_weights", "score_offsets", "base_scores",
    "positions", "comments",
)  # fmt: skip
"""The fields with an entry per row."""
MOST_POSITIONS = 100_000
"""Highest position: each has a number that is learned."""


class Sources(NamedTuple):
    """Where transformed features come from."""

    feature: Ints  # (d,) the original feature of each; −1 if it comes from several
    names: tuple[str, ...] | None  # of the original features
    n_features: int  # number of original features


@dataclass(frozen=True, eq=False, repr=False)
class Table(ABC):
    """The documents of Q queries: N rows of d features. It is immutable."""

    features: Singles | sp.csr_array  # (N, d), C order or CSR; or `Rows`, which are not in memory
    labels: Array | None  # (N,) grades; larger is better, equal grades are ties; NaN: not judged
    _: KW_ONLY
    query_ids: NDArray[Any] | None = None  # (Q,) text
    document_ids: NDArray[Any] | None = None  # (N,) text
    feature_names: tuple[str, ...] | None = None  # a name for each column of `features`
    query_weights: Array | None = None  # (Q,) how much each query counts in learning
    document_weights: Array | None = None  # (N,) how much the relevance of this document counts
    row_weights: Array | None = None  # (N,) factor of gradient and curvature of this document, as LightGBM's weights
    score_offsets: Array | None = None  # (N,) added to scores in training, with document weights
    base_scores: Array | None = None  # (N,) scores that a model's own are added to, in training and validation
    positions: Ints | None = None  # (N,) rank at which the document was shown, whose bias boosted trees leave out
    preferences: Preferences | None = None  # between grouped rows
    topics: Triples | None = None  # (grouped row, topic, grade): what each document is relevant to
    relations: Triples | None = None  # (grouped row, grouped row, value …): links between documents, directed
    query_features: Array | None = None  # (Q, m) numbers that describe each query
    query_feature_names: tuple[str, ...] | None = None  # a name for each column of `query_features`
    comments: NDArray[Any] | None = None  # (N,) the text after '#' in a LETOR file
    info: Mapping[str, Any] | None = None  # how the features were computed, for a model that must compute them again
    categories: Categories | None = None  # of features whose values are codes, by column
    sources: Sources | None = None  # of transformed features; None: they are the original ones
    rows: Ints | None = None  # (N,) after `grouped`, the row that each was before; None: the same
    source: str | None = None  # where it came from, for messages

    @abstractmethod
    def grouped(self) -> Dataset:
        """The same data with adjacent rows of each query; itself if they are."""

    @property
    @abstractmethod
    def grouped_offsets(self) -> Ints:
        """Grouped rows grouped_offsets[q]:grouped_offsets[q+1] are query q."""  # (Q+1,)

    @abstractmethod
    def to_grouped(self, values: ArrayLike) -> NDArray[Any]:
        """Numbers per row of this table, in the row order of `grouped()`."""

    @abstractmethod
    def from_grouped(self, values: ArrayLike) -> NDArray[Any]:
        """Numbers per row of `grouped()`, in the row order of this table."""

    def select(self, queries: ArrayLike) -> Dataset:
        """Some of the queries, in the given order, with adjacent rows of each."""
        return self.grouped().select(queries)

    def digest(self) -> str:
        """A short hash of everything that learning sees: features, labels, queries, weights, preferences."""
        return self.grouped().digest()

    def __post_init__(self) -> None:
        n, offsets = self.features.shape[0], self.grouped_offsets
        if offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
            raise DataError(f"offsets must rise from 0 to the {n} rows; got {offsets}.", where=self.source)
        for name in (*PER_ROW[1:], "rows"):
            self._check_length(name, n, "rows of features")
        for name in ("query_ids", "query_weights", "query_features"):
            self._check_length(name, self.n_queries, "queries")
        self._check_feature_names()
        self._check_query_weights()
        self._check_document_weights()
        self._check_base_scores()
        self._check_row_weights()
        self._check_positions()

    def with_positions(self, positions: ArrayLike) -> Self:
        """The same data with the rank, from 1, at which each document was shown when its label (a click) came about.

        `positions`: the rank, from 1, of each row.
        """
        return replace(self, positions=whole_numbers(positions, "position", where=self.source))

    def with_base_scores(self, scores: ArrayLike) -> Self:
        """The same data with scores of another ranker, a number per row, that a model's own are added to.

        `scores`: a number per row (N,).
        """
        return replace(self, base_scores=float_numbers(scores, "base score", where=self.source))

    def added_to_base(self, scores: Array) -> Array:
        """Scores of a model on top of the base scores, if there are any.

        `scores`: the model's own scores (N,), in the row order of this table.
        """  # (N,)
        return scores if self.base_scores is None else scores + self.base_scores

    def with_features(
        self,
        features: AnyArray | sp.csr_array | Rows,
        names: tuple[str, ...] | None,
        *,
        categories: Categories | None = None,
        sources: Sources | None = None,
    ) -> Self:
        """The same documents with other features; the other fields are not checked again.

        `names`: names of the columns.
        `categories`: values behind the codes of categories, by column.
        `sources`: original features that each column is made of.
        `features`: a row for each document, in the same order (N, d).
        """
        if features.shape[0] != self.n_documents or (names is not None and len(names) != features.shape[1]):
            raise DataError(f"features of shape {features.shape} for {self.n_documents} rows.", where=self.source)
        return self._replaced(features=features, feature_names=names, categories=categories, sources=sources)

    def _replaced(self, **changes: Any) -> Self:
        """The same data with other fields, not checked again: every step of a solver selects queries."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    def with_preferences(
        self,
        winners: ArrayLike,
        losers: ArrayLike,
        probability: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """The same data with explicit preferences between rows of this table.

        `winners`: rows of the better documents, and `losers` of the worse.
        `probability`: target that the winner is better; 1 by default.
        `weights`: how much each preference counts; 1 by default.
        """
        where = self.from_grouped(np.arange(self.n_documents))
        first, second = whole_numbers(winners, "winner"), whole_numbers(losers, "loser")
        for rows in (first, second):
            if len(rows) and (rows.min() < 0 or rows.max() >= self.n_documents):
                bad = rows.min() if rows.min() < 0 else rows.max()
                raise DataError(f"Preferences name row {bad}, but there are {self.n_documents} rows.")
        edges = from_rows(where[first], where[second], probability, weights=weights, offsets=self.grouped_offsets)
        return replace(self, preferences=edges)

    def dense(self) -> Self:
        """The same data with dense features."""
        return replace(self, features=dense(self.features))

    @property
    def n_queries(self) -> int:
        return len(self.grouped_offsets) - 1

    @property
    def n_documents(self) -> int:
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.features.shape[1])

    @property
    def sizes(self) -> Ints:
        """The number of documents of each query."""
        return np.diff(self.grouped_offsets)

    @property
    def query_index(self) -> Ints:
        """The number of each row's query."""  # (N,)
        return self.from_grouped(np.repeat(np.arange(self.n_queries), self.sizes))

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

    def _repr_html_(self) -> str:
        """What notebooks show."""
        sizes = self.sizes
        facts = {
            "queries": str(self.n_queries),
            "documents": str(self.n_documents),
            "documents per query": f"{sizes.min()} to {sizes.max()}" if len(sizes) else "–",
            "features": str(self.n_features),
            "labels": "none" if self.labels is None else _range(self.labels),
            "source": self.source or "",
        }
        return facts_html("Dataset", facts)

    def relevance(self) -> Array:
        """How much the relevance of each document counts: its weight, or 0 if its label is 0.

        With document weights, training minimises Σ_d w_d L(s, e_d) over the documents of a query, e_d the labels in
        which d alone is relevant. That is the risk of clicks: w_d = 1/propensity if d was clicked, else 0.
        """  # (N,)
        assert self.document_weights is not None
        return self.document_weights if self.labels is None else self.document_weights * self.labels

    @property
    def n_unjudged(self) -> int:
        """The number of documents that were not judged: their label is NaN."""
        return 0 if self.labels is None else int(np.isnan(self.labels).sum())

    def query_weights_of_rows(self) -> Array:
        """The weight of each row's query; 1 if queries have none."""  # (N,)
        if self.query_weights is None:
            return np.ones(self.n_documents)
        return self.from_grouped(np.repeat(self.query_weights, self.sizes))

    def query_name(self, q: int) -> str:
        """The id of query q as text; its number if it has none.

        `q`: number of the query, from 0.
        """
        return str(self.query_ids[q]) if self.query_ids is not None else str(q)

    def document_name(self, row: int) -> str:
        """The id of a row's document as text; if it has none, its row number before `grouped`.

        `row`: number of the row, from 0.
        """
        if self.document_ids is not None:
            return str(self.document_ids[row])
        return str(row if self.rows is None else self.rows[row])

    def _check_length(self, name: str, expected: int, of: str) -> None:
        value = getattr(self, name)
        if value is not None and len(value) != expected:
            raise DataError(f"{len(value)} {name} for {expected} {of}.", where=self.source)

    def _check_feature_names(self) -> None:
        names = self.feature_names
        if names is None:
            return
        if len(names) != self.n_features:
            raise DataError(f"{len(names)} feature names for {self.n_features} features.", where=self.source)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"two features are called {twice!r}. Give each another name.", where=self.source)

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

    def _check_row_weights(self) -> None:
        weights = self.row_weights
        if weights is None:
            return
        bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
        if len(bad):
            raise DataError(
                f"document {self.document_name(int(bad[0]))}: its row weight must be a finite number of at least 0; "
                f"got {weights[bad[0]]}.",
                where=self.source,
            )

    def _check_positions(self) -> None:
        shown = self.positions
        if shown is not None and len(shown) and not (shown.min() >= 0 and shown.max() <= MOST_POSITIONS):
            bad = int(((shown < 0) | (shown > MOST_POSITIONS)).argmax())
            raise DataError(
                f"document {self.document_name(bad)}: its position must be a whole number from 0 to {MOST_POSITIONS}; "
                f"got {shown[bad]}.",
                where=self.source,
            )

    def _check_base_scores(self) -> None:
        base = self.base_scores
        if base is not None and not np.isfinite(base).all():
            row = int((~np.isfinite(base)).argmax())
            raise DataError(
                f"document {self.document_name(row)}: base score {base[row]} is not a finite number.", where=self.source
            )


def _range(labels: Array) -> str:
    judged = labels[~np.isnan(labels)]
    unjudged = f", {len(labels) - len(judged)} not judged" if len(judged) < len(labels) else ""
    return (f"{judged.min():g} to {judged.max():g}" if len(judged) else "of none") + unjudged
