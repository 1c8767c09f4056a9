"""Document weights from clicks: how much counts that a document is relevant, without the bias of its ranks.

    >>> from podium.clicks.propensity import Propensities
    >>> from podium.data.click_log import ClickLog
    >>> from podium.data.dataset import Dataset
    >>> data = Dataset.from_arrays([[1.0], [2.0]], qid=["q", "q"], document_ids=["a", "b"])
    >>> log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["a", "b"], [2])])
    >>> weights(log, Propensities.of_theta([1.0, 0.5], how="given"), data).data.document_weights.tolist()
    [0.5, 1.0]

A click at rank k counts (c − β_k)/α_k, with the propensities of `podium.clicks.propensity`; without trust bias a click
counts 1/θ_k, and its absence nothing. The mean over pages is then the relevance of the document, whatever its rank
(Joachims, Swaminathan & Schnabel, WSDM 2017; with trust bias, Vardasbi, Oosterhuis & de Rijke, CIKM 2020).

Where a document is shown at several ranks by chance, as with two rankers, or with a ranker that draws its lists, it
counts Σ (c − β_k)/ρ with ρ = Σ_k π(k) α_k, π(k) being the probability that it is at rank k (Oosterhuis & de Rijke,
SIGIR 2020). This has less variance, and is right for documents that are only sometimes shown. π is the share of pages,
or comes from the log's own propensities.

Divided clicks of low ranks are rare and large, so that they are noisy. With `by="offsets"` clicks stay as they are, and
log ρ is added to the scores while learning: a loss that takes e^s for relevance, such as softmax, RankNet and
LambdaRank, then sees how many clicks it should expect where each document was shown. A document that was hardly looked
at weighs little, and one that was never shown nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from podium.clicks.propensity import Propensities, check_propensities
from podium.data.click_log import ClickLog, check_log
from podium.data.dataset import Dataset
from podium.errors import DataError, ParameterError, PodiumWarning

Array = NDArray[np.float64]
Per = Literal["pages", "impressions", "total"]
By = Literal["weights", "offsets"]


@dataclass(frozen=True, eq=False)
class Weighted:
    """A dataset with document weights, and what is to be known of them."""

    data: Dataset  # without labels
    clipped: float  # the share of the weight that comes from clicks whose propensity was below `clip`
    never_shown: float  # the share of the documents of logged queries that no page shows; their relevance is unknown
    outside: float  # the share of the clicks on documents that the data does not have
    below: float  # the share of the clicks at ranks without propensity, which do not count
    queries: int  # how many queries of the data were logged


def weights(
    log: ClickLog,
    propensities: Propensities | None,
    data: Dataset,
    *,
    clip: float = 0.01,
    per: Per = "pages",
    by: By = "weights",
) -> Weighted:
    """The data with document weights made of clicks, joined by ids. Without propensities, a click counts 1 at any rank.

    Propensities below `clip` are taken as `clip`, which bounds the variance at the price of some bias. Weights are
    divided by the pages of their query, so that queries count alike, by the impressions of the document, or by nothing.

    By weights, clicks are divided by propensities. By offsets, the logarithms of propensities are added to the scores
    while learning, which has less variance, clips nothing, and is for losses that take e^s for relevance.
    """
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
    found = log.find_pairs(data.query_ids[data.query_index], data.document_ids)
    _check_joined(log, data, found)
    cells = _count(log, propensities)
    mixed = propensities is not None and (log.propensities is not None or len(log.ranker_names) > 1)
    pages, offsets = _query_pages(log), None
    if by == "offsets":
        offsets = np.append(_offsets(log, cells, pages), _NEVER)[found]
        cells = replace(cells, alpha=np.where(np.isnan(cells.alpha), np.nan, 1.0))
    values, clipped = _values(log, cells, pages, clip=clip, per=per, mixed=mixed and by == "weights")
    logged = np.isin(data.query_ids.astype(str), log.query_ids[np.unique(log.page_query)].astype(str))
    shown = np.append(np.isin(np.arange(log.n_pairs), cells.pair[~np.isnan(cells.alpha)]), False)[found]
    clicks = _sums(cells.pair, cells.clicked, log.n_pairs)
    inside = np.isin(np.arange(log.n_pairs), found)
    total = max(float(clicks.sum()), 1.0)
    of_logged = logged[data.query_index]
    made = Weighted(
        replace(
            data,
            labels=None,
            preferences=None,
            document_weights=np.append(values, 0.0)[found],
            score_offsets=offsets,
        ),
        clipped=clipped,
        never_shown=float(1.0 - shown[of_logged].mean()) if of_logged.any() else 1.0,
        outside=float(clicks[~inside].sum()) / total,
        below=float(cells.clicked[np.isnan(cells.alpha)].sum()) / total,
        queries=int(logged.sum()),
    )
    _warn(made, clip=clip)
    return made


@dataclass(frozen=True)
class _Cells:
    """Impressions and clicks of each pair at each rank."""

    pair: NDArray[np.int64]  # (M,)
    shown: Array  # (M,)
    clicked: Array  # (M,)
    alpha: Array  # (M,) NaN where the rank has no propensity
    beta: Array  # (M,)
    placed: Array | None  # (M,) the probability, by the log's own propensities, that the pair is at this rank


def _count(log: ClickLog, propensities: Propensities | None) -> _Cells:
    rank, times = log.ranks().astype(np.int64), np.repeat(log.page_counts, log.sizes)
    n_ranks = int(rank.max(initial=0)) + 1
    code, which = np.unique(log.pairs * np.int64(n_ranks) + rank, return_inverse=True)
    shown, clicked = _sums(which, times, len(code)), _sums(which, times * log.clicks, len(code))
    placed = None if log.propensities is None else _sums(which, times * log.propensities, len(code)) / shown
    pair, at = np.divmod(code, n_ranks)
    alpha, beta = (np.ones(len(code)), np.zeros(len(code))) if propensities is None else propensities.at(at)
    return _Cells(pair, shown, clicked, alpha, beta, placed)


def _values(log: ClickLog, cells: _Cells, pages: Array, *, clip: float, per: Per, mixed: bool) -> tuple[Array, float]:
    """The weight of each pair, and the share of click weight that was clipped. Mixed: divide by ρ, not by α_k."""
    known, n = ~np.isnan(cells.alpha), log.n_pairs
    pair, shown, clicked, alpha = (x[known] for x in (cells.pair, cells.shown, cells.clicked, cells.alpha))
    of_query, of_pair = pages[log.pair_query[pair]], _sums(pair, shown, n)[pair]
    if mixed:
        chance = shown / of_query if cells.placed is None else cells.placed[known]
        alpha = _sums(pair, chance * alpha, n)[pair]  # ρ
        if per == "impressions":  # given that the document is shown
            alpha = alpha / np.minimum(_sums(pair, chance, n)[pair], 1.0)
    over = {"pages": of_query, "impressions": of_pair, "total": np.ones(len(pair))}[per]
    factor = 1.0 / (over * np.maximum(alpha, clip))
    whole = float((factor * clicked).sum())
    clipped = float((factor * clicked)[alpha < clip].sum()) / whole if whole > 0 else 0.0
    return _sums(pair, factor * (clicked - cells.beta[known] * shown), n), clipped


def _offsets(log: ClickLog, cells: _Cells, pages: Array) -> Array:
    """log ρ of each pair: of the share of its query's pages on which it was looked at."""
    if (cells.beta != 0.0).any():
        raise ParameterError('by="offsets" knows no trust bias (beta): use by="weights", or propensities without it.')
    chance = cells.shown / pages[log.pair_query[cells.pair]] if cells.placed is None else cells.placed
    looked = _sums(cells.pair, chance * np.nan_to_num(cells.alpha), log.n_pairs)
    return np.asarray(np.log(looked, out=np.full(log.n_pairs, _NEVER), where=looked > 0.0))


