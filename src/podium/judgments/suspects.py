"""Suspect labels: judgments that contradict the clicks.

    >>> from podium.clicks.simulate import simulate
    >>> from podium.data.synthetic import make_letor_like
    >>> data, _ = make_letor_like(10, (4, 6), seed=1)
    >>> checked = suspects(judgments_of(data), simulate(data, pages=300, seed=0))
    >>> checked.judgments, len(checked.order) == data.n_documents
    (Judgments(10 queries, ... documents, 1 judge, ... judgments, grades 0 to ...), True)

A conditional random field (`judgments.label_field`) learns which grades go with which clicks. The score of a judgment
is log P(the likeliest grade) − log P(the given grade), by a field that was fitted to other queries, so that no label
judges itself. Xu, Chen, Xu, Li and Abib (Improving quality of training data for learning to rank using click-through
data, WSDM 2010) check labels in this way and find that dependencies between the labels of a results page help; the
features and constants here are ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Bytes, Int32s, Ints
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.dbn import DBN
from podium.clicks.models.last_click import down_to_last_click
from podium.data.table import Table
from podium.jit.compiled import compiled
from podium.judgments.consensus import consensus
from podium.judgments.judgments import Judgments
from podium.judgments.label_field import Field, fit

How = Literal["independent", "sequential", "full"]
FOLDS = 5
PENALTY = 1.0
_SMOOTHING = 0.5  # pseudo-counts of rates and odds


@dataclass(frozen=True, eq=False)
class Suspects:
    """Suspicion score of each judgment; documents that the log does not show cannot be checked."""

    judgments: Judgments
    how: str
    score: Array  # (R,) log P(likeliest) − log P(given), at least 0; NaN if not checked
    likeliest: Array  # (R,) the likeliest grade; NaN if not checked
    probability: Array  # (R,) of the likeliest grade
    given: Array  # (R,) the probability of the given grade

    @property
    def order(self) -> Ints:
        """Checked judgments, the most suspect first."""
        checked = np.flatnonzero(~np.isnan(self.score))
        return checked[np.argsort(-self.score[checked], kind="stable")]

    def corrected(self, sure: float = 0.9) -> Judgments:
        """Judgments with grades replaced by the likeliest grade if its probability is at least `sure`."""
        if not 0.0 < sure <= 1.0:
            raise ParameterError(f"sure must be above 0 and at most 1; got {sure}.")
        change = np.nan_to_num(self.probability) >= sure
        return replace(self.judgments, grades=np.where(change, self.likeliest, self.judgments.grades))


def suspects(judgments: Judgments, log: ClickLog, how: How = "sequential", *, seed: int = 0) -> Suspects:
    """Find judgments that contradict the clicks of a log, joined by query and document ids.

    `independent` uses each document alone; `sequential` also its neighbours in the order shown; `full` all documents
    of its query. Of several judges the field learns the majority.
    """
    if how not in get_args(How):
        raise UnknownNameError("way to find suspects", how, get_args(How))
    scale = judgments.scale
    names = judgments.item_names()
    pairs = log.find_pairs([query for query, _ in names], [document for _, document in names])
    if len(scale) < 2 or (pairs >= 0).sum() == 0:
        what = "all grades are equal" if len(scale) < 2 else "the log shows none of the judged documents"
        raise DataError(f"{what}, so that clicks cannot be compared with grades.", where=judgments.source)
    field, items = _field(judgments, log, pairs, how)
    labels = np.searchsorted(scale, consensus(judgments, "majority").labels[items])
    chances = np.full((judgments.n_items, len(scale)), np.nan)
    chances[items] = _cross_fitted(field, labels, len(scale), seed, where=judgments.source)
    with np.errstate(divide="ignore"):
        logs = np.log(chances)
    rows = judgments.items
    best = np.nanargmax(np.where(np.isnan(chances), -1.0, chances), axis=1)[rows]
    code = np.searchsorted(scale, judgments.grades)
    return Suspects(
        judgments, how,
        score=logs[rows, best] - logs[rows, code],
        likeliest=np.where(np.isnan(chances[rows, 0]), np.nan, scale[best]),
        probability=chances[rows, best],
        given=chances[rows, code],
    )  # fmt: skip


def judgments_of(data: Table, *, judge: str = "labels") -> Judgments:
    """Labels of a dataset as the judgments of one judge."""
    if data.labels is None:
        raise DataError("the data has no labels.", where=data.source)
    data = data.grouped()
    queries = [data.query_name(q) for q in data.query_index.tolist()]
    documents = [data.document_name(row) for row in range(data.n_documents)]
    assert data.labels is not None
    return Judgments.from_rows(queries, documents, [judge] * len(documents), data.labels, source=data.source)


def _cross_fitted(field: Field, labels: Ints, n_labels: int, seed: int, *, where: str | None) -> Array:
    """P(label) of each document, by fields fitted to other queries."""
    n_queries = len(field.offsets) - 1
    if n_queries < FOLDS:
        raise DataError(
            f"{n_queries} judged queries are in the log; at least {FOLDS} are needed to learn from the others.",
            where=where,
        )
    fold = random_numbers(seed).permutation(n_queries) % FOLDS
    chances = np.empty((len(labels), n_labels))
    for k in range(FOLDS):
        train, rows = field.select(np.flatnonzero(fold != k))
        test, held_out = field.select(np.flatnonzero(fold == k))
        fitted = fit(train, labels[rows], n_labels=n_labels, penalty=PENALTY)
        chances[held_out] = fitted.marginals(test, labels[held_out])
    return chances


def _field(judgments: Judgments, log: ClickLog, pairs: Ints, how: How) -> tuple[Field, Ints]:
    """Field of the judged documents that the log shows, by query and mean rank; and their items."""
    values, rank = _features(log)
    query = np.repeat(np.arange(len(judgments.query_ids)), np.diff(judgments.offsets))
    items = np.flatnonzero(pairs >= 0)
    items = items[np.lexsort((rank[pairs[items]], query[items]))]
    _, sizes = np.unique(query[items], return_counts=True)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    features = values[pairs[items]]
    spread = features.std(axis=0)
    features = np.column_stack(
        [(features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.ones(len(items))]
    )
    ends, of_query = _edges(sizes, how)
    edge_offsets = np.concatenate(([0], np.cumsum(np.bincount(of_query, minlength=len(sizes))))).astype(np.int64)
    odds = _odds(log, pairs[items], offsets, ends, of_query)
    return Field(features, offsets, ends, np.column_stack([odds, np.ones(len(odds))]), edge_offsets), items


def _edges(sizes: Ints, how: How) -> tuple[Ints, Ints]:
    """Edges within queries, and the query of each."""
    parts = []
    for n in sizes.tolist():
        if how == "full":
            parts.append(np.column_stack(np.triu_indices(n, 1)))
        else:
            n_edges = n - 1 if how == "sequential" else 0
            parts.append(np.column_stack([np.arange(n_edges), np.arange(1, n_edges + 1)]))
    return np.concatenate(parts).astype(np.int64), np.repeat(np.arange(len(sizes)), [len(part) for part in parts])


def _features(log: ClickLog) -> tuple[Array, Array]:
    """Click features of each pair, and its mean rank."""  # (U, F), (U,)
    ranks, (_, last, times) = log.ranks(), down_to_last_click(log)
    shown_at = np.bincount(ranks, times)
    expected = (np.bincount(ranks, times * log.clicks) / np.maximum(shown_at, 1.0))[ranks]
    shown, clicked, hoped, ended, depth = (
        np.bincount(log.pairs, times * values, minlength=log.n_pairs)
        for values in (np.ones(len(ranks)), log.clicks, expected, last, ranks)
    )
    fitted = DBN().fit(log)
    alpha, sigma = fitted.params["attractiveness"], fitted.params["satisfaction"]
    rank = depth / np.maximum(shown, 1.0)
    a = _SMOOTHING
    columns = [
        np.log((clicked + a) / (shown - clicked + a)),
        np.log((clicked + a) / (hoped + a)),
        _logit(alpha),
        _logit(sigma),
        (ended + a) / (clicked + 2 * a),
        np.log1p(shown),
        np.log1p(rank),
    ]
    return np.column_stack(columns), rank


def _logit(p: Array) -> Array:
    return np.asarray(np.log(p) - np.log1p(-p))  # the prior keeps it from 0 and 1


def _odds(log: ClickLog, pairs: Ints, offsets: Ints, ends: Ints, of_query: Ints) -> Array:
    """log (n_ij + a)/(n_ji + a) of each edge, n_ij the pages on which i was clicked below j, but j was not."""
    local, width = np.full(log.n_pairs, -1, np.int64), np.diff(offsets)
    local[pairs] = np.arange(len(pairs)) - np.repeat(offsets[:-1], width)
    field_query = np.full(log.n_queries, -1, np.int64)
    field_query[log.pair_query[pairs[offsets[:-1]]]] = np.arange(len(width))
    starts = np.concatenate(([0], np.cumsum(width**2)))
    wins = np.zeros(int(starts[-1]))
    _click_above(
        log.pairs, log.clicks, log.offsets, log.page_query, log.page_counts, local, field_query, width, starts, wins
    )
    first, second = ends.T
    n_first = wins[starts[of_query] + first * width[of_query] + second]
    n_second = wins[starts[of_query] + second * width[of_query] + first]
    return np.asarray(np.log((n_first + _SMOOTHING) / (n_second + _SMOOTHING)))


@compiled
def _click_above(
    pairs: Int32s, clicks: Bytes, offsets: Ints, page_query: Int32s, counts: Array, local: Ints, field_query: Ints,
    width: Ints, starts: Ints, wins: Array,
) -> None:  # fmt: skip
    for page in range(len(page_query)):
        q = field_query[page_query[page]]
        if q < 0:
            continue
        for r in range(offsets[page], offsets[page + 1]):
            i = local[pairs[r]]
            if clicks[r] == 0 or i < 0:
                continue
            for above in range(offsets[page], r):
                j = local[pairs[above]]
                if clicks[above] == 0 and j >= 0:
                    wins[starts[q] + i * width[q] + j] += counts[page]
