"""Click simulation: synthetic click logs of judged data, with clicks drawn from a click model.

    >>> from podium.data.synthetic import make_letor_like
    >>> data, _ = make_letor_like(20, seed=1)
    >>> simulate(data, model="dbn", pages=1000, depth=10, seed=0)
    ClickLog(1000 pages of 20 queries, ...

An examined document is clicked with probability noise + (1 − noise) · grade/largest grade. Examination by rank is a
curve, by default θ_k = k^−eta; each model's `planted` documents its use of the curve.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arguments import random_numbers
from podium.base.arrays import AnyArray, Array, Ints
from podium.base.columns import float_numbers
from podium.base.errors import DataError, ParameterError
from podium.clicks.log.click_log import LONGEST, ClickLog, rows_of
from podium.clicks.models.base import ClickModel
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.jit import sorting as ranking


def simulate(
    data: Table,
    rankers: Sequence[ArrayLike] = (),
    *,
    pages: int,
    model: ClickModel | str = "pbm",
    eta: float = 1.0,
    curve: ArrayLike | None = None,
    noise: float = 0.1,
    depth: int | None = None,
    seed: int = 0,
) -> ClickLog:
    """Simulate a click log: pages of random queries, each by a random one of `rankers` (scores of all documents).

    Without rankers every page is shuffled. `curve` replaces k^−eta; `depth` cuts the pages.

    `data`: queries and documents with grades, from which users' clicks follow.
    `pages`: the number of pages.
    `model`: the click model of the users.
    `eta`: power of the examination probability k^−eta of rank k.
    `noise`: click probability of an examined document without relevance.
    `seed`: seed of what is drawn.
    """
    rng = random_numbers(seed)
    log = show(data, rankers, pages=pages, depth=depth, rng=rng)
    data = data.grouped()
    pairs = log.find_pairs(*_names(data))
    chance = np.full(log.n_pairs, 0.5)
    chance[pairs[pairs >= 0]] = click_chance(data, noise=noise)[pairs >= 0]
    click_model = ClickModel.parse(model) if isinstance(model, str) else model
    params = click_model.planted(chance, examination_curve(int(log.sizes.max(initial=1)), eta=eta, curve=curve))
    return log.with_clicks(click_model.draw(params, log.pairs, log, rng.random(log.n_impressions)))


def simulate_counts(
    data: Table,
    rankers: Sequence[ArrayLike],
    *,
    pages: int,
    eta: float = 1.0,
    curve: ArrayLike | None = None,
    noise: float = 0.1,
    depth: int | None = None,
    seed: int = 0,
) -> ClickLog:
    """Simulate counts of the position-based model, at a cost that does not depend on the number of pages.

    Clicks at different ranks are independent there, and a ranker always shows a query in the same order, so the clicks
    on a document at its rank are binomial. The log has one document per page, with its position and a count.

    `data`: queries and documents with grades.
    `rankers`: scores of all documents, one array for each ranker.
    `eta`: power of the examination probability k^−eta of rank k; `curve` gives probabilities instead.
    `noise`: click probability of an examined document without relevance.
    `depth`: the most documents of a page.
    `seed`: seed of what is drawn.
    `pages`: the number of pages over all queries and rankers, at random.
    """
    rng, orders, data = random_numbers(seed), _orders(data, rankers), data.grouped()
    sizes = _sizes(data, depth)
    n_lists = len(orders) * data.n_queries
    shown = rng.multinomial(pages, np.full(n_lists, 1.0 / n_lists)).reshape(len(orders), data.n_queries)
    theta = examination_curve(int(sizes.max()), eta=eta, curve=curve)
    chance = click_chance(data, noise=noise)
    tops = rows_of(data.offsets, np.arange(data.n_queries))  # all rows; cut below
    rank = tops - data.offsets[data.query_index]
    kept = rank < sizes[data.query_index]
    parts: list[list[AnyArray]] = []
    for k, order in enumerate(orders):
        rows, position = order[kept], rank[kept]
        n = shown[k][data.query_index[rows]]
        clicked = rng.binomial(n, theta[position] * chance[rows])
        for click, count in ((1, clicked), (0, n - clicked)):
            there = count > 0
            filled = [np.full(int(there.sum()), value) for value in (click, k)]
            parts.append([rows[there], position[there] + 1, count[there], *filled])
    rows, position, count, clicks, ranker = (np.concatenate(column) for column in zip(*parts, strict=True))
    return ClickLog.from_codes(
        (data.query_index[rows], _query_names(data)),
        (rows, _names(data)[1]),
        offsets=np.arange(len(rows) + 1),
        clicks=clicks.astype(np.uint8),
        more={
            "positions": position.astype(np.int32), "counts": count.astype(np.float64),
            "rankers": ranker.astype(np.int16), "ranker_names": _ranker_names(len(orders)),
        },
    )  # fmt: skip


def show(
    data: Table,
    rankers: Sequence[ArrayLike] = (),
    *,
    pages: int,
    depth: int | None = None,
    rng: np.random.Generator,
) -> ClickLog:
    """Pages of random queries without clicks, each ranked by a random ranker; without rankers, shuffled.

    `data`: queries and documents.
    `rankers`: scores of all documents, one array for each ranker.
    `pages`: the number of pages.
    `depth`: the most documents of a page.
    `rng`: the source of chance.
    """
    orders, data = _orders(data, rankers), data.grouped()
    sizes = _sizes(data, depth)
    query = rng.integers(0, data.n_queries, pages)
    ranker = rng.integers(0, max(len(rankers), 1), pages)
    n = sizes[query]
    offsets = np.concatenate(([0], np.cumsum(n)))
    if len(rankers):
        starts = ranker * data.n_documents + data.offsets[query]
        rows = np.concatenate(orders)[np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], n)]
    else:
        rows = _shuffled(data, query, n, rng)
    more: dict[str, Any] = {}
    if len(rankers):
        more = {"rankers": ranker.astype(np.int16), "ranker_names": _ranker_names(len(rankers))}
    return ClickLog.from_codes(
        (query, _query_names(data)), (rows, _names(data)[1]), offsets=offsets,
        clicks=np.zeros(len(rows), np.uint8), more=more,
    )  # fmt: skip


def click_chance(data: Table, *, noise: float = 0.1) -> Array:
    """P(click | examined) of each document: noise + (1 − noise) · grade/largest grade."""
    if not 0.0 <= noise <= 1.0:
        raise ParameterError(f"noise must be from 0 to 1; got {noise!r}.")
    if data.labels is None or data.labels.max(initial=0.0) <= 0 or data.labels.min(initial=0.0) < 0:
        raise DataError("simulated clicks need grades of at least 0, some above 0.", where=data.source)
    chance: Array = noise + (1.0 - noise) * np.asarray(data.labels, np.float64) / float(data.labels.max())
    return chance


def examination_curve(n_ranks: int, *, eta: float = 1.0, curve: ArrayLike | None = None) -> Array:
    """Examination probabilities of the first ranks: the curve, its last number repeated, or k^−eta."""
    if curve is None:
        return np.asarray(np.arange(1, n_ranks + 1) ** -float(eta), np.float64)
    theta = np.asarray(curve, np.float64)
    if theta.ndim != 1 or len(theta) == 0 or not ((theta > 0) & (theta <= 1)).all():
        raise ParameterError("a curve is a list of probabilities above 0 and at most 1, one for each rank.")
    return theta[np.minimum(np.arange(n_ranks), len(theta) - 1)]


def _sizes(data: Dataset, depth: int | None) -> Ints:
    if data.n_queries == 0:
        raise DataError("the data has no queries; there is nothing to show.", where=data.source)
    if depth is not None and depth < 1:
        raise ParameterError(f"depth must be at least 1; got {depth}.")
    return np.minimum(data.sizes, LONGEST if depth is None else depth)


def _orders(data: Table, rankers: Sequence[ArrayLike]) -> list[Ints]:
    """Rows of the grouped data in the order of each ranker, query after query; scores are in the data's order."""
    orders, offsets = [], data.grouped_offsets
    for scores in rankers:
        values = float_numbers(scores, "score", where=data.source)
        if len(values) != data.n_documents:
            raise DataError(f"a ranker gives {data.n_documents} scores, one for each document; got {len(values)}.")
        ranking.check_scores(values)
        values = data.to_grouped(values)
        parts = [a + ranking.order(values[a:b]) for a, b in itertools.pairwise(offsets)]
        orders.append(np.concatenate(parts))
    return orders


def _shuffled(data: Dataset, query: Ints, n: Ints, rng: np.random.Generator) -> Ints:
    """Rows of each page: the first n of its query's documents in a random order."""
    whole = rows_of(data.offsets, query)
    page = np.repeat(np.arange(len(query)), data.sizes[query])
    order = np.lexsort((rng.random(len(whole)), page))
    starts = np.cumsum(data.sizes[query]) - data.sizes[query]
    rows: Ints = whole[order[np.arange(n.sum()) + np.repeat(starts - (np.cumsum(n) - n), n)]]
    return rows


def _query_names(data: Dataset) -> list[str]:
    return [data.query_name(q) for q in range(data.n_queries)]


def _names(data: Dataset) -> tuple[list[str], list[str]]:
    """Query and document of each row."""
    queries = np.array(_query_names(data), object)[data.query_index].tolist()
    return queries, [data.document_name(row) for row in range(data.n_documents)]


def _ranker_names(n: int) -> tuple[str, ...]:
    return tuple(str(k + 1) for k in range(n))