def _sums(index: NDArray[Any], values: NDArray[Any], n: int) -> Array:
    return np.bincount(index, values, minlength=n).astype(np.float64)


def _query_pages(log: ClickLog) -> Array:
    """How often each query was shown; of a log of single impressions, by its most frequent rank."""  # (Q,)
    if (log.sizes <= 1).all() and log.positions is not None and log.n_impressions:
        ranks = log.ranks().astype(np.int64)
        n = int(ranks.max()) + 1
        by_rank = _sums(log.page_query * n + ranks, log.page_counts, log.n_queries * n)
        return np.asarray(by_rank.reshape(log.n_queries, n).max(axis=1))
    return _sums(log.page_query, log.page_counts, log.n_queries)


def _check_joined(log: ClickLog, data: Dataset, found: NDArray[np.int64]) -> None:
    if (found >= 0).any():
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
        f"{theirs}. Are the ids of the same kind?",
        where=data.source,
    )


def _warn(made: Weighted, *, clip: float) -> None:
    notes = []
    if made.never_shown > 0:
        where = " at a rank with a propensity" if made.below > 0 else ""
        notes.append(
            f"{100 * made.never_shown:.1f} % of the documents were never shown{where}: their relevance is not known, "
            "and they count as if it were 0 (selection bias). Show them now and then, or leave them out of the data."
        )
    if made.clipped > _MUCH:
        notes.append(
            f"{100 * made.clipped:.1f} % of the weight is of clicks whose propensity was below {clip:g} and was "
            "clipped, which favours documents at the top. Lower clip if the log is long."
        )
    if made.outside > _MUCH:
        notes.append(f"{100 * made.outside:.1f} % of the clicks are on documents that the data does not have.")
    if made.below > 0:
        notes.append(f"{100 * made.below:.1f} % of the clicks are at ranks without a propensity and do not count.")
    for note in notes:
        warnings.warn(note, PodiumWarning, stacklevel=3)


_MUCH = 0.05
_NEVER = -30.0  # the offset of a document that nobody can have looked at: e^s·e^−30 counts as nothing
