"""Topics of ranked documents, and of all judged ones, as metrics of diversity see them.

>>> topics = TopicLists.of(Triples.from_rows([[[0, 0, 1], [2, 0, 1], [2, 1, 2]]]), [0, 3])
>>> topics.query(0, np.array([2, 0, 1]), by_id=False)[0].tolist()  # grades in rank order, a column per topic
[[1.0, 2.0], [1.0, -inf], [-inf, -inf]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import AnyArray, Array, Ints
from podium.base.errors import DataError
from podium.data.triples import Triples
from podium.parsing.ids import Ids


@dataclass(frozen=True, eq=False)
class TopicLists:
    """Grades of documents for topics: of the documents of each list, and of all that were judged.

    Documents of `listed` are counted as in the list, those of `judged` as among the judged; topics are numbered alike.
    """

    listed: Triples
    judged: Triples
    judged_offsets: Ints  # (Q+1,) of the judged documents
    judged_ids: Ids | AnyArray | None = None  # (M,)

    def __post_init__(self) -> None:
        for triples in (self.listed, self.judged):
            if not np.isfinite(triples.values).all():
                raise DataError("A grade of a document for a topic is not a finite number.")

    @classmethod
    def of(cls, topics: Triples | None, offsets: ArrayLike, ids: Ids | AnyArray | None = None) -> TopicLists | None:
        """Topics of lists whose documents are the judged ones; None without topics."""
        return None if topics is None else cls(topics, topics, np.ascontiguousarray(offsets, np.int64), ids)

    @property
    def largest(self) -> float:
        """The largest grade, at least 1."""
        return float(max(self.judged.values[:, 2].max(initial=1.0), self.listed.values[:, 2].max(initial=1.0)))

    def query(self, q: int, order: Ints, *, by_id: bool) -> tuple[Array, Array]:
        """Grades of a query's documents in rank order (n, T), and of the judged ones (m, T).

        `order` are documents of the list from the first rank. The judged come as they stand, or the largest id first.
        """
        first, m = int(self.judged_offsets[q]), int(self.judged_offsets[q + 1] - self.judged_offsets[q])
        triples = self.judged.of(q)
        width = int(triples[:, 1].max(initial=-1)) + 1
        judged = _matrix(triples, m, width)
        if by_id:
            if self.judged_ids is None:
                raise DataError("ties=docno orders documents by their ids, but there are none.")
            names = [str(name).encode("utf-8", "surrogateescape") for name in self.judged_ids[first : first + m]]
            judged = judged[sorted(range(m), key=names.__getitem__, reverse=True)]
        return _matrix(self.listed.of(q), len(order), width)[order], judged


def _matrix(triples: Array, n: int, width: int) -> Array:
    """Grades of n documents for topics; −∞ if there is no judgment."""
    table = np.full((n, width), -np.inf)
    table[triples[:, 0].astype(np.int64), triples[:, 1].astype(np.int64)] = triples[:, 2]
    return table
