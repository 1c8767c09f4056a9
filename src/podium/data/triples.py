"""Triples: statements about pairs within a query, (document, topic, grade) or (document, document, value …).

`Dataset.topics` says which documents are relevant to which topics (aspects, subtopics, intents) of their query, for
diversity. `Dataset.relations` links documents of a query, with one number or more for each link.

    >>> topics = Triples(np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 2.0]]), np.array([0, 2]))
    >>> topics.matrix(0, 3).tolist()  # grades of three documents for two topics
    [[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array, Ints


@dataclass(frozen=True, eq=False)
class Triples:
    """Rows (first, second, numbers …) of all queries, those of query q at offsets[q]:offsets[q+1].

    `first` is a document, counted within its query; `second` is another, or a topic, numbered within the query.
    """

    values: Array  # (M, 2 + E)
    offsets: Ints  # (Q+1,)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Sequence[float]]], columns: int = 3) -> Triples:
        """Make triples of the rows of each query."""
        values = np.array([row for part in rows for row in part], np.float64).reshape(-1, columns)
        return cls(values, np.cumsum([0, *map(len, rows)]).astype(np.int64))

    def __len__(self) -> int:
        return len(self.values)

    def select(self, queries: Ints) -> Triples:
        """The rows of some queries, in the given order."""
        return Triples(*select_rows(self.values, self.offsets, queries))

    def of(self, q: int) -> Array:
        """The rows of a query."""
        return self.values[self.offsets[q] : self.offsets[q + 1]]

    def matrix(self, q: int, n: int) -> Array:
        """The first number of each pair of a query of n documents, 0 for pairs without a row; topics in columns."""
        rows = self.of(q)
        width = n if not len(rows) else int(rows[:, 1].max()) + 1
        table = np.zeros((n, width))
        table[rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)] = rows[:, 2]
        return table


def select_rows(values: Array, offsets: Ints, queries: Ints) -> tuple[Array, Ints]:
    """Rows of some queries, in the given order, and their offsets."""
    parts = [values[offsets[q] : offsets[q + 1]] for q in queries]
    sizes = np.diff(offsets)[queries]
    chosen = np.concatenate(parts) if parts else values[:0]
    return chosen, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
