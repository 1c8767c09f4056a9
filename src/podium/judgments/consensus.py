"""Consensus labels: one label for each item from the grades of several judges, with its support.

    >>> from podium.judgments.judgments import Judgments
    >>> votes = Judgments.from_rows(list("qqqqq"), list("aaabb"), list("xyzxy"), [2, 2, 0, 1, 1])
    >>> agreed = consensus(votes, "majority")
    >>> agreed.labels.tolist(), agreed.support.round(2).tolist()
    ([2.0, 1.0], [0.67, 1.0])

Every method also gives a probability for each grade of each item: the share of the votes, or for Dawid–Skene the
posterior. From them come the support of a label, its spread, and preferences between documents with probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, UnknownNameError
from podium.base.files import Source, writing
from podium.data.dataset import Dataset
from podium.data.inputs import T
from podium.data.table import Table
from podium.formats.trec.trec import Qrels
from podium.judgments.dawid_skene import dawid_skene
from podium.judgments.glad import glad
from podium.judgments.judge_tables import JudgeTables, grade_codes
from podium.judgments.judgments import Judgments
from podium.judgments.mace import mace
from podium.judgments.one_coin import one_coin
from podium.judgments.ordinal_judge import ordinal
from podium.judgments.wawa import wawa
from podium.parsing.ids import Ids

How = Literal["majority", "mean", "median", "dawid-skene", "one-coin", "ordinal", "mace", "glad", "wawa"]


@dataclass(frozen=True, eq=False)
class Consensus:
    """Consensus label of each item of `judgments`."""

    judgments: Judgments
    how: str
    labels: Array  # (I,)
    probabilities: Array  # (I, L) of the grades of judgments.scale
    judges: JudgeTables | None = None  # errors of the judges, if they were estimated

    @property
    def support(self) -> Array:
        """Probability of each item's label: the share of its votes, or the posterior.

        It is 0 if a mean or median is between grades. An item with one vote has support 1; see `single`.
        """  # (I,)
        return np.asarray((self.probabilities * (self.judgments.scale == self.labels[:, None])).sum(axis=1))

    @property
    def spread(self) -> Array:
        """Root mean square distance of the votes, or the grades of the posterior, from the label."""  # (I,)
        distance = self.judgments.scale - self.labels[:, None]
        return np.asarray(np.sqrt((self.probabilities * distance**2).sum(axis=1)))

    @property
    def single(self) -> Ints:
        """Items that only one judge graded."""
        return np.flatnonzero(self.judgments.votes == 1)

    def qrels(self) -> Qrels:
        """Labels as qrels."""
        votes = self.judgments
        queries = np.array(votes.query_ids, dtype=object)
        return Qrels(queries, votes.offsets, Ids.of(votes.document_ids), self.labels, votes.source)

    def with_labels(self, data: T, *, unjudged: float | None = None) -> T:
        """Set the consensus as labels of a dataset, joined by query and document ids.

        Raises an error if a document was not judged, unless `unjudged` is the grade that such documents get.
        """
        items = _items_of(self.judgments, data)
        missing = np.flatnonzero(items < 0)
        if len(missing) and unjudged is None:
            query, document = data.query_name(int(data.query_index[missing[0]])), data.document_name(int(missing[0]))
            raise DataError(
                f"{len(missing)} of {data.n_documents} documents were not judged, the first document {document!r} of "
                f"query {query!r}. Judge them, drop them, or give them a grade: unjudged=0, or nan for none.",
                where=data.source,
            )
        return replace(data, labels=np.where(items < 0, 0.0 if unjudged is None else unjudged, self.labels[items]))

    def edges(self) -> tuple[Ints, Ints, Array]:
        """Preferences: items (winner, loser) of each query, and the probability of each; ties are left out.

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
        """Set `edges` as preferences between the rows of a dataset; items that it lacks are left out."""
        items = _items_of(self.judgments, data)
        row_of = np.full(self.judgments.n_items, -1)
        row_of[items[items >= 0]] = np.flatnonzero(items >= 0)
        winners, losers, odds = self.edges()
        there = (row_of[winners] >= 0) & (row_of[losers] >= 0)
        return data.with_preferences(row_of[winners[there]], row_of[losers[there]], odds[there])


