"""Consensus: one label for each item from the grades of several judges, with how sure it is.

    >>> from podium.judgments.judgments import Judgments
    >>> votes = Judgments.from_rows(list("qqqqq"), list("aaabb"), list("xyzxy"), [2, 2, 0, 1, 1])
    >>> found = consensus(votes, "majority")
    >>> found.labels.tolist(), found.support.round(2).tolist()
    ([2.0, 1.0], [0.67, 1.0])

Every way gives, besides a label, a probability for each grade of each item: the share of the votes, or for Dawid–Skene
the posterior. From them come the support of a label, its spread, and preferences between documents with probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.errors import DataError, UnknownNameError
from podium.base.files import Source, writing
from podium.data.dataset import Dataset
from podium.formats.trec.trec import Qrels
from podium.judgments.dawid_skene import DawidSkene, dawid_skene
from podium.judgments.judgments import Judgments
from podium.parsing.ids import Ids

How = Literal["majority", "mean", "median", "dawid-skene"]


@dataclass(frozen=True, eq=False)
class Consensus:
    """A label for each item of `judgments`."""

    judgments: Judgments
    how: str
    labels: Array  # (I,)
    probabilities: Array  # (I, L) of the grades of judgments.scale
    judges: DawidSkene | None = None  # what Dawid–Skene found about the judges

    @property
    def support(self) -> Array:
        """The probability that an item has its label: the share of its votes, or the posterior.

        It is 0 where a mean or median lies between grades. An item with one vote has support 1; see `single`.
        """  # (I,)
        return np.asarray((self.probabilities * (self.judgments.scale == self.labels[:, None])).sum(axis=1))

    @property
    def spread(self) -> Array:
        """How far the votes, or the grades of the posterior, lie from the label: root mean square."""  # (I,)
        distance = self.judgments.scale - self.labels[:, None]
        return np.asarray(np.sqrt((self.probabilities * distance**2).sum(axis=1)))

    @property
    def single(self) -> NDArray[np.int64]:
        """The items that one judge alone graded."""
        return np.flatnonzero(self.judgments.votes == 1)

    def qrels(self) -> Qrels:
        """The labels as qrels."""
        votes = self.judgments
        queries = np.array(votes.query_ids, dtype=object)
        return Qrels(queries, votes.offsets, Ids.of(votes.document_ids), self.labels, votes.source)

    def with_labels(self, data: Dataset, *, unjudged: float | None = None) -> Dataset:
        """The same data with the consensus as labels, found by query and document id.

        Raises an error if a document was not judged, unless `unjudged` is the grade that such documents get.
        """
        items = _items_of(self.judgments, data)
        missing = np.flatnonzero(items < 0)
        if len(missing) and unjudged is None:
            query, document = data.query_name(int(data.query_index[missing[0]])), data.document_name(int(missing[0]))
            raise DataError(
                f"{len(missing)} of {data.n_documents} documents were not judged, the first document {document!r} of "
                f"query {query!r}. Judge them, drop them, or give them a grade: unjudged=0.",
                where=data.source,
            )
        return replace(data, labels=np.where(items < 0, 0.0 if unjudged is None else unjudged, self.labels[items]))

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Items (winner, loser) of each query, and the probability that the winner is the better; ties are left out.

        P(i ≻ j) = Σ_{g>h} p_i(g) p_j(h) + ½ Σ_g p_i(g) p_j(g): the grades of two items count as independent.
        """
        winners, losers, odds = [], [], []
        below = np.cumsum(self.probabilities, axis=1) - self.probabilities / 2.0
        for a, b in zip(self.judgments.offsets[:-1].tolist(), self.judgments.offsets[1:].tolist(), strict=True):
            better = self.probabilities[a:b] @ below[a:b].T
            first, second = np.nonzero(better > 0.5 + 1e-12)
            winners.append(a + first)
            losers.append(a + second)
            odds.append(better[first, second])
        return np.concatenate(winners), np.concatenate(losers), np.minimum(np.concatenate(odds), 1.0)

    def with_preferences(self, data: Dataset) -> Dataset:
        """The same data with `edges` as preferences between its rows; items that it does not hold are left out."""
        items = _items_of(self.judgments, data)
        row_of = np.full(self.judgments.n_items, -1)
        row_of[items[items >= 0]] = np.flatnonzero(items >= 0)
        winners, losers, odds = self.edges()
        there = (row_of[winners] >= 0) & (row_of[losers] >= 0)
        return data.with_preferences(row_of[winners[there]], row_of[losers[there]], odds[there])


def consensus(judgments: Judgments, how: How = "majority") -> Consensus:
    """One label per item.

    - `majority`: the grade with most votes. Ties go to the tied grade nearest to the median of the item's votes, and
      to the lower one if two are equally near.
    - `mean`, `median` of the item's votes.
    - `dawid-skene`: the likeliest grade, with each judge's errors estimated from all items. See `dawid_skene`.
    """
    if how not in get_args(How):
        raise UnknownNameError("consensus", how, get_args(How))
    if how == "dawid-skene":
        found = dawid_skene(judgments)
        labels = judgments.scale[found.posterior.argmax(axis=1)]
        return Consensus(judgments, how, labels, found.posterior, found)
    counts = judgments.counts()
    shares = counts / counts.sum(axis=1, keepdims=True)
    if how == "mean":
        return Consensus(judgments, how, shares @ judgments.scale, shares)
    medians = _medians(judgments)
    if how == "median":
        return Consensus(judgments, how, medians, shares)
    behind = np.where(counts == counts.max(axis=1, keepdims=True), np.abs(judgments.scale - medians[:, None]), np.inf)
    return Consensus(judgments, how, judgments.scale[behind.argmin(axis=1)], shares)


def write_preferences_of(found: Consensus, target: Source) -> None:
    """Write `edges` in the form that `read_preferences` reads: qid, winner, loser, probability."""
    names = found.judgments.item_names()
    with writing(target) as file:
        file.write(b"qid\twinner\tloser\tprobability\n")
        for winner, loser, odds in zip(*(part.tolist() for part in found.edges()), strict=True):
            line = "\t".join([*names[winner], names[loser][1], repr(odds)])
            file.write(line.encode("utf-8", "surrogateescape") + b"\n")


def _medians(judgments: Judgments) -> Array:
    """The median vote of each item; the middle of the two middle votes where their number is even."""
    votes = judgments.votes
    ordered = judgments.grades[np.lexsort((judgments.grades, judgments.items))]
    start = np.cumsum(votes) - votes
    return np.asarray(0.5 * (ordered[start + (votes - 1) // 2] + ordered[start + votes // 2]))


def _items_of(judgments: Judgments, data: Dataset) -> NDArray[np.int64]:
    """The item of each row of a dataset; −1 where it was not judged."""
    if data.document_ids is None:
        raise DataError("the data has no document ids, by which judgments are found.", where=data.source)
    number = {name: i for i, name in enumerate(judgments.item_names())}
    rows = zip(data.query_index.tolist(), map(str, data.document_ids.tolist()), strict=True)
    return np.array([number.get((data.query_name(q), document), -1) for q, document in rows], np.int64)
