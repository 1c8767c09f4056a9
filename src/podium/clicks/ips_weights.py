"""Inverse propensity weights (IPS): document weights from clicks, corrected for position bias and trust bias.

    >>> from podium.clicks.propensity_file import Propensities
    >>> from podium.clicks.log.click_log import ClickLog
    >>> from podium.data.dataset import Dataset
    >>> data = Dataset.from_arrays([[1.0], [2.0]], qid=["q", "q"], document_ids=["a", "b"])
    >>> log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["a", "b"], [2])])
    >>> weights(log, Propensities.of_theta([1.0, 0.5], how="given"), data).data.document_weights.tolist()
    [0.5, 1.0]

The weight of a document is its clicks over its exposure: Σ (c − β_k) / Σ α_k over its impressions, of the
`Propensities`; without trust bias, its clicks over the sum of θ_k. The mean of this is its relevance, whatever the
ranks at which it was shown and the number of its impressions (Joachims, Swaminathan & Schnabel, WSDM 2017; one exposure
for all ranks of a document, Oosterhuis & de Rijke, SIGIR 2020; with trust bias, Vardasbi, Oosterhuis & de Rijke, CIKM
2020).

If the log has the probability p of each impression, an impression counts 1/p in both sums: rare placements of a
document then count as much as frequent ones.

Weighted clicks of low ranks are rare and large, so that they are noisy. With `by="offsets"` clicks stay as they are,
and the logarithm of a document's exposure is added to its score while learning: a loss that takes e^s for relevance
(`Loss.offsets_are_exact`) then fits the expected number of clicks. A document with little exposure weighs little, and
one that was never shown nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from podium.base.arrays import AnyArray, Array, Ints
from podium.base.errors import DataError, ParameterError, PodiumWarning
from podium.clicks.log.click_log import ClickLog, check_log
from podium.clicks.log.queries_by_text import BY_TEXT
from podium.clicks.propensity_file import Propensities, check_propensities
from podium.data.table import Table

Per = Literal["pages", "total"]
By = Literal["weights", "offsets"]


@dataclass(frozen=True, eq=False)
class Weighted:
    """Dataset with document weights, and diagnostics of them."""

    data: Table  # without labels
    clipped: float  # the share of the weight of clicks with a propensity below `clip`
    never_shown: float  # the share of the documents of logged queries that no page shows; their relevance is unknown
    outside: float  # the share of the clicks on documents that the data does not have
    below: float  # the share of the clicks at ranks without propensity, which do not count
    queries: int  # number of queries of the data that were logged


def weights(
    log: ClickLog,
    propensities: Propensities | None,
    data: Table,
    *,
    clip: float = 0.01,
    per: Per = "pages",
    by: By = "weights",
) -> Weighted:
    """Set inverse propensity weights of clicks as document weights, joined by ids; None weights every rank alike.

    Propensities below `clip` are taken as `clip`, which bounds weights by 1/clip at the cost of some bias. A weight is
    the clicks per page on which the document is examined, so that queries count alike; `per="total"` multiplies it by
    the pages of its query.

    By weights, clicks are divided by propensities. By offsets, the logarithms of propensities are added to the scores
    while learning, which has less variance, clips nothing, and is for losses that take e^s for relevance.

    `log`: the clicks.
    `data`: the dataset, whose ids are those of the log.
    `propensities`: those of ranks, from an estimator or a file; None counts clicks as they are.
    `per`: `pages` or `total`, see above.
    `by`: `weights` or `offsets`, see above.
    """
    _check(log, propensities, data, clip=clip, per=per, by=by)
    assert data.query_ids is not None, "checked before"
    assert data.document_ids is not None, "checked before"
    pairs = log.find_pairs(data.query_ids[data.query_index], data.document_ids)
    _check_joined(log, data, pairs)
    cells, pages, clipped = _count(log, propensities), _query_pages(log)[log.pair_query], 0.0
    if by == "weights":
        values, clipped = _relevance(cells, clip=clip)
        offsets = None
    else:
        values, looked = _clicks_and_looks(cells, pages)
        offsets = np.log(looked, out=np.full(len(looked), _NEVER), where=looked > 0.0)
    if per == "total":
        values = values * pages
    with_weights = replace(
        data,
        labels=None,
        preferences=None,
        document_weights=np.append(values, 0.0)[pairs],
        score_offsets=None if offsets is None else np.append(offsets, _NEVER)[pairs],
    )
    weighted = _described(with_weights, log, cells, pairs, clipped=clipped)
    _warn(weighted, clip=clip)
    return weighted


@dataclass(frozen=True)
class Weighing:
    """Click log to learn from, with the parameters of its weights; see `weights`."""

    log: ClickLog  # pages with clicks
    propensities: Propensities | None = None  # None: clicks as they are
    clip: float = 0.01  # smallest propensity that is divided by
    by: By = "weights"  # offsets: log propensities added to scores while learning, instead of weights

    @property
    def record(self) -> dict[str, Any]:
        """Provenance that a model stores of the clicks that it learned from."""
        how = "none" if self.propensities is None else self.propensities.how
        return {"log": self.log.source, "propensities": how, "clip": self.clip, "by": self.by}

    def training(self, data: Table) -> Weighted:
        """Training data with document weights in place of grades.

        `data`: training documents with query and document ids, those of the log.
        """
        return weights(self.log, self.propensities, data, clip=self.clip, by=self.by)

    def validation(self, data: Table) -> Weighted:
        """Validation data with document weights in place of grades, never with score offsets.

        `data`: validation documents with query and document ids, those of the log.
        """
        return replace(self, by="weights").training(data)


@dataclass(frozen=True)
class _Cells:
    """Impressions and clicks of each pair at each rank, weighted by the propensities of the log if it has them."""

    pair: Ints  # (M,)
    shown: Array  # (M,)
    clicked: Array  # (M,)
    alpha: Array  # (M,) NaN if the rank has no propensity
    beta: Array  # (M,)
    n_pairs: int

    def sums(self, values: Array) -> Array:
        """Sum over the ranks of each pair that have a propensity."""  # (U,)
        return _sums(self.pair, np.where(np.isnan(self.alpha), 0.0, values), self.n_pairs)


def _count(log: ClickLog, propensities: Propensities | None) -> _Cells:
    rank, times = log.ranks().astype(np.int64), np.repeat(log.page_counts, log.sizes)
    n_ranks = int(rank.max(initial=0)) + 1
    code, which = np.unique(log.pairs * np.int64(n_ranks) + rank, return_inverse=True)
    if log.propensities is not None:  # 1/p of each impression, scaled to the same total per pair
        least = np.ones(log.n_pairs)
        np.minimum.at(least, log.pairs, log.propensities)
        shares = times * (least[log.pairs] / log.propensities)
        times = shares * (_sums(log.pairs, times, log.n_pairs) / _sums(log.pairs, shares, log.n_pairs))[log.pairs]
    shown, clicked = _sums(which, times, len(code)), _sums(which, times * log.clicks, len(code))
    pair, at = np.divmod(code, n_ranks)
    alpha, beta = (np.ones(len(code)), np.zeros(len(code))) if propensities is None else propensities.at(at)
    return _Cells(pair, shown, clicked, alpha, beta, log.n_pairs)


def _relevance(cells: _Cells, *, clip: float) -> tuple[Array, float]:
    """Σ (c − β)/Σ max(α, clip) of each pair, and the share of the weight of clicks with a propensity below `clip`."""
    exposure = cells.sums(cells.shown * np.maximum(cells.alpha, clip))
    per_click = np.divide(1.0, exposure, out=np.zeros(cells.n_pairs), where=exposure > 0.0)
    whole = float((per_click * cells.sums(cells.clicked)).sum())
    low = float((per_click * cells.sums(np.where(cells.alpha < clip, cells.clicked, 0.0))).sum())
    return per_click * cells.sums(cells.clicked - cells.beta * cells.shown), low / whole if whole > 0.0 else 0.0


def _clicks_and_looks(cells: _Cells, pages: Array) -> tuple[Array, Array]:
    """Clicks and exposure of each pair, per page of its query."""
    if (cells.beta != 0.0).any():
        raise ParameterError('by="offsets" knows no trust bias (beta): use by="weights", or propensities without it.')
    looked = cells.sums(cells.shown * cells.alpha)
    clicked = np.where(looked > 0.0, cells.sums(cells.clicked), 0.0)
    return clicked / np.maximum(pages, 1.0), looked / np.maximum(pages, 1.0)


def _sums(index: AnyArray, values: AnyArray, n: int) -> Array:
    return np.bincount(index, values, minlength=n).astype(np.float64)


def _query_pages(log: ClickLog) -> Array:
    """Page views of each query; in a log of single impressions, those of its most frequent rank."""  # (Q,)
    if (log.sizes <= 1).all() and log.positions is not None and log.n_impressions:
        ranks = log.ranks().astype(np.int64)
        n = int(ranks.max()) + 1
        by_rank = _sums(log.page_query * n + ranks, log.page_counts, log.n_queries * n)
        return np.asarray(by_rank.reshape(log.n_queries, n).max(axis=1))
    return _sums(log.page_query, log.page_counts, log.n_queries)


def _described(data: Table, log: ClickLog, cells: _Cells, pairs: Ints, *, clipped: float) -> Weighted:
    """Weighted data with its diagnostics; `pairs` are those of its rows."""
    logged = np.isin(data.query_ids.astype(str), log.query_ids[np.unique(log.page_query)].astype(str))  # type: ignore[union-attr]
    of_logged = logged[data.query_index]
    shown = np.append(cells.sums(cells.shown) > 0.0, False)[pairs]
    clicks = _sums(cells.pair, cells.clicked, log.n_pairs)
    inside = np.isin(np.arange(log.n_pairs), pairs)
    total = max(float(clicks.sum()), 1.0)
    return Weighted(
        data,
        clipped=clipped,
        never_shown=float(1.0 - shown[of_logged].mean()) if of_logged.any() else 1.0,
        outside=float(clicks[~inside].sum()) / total,
        below=float(cells.clicked[np.isnan(cells.alpha)].sum()) / total,
        queries=int(logged.sum()),
    )


def _check(log: ClickLog, propensities: Propensities | None, data: Table, *, clip: float, per: Per, by: By) -> None:
    check_log(log)
    if propensities is not None:
        check_propensities(propensities)
    if not 0.0 < clip <= 1.0:
        raise ParameterError(f"clip must be above 0 and at most 1; got {clip!r}.")
    if per not in get_args(Per):
        raise ParameterError(f"per must be one of {', '.join(get_args(Per))}; got {per!r}.")
    if by not in get_args(By):
        raise ParameterError(f"by must be one of {', '.join(get_args(By))}; got {by!r}.")
    if data.query_ids is None or data.document_ids is None:
        raise DataError("clicks are joined by ids; this data lacks query or document ids.", where=data.source)


def _check_joined(log: ClickLog, data: Table, pairs: Ints) -> None:
    if (pairs >= 0).any():
        return
    ours, theirs = (
        f"query {query!s} with document {document!s}"
        for query, document in (
            (data.query_ids[0], data.document_ids[0]) if data.n_documents else ("–", "–"),  # type: ignore[index]
            (log.query_ids[log.pair_query[0]], log.document_ids[0]) if log.n_pairs else ("–", "–"),
        )
    )
    raise DataError(
        f"no query and document of the data is in the log, so there is nothing to join: the data has {ours}, the log "
        f"{theirs}. Are the ids of the same kind? {BY_TEXT}",
        where=data.source,
    )


def _warn(weighted: Weighted, *, clip: float) -> None:
    notes = []
    if weighted.never_shown > 0:
        where = " at a rank with a propensity" if weighted.below > 0 else ""
        count = "count as if it were 0 (selection bias)" if weighted.data.score_offsets is None else "are left out"
        notes.append(
            f"{100 * weighted.never_shown:.1f} % of the documents were never shown{where}: their relevance is not "
            f"known, and they {count}. Show them now and then, or leave them out of the data."
        )
    if weighted.clipped > _MUCH:
        notes.append(
            f"{100 * weighted.clipped:.1f} % of the weight is of clicks whose propensity was below {clip:g} and was "
            "clipped, which favours documents at the top. Lower clip if the log is long."
        )
    if weighted.outside > _MUCH:
        notes.append(f"{100 * weighted.outside:.1f} % of the clicks are on documents that the data does not have.")
    if weighted.below > 0:
        notes.append(f"{100 * weighted.below:.1f} % of the clicks are at ranks without a propensity and do not count.")
    for note in notes:
        warnings.warn(note, PodiumWarning, stacklevel=3)


_MUCH = 0.05
_NEVER = -30.0  # the offset of a document that was never shown: e^s·e^−30 is negligible