def consensus(judgments: Judgments, how: How = "majority") -> Consensus:
    """Aggregate the judges' grades to one label per item.

    - `majority`: the grade with most votes. Ties go to the tied grade nearest to the median of the item's votes, and
      to the lower one if two are equally near.
    - `mean`, `median` of the item's votes.
    - `dawid-skene`: the likeliest grade, with each judge's errors estimated from all items. See `dawid_skene`.
    - `one-coin`, `ordinal`, `mace`, `glad`: the same with other models of judges: right or wrong; near misses likelier
      than far ones; knowing or guessing; able judges and hard documents.
    - `wawa`: votes weighted by each judge's agreement with the majority.
    """
    if how not in get_args(How):
        raise UnknownNameError("consensus", how, get_args(How))
    if how in _MODELS:
        fitted = _MODELS[how](judgments)
        labels = judgments.scale[fitted.posterior.argmax(axis=1)]
        return Consensus(judgments, how, labels, fitted.posterior, fitted)
    counts = judgments.counts()
    shares = counts / counts.sum(axis=1, keepdims=True)
    if how == "mean":
        return Consensus(judgments, how, shares @ judgments.scale, shares)
    medians = _medians(judgments)
    if how == "median":
        return Consensus(judgments, how, medians, shares)
    majority = majority_grades(judgments)
    if how == "majority":
        return Consensus(judgments, how, majority, shares)
    weighed = wawa(judgments, majority)
    return Consensus(judgments, how, judgments.scale[weighed.posterior.argmax(axis=1)], weighed.posterior, weighed)


def majority_grades(judgments: Judgments) -> Array:
    """The grade with most votes of each item, as `majority` says, in little memory however many grades there are."""
    scale = judgments.scale
    cells, votes = np.unique(judgments.items * len(scale) + grade_codes(judgments), return_counts=True)
    items, codes = np.divmod(cells, len(scale))
    behind = np.abs(scale[codes] - _medians(judgments)[items])
    order = np.lexsort((codes, behind, -votes, items))
    return np.asarray(scale[codes[order]][np.searchsorted(items[order], np.arange(judgments.n_items))])


_MODELS: dict[str, Callable[[Judgments], JudgeTables]] = {
    "dawid-skene": dawid_skene, "one-coin": one_coin, "ordinal": ordinal, "mace": mace, "glad": glad,
}  # fmt: skip


def write_preferences_of(labelled: Consensus, target: Source) -> None:
    """Write `edges` in the format of `read_preferences`: qid, winner, loser, probability."""
    names = labelled.judgments.item_names()
    with writing(target) as file:
        file.write(b"qid\twinner\tloser\tprobability\n")
        for winner, loser, odds in zip(*(part.tolist() for part in labelled.edges()), strict=True):
            line = "\t".join([*names[winner], names[loser][1], repr(odds)])
            file.write(line.encode("utf-8", "surrogateescape") + b"\n")


def _medians(judgments: Judgments) -> Array:
    """Median vote of each item; the mean of the two middle votes if their number is even."""
    votes = judgments.votes
    ordered = judgments.grades[np.lexsort((judgments.grades, judgments.items))]
    start = np.cumsum(votes) - votes
    return np.asarray(0.5 * (ordered[start + (votes - 1) // 2] + ordered[start + votes // 2]))


def _items_of(judgments: Judgments, data: Table) -> Ints:
    """Item of each row of a dataset; −1 if it was not judged."""
    if data.document_ids is None:
        raise DataError("the data has no document ids, by which judgments are joined.", where=data.source)
    number = {name: i for i, name in enumerate(judgments.item_names())}
    rows = zip(data.query_index.tolist(), map(str, data.document_ids.tolist()), strict=True)
    return np.array([number.get((data.query_name(q), document), -1) for q, document in rows], np.int64)
