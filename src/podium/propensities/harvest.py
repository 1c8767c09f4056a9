"""Intervention harvesting: propensities from documents that several rankers showed at different ranks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import ConvergenceWarning, DataError, PodiumWarning
from podium.base.registry import param, register
from podium.base.threads import one_blas_thread
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.propensities.base import ByClicks, Estimator, check_connected, intervals

_UNLIKELY = 1e-3
"""Below this p-value, rankers are said to depend on the query."""
_MOST = 10.0
"""Examination relative to rank 1 above this is not credible."""


@register
class Harvest(Estimator):
    """Intervention harvesting: clicks on documents that one ranker showed at rank k and another at rank k′.

    Formula: S_kk′ are the pairs shown at k by one ranker and at k′ by another; ĉ_kk′ = Σ_{u∈S} clicks_uk/n_uk and
        m_kk′ = |S_kk′| − ĉ_kk′, n_uk the pages with u at k. `pivot`: θ_k = ĉ_k1/ĉ_1k. `chain`: θ_k is the product of
        ĉ_{j,j−1}/ĉ_{j−1,j} over j ≤ k. `all-pairs`: θ and r_kk′ = r_k′k with the largest
        Σ_{k≠k′} ĉ_kk′ log(θ_k r_kk′) + m_kk′ log(1 − θ_k r_kk′).
    Cost: O(pairs · rankers²), for each of `draws` resamplings of the queries, which the intervals come from.
    Use it for: logs of two or more rankers, each page given to one of them by chance, as in an A/B test. It warns if
        rankers depend on the query.
    Reference: Agarwal, Zaitsev, Wang, Li, Najork & Joachims, Estimating position bias without intrusive interventions,
        WSDM 2019.
    """

    by: Literal["all-pairs", "pivot", "chain"] = "all-pairs"
    """Pairs of ranks that are compared: all, each with rank 1 (`pivot`), or neighbours (`chain`)."""
    draws: int = param(default=100, least=0)
    """Resamplings of the queries, from which the intervals come."""

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        seen = _seen(log, self.name)
        _warn_if_assigned(log)
        clicked, size = seen.sums(np.ones(log.n_queries))
        check_connected(_parts(size), who=str(self), where=log.source)
        self._check_steps(size, log.source)
        theta = self._theta(clicked, size)
        bad = np.flatnonzero(~np.isfinite(theta))
        if len(bad):
            raise DataError(
                f"{self}: too few clicks to compare rank {bad[0] + 1} with rank 1. Use a longer log, or leave lower "
                f"ranks out (depth {bad[0]}).",
                where=log.source,
            )
        wild = np.flatnonzero(theta > _MOST)
        if len(wild):
            warnings.warn(
                f"{self}: θ of rank {wild[0] + 1} is {theta[wild[0]]:.3g}: its neighbours have too few clicks to "
                f"compare it by. Leave lower ranks out (depth {wild[0]}).",
                PodiumWarning,
                stacklevel=3,
            )

        def again(times: Array) -> Array:
            sums = seen.sums(times)
            return np.where(_parts(sums[1]) == 1, self._theta(*sums, start=theta), np.nan)

        low, high = intervals(theta, again, log=log, draws=self.draws, rng=rng)
        return Propensities.of_theta(theta, low=low, high=high, how=str(self))

    def by_clicks(self, log: ClickLog, data: Dataset | None, estimated: Propensities) -> ByClicks:
        seen = _seen(log, self.name)
        every = np.ones(log.n_queries)
        near = _near_all_pairs(*seen.sums(every), estimated.theta) if self.by == "all-pairs" else self._theta

        def alpha(clicks: Array) -> Array:
            return near(*seen.with_clicks(clicks).sums(every))

        return ByClicks(log.pairs.astype(np.int64) * int(log.ranks().max()) + log.ranks() - 1, alpha)

    def _check_steps(self, size: Array, where: str | None) -> None:
        """Raise a clear error if pivot or chain cannot compare a rank."""
        if self.by == "all-pairs":
            return
        other = np.zeros(len(size) - 1, np.int64) if self.by == "pivot" else np.arange(len(size) - 1)
        missing = np.flatnonzero(size[np.arange(1, len(size)), other] == 0)
        if len(missing):
            k = int(missing[0])
            raise DataError(
                f"{self}: no document was shown at rank {other[k] + 1} by one ranker and at rank {k + 2} by another. "
                "Use by=all-pairs, which goes by other ranks.",
                where=where,
            )

    def _theta(self, clicked: Array, size: Array, start: Array | None = None) -> Array:
        """θ relative to rank 1; resamplings start from the θ of the whole log."""
        k = np.arange(1, len(size))
        if self.by == "all-pairs":
            return _all_pairs(clicked, size, start)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.by == "pivot":
                return np.append(1.0, clicked[k, 0] / clicked[0, k])
            return np.append(1.0, np.cumprod(clicked[k, k - 1] / clicked[k - 1, k]))


@dataclass(frozen=True)
class _Seen:
    """Ranks at which each ranker showed each pair, sorted by pair."""

    starts: Ints  # (V+1,) of the pairs that were shown
    query: Ints  # (V,)
    rank: Ints  # (M,) from 0
    ranker: Ints  # (M,)
    place: Ints  # (M,) number of the pair at this rank
    rate: Array  # clicks per impression of each place, by all rankers
    n_ranks: int
    place_of: Ints  # (I,) the place of each impression; −1: of a page whose ranker is not known
    times: Array  # (I,)

    def sums(self, times: Array) -> tuple[Array, Array]:
        """ĉ and |S| (R, R), if each query counts `times` (Q,)."""
        clicked, size = np.zeros((2, self.n_ranks, self.n_ranks))
        _add_up(self.starts, times[self.query], self.rank, self.ranker, self.rate[self.place], clicked, size)
        return clicked, size

    def with_clicks(self, clicks: Array) -> _Seen:
        """The same impressions with other clicks (I,)."""
        there = self.place_of >= 0
        place, times = self.place_of[there], self.times[there]
        return replace(self, rate=np.bincount(place, times * clicks[there]) / np.bincount(place, times))


def _seen(log: ClickLog, who: str) -> _Seen:
    named = np.zeros(0, np.bool_) if log.rankers is None else log.rankers >= 0
    if log.rankers is None or len(np.unique(log.rankers[named])) < 2:
        raise DataError(
            f"{who} compares the ranks that two or more rankers gave a document; this log names fewer. Log the field "
            "ranker of each page, or use pbm, which needs only documents at changing ranks.",
            where=log.source,
        )
    there = named[log.page_of]
    pairs, rank = log.pairs[there].astype(np.int64), log.ranks()[there].astype(np.int64) - 1
    ranker, times = log.rankers[log.page_of[there]], np.repeat(log.page_counts, log.sizes)
    n_ranks, n_rankers = int(rank.max()) + 1, int(ranker.max()) + 1
    places, which = np.unique(pairs * n_ranks + rank, return_inverse=True)
    triple = np.unique(which * np.int64(n_rankers) + ranker)
    place = triple // n_rankers
    pair = places[place] // n_ranks
    first = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
    place_of = np.full(log.n_impressions, -1)
    place_of[there] = which
    return _Seen(
        np.append(first, len(pair)), log.pair_query[pair[first]].astype(np.int64), places[place] % n_ranks,
        triple % n_rankers, place, np.zeros(len(places)), n_ranks, place_of, times,
    ).with_clicks(log.clicks.astype(np.float64))  # fmt: skip


def _all_pairs(clicked: Array, size: Array, start: Array | None = None) -> Array:
    """θ of all-pairs, by L-BFGS on log θ."""
    from scipy.optimize import minimize

    x = np.zeros(len(size)) if start is None else np.log(np.maximum(start, 1e-12))
    limits: Any = {"ftol": 1e-14 if start is None else 1e-10, "gtol": 1e-9}
    limits |= {"maxiter": 2000, "maxfun": 5000, "maxcor": 30}
    cost = _cost(clicked, size, _telling(clicked, size))
    with one_blas_thread():  # vectors are short
        optimum = minimize(cost, x, jac=True, method="L-BFGS-B", bounds=[(-30, 30)] * len(x), options=limits)
    if np.abs(optimum.jac[np.abs(optimum.x) < 29]).max(initial=0.0) > 1e-5 and start is None:
        warnings.warn(
            f"harvest: θ is not at the top of its likelihood ({optimum.message}).", ConvergenceWarning, stacklevel=5
        )
    theta: Array = np.exp(optimum.x - optimum.x[0])
    return np.where(clicked.sum(axis=1) > 0, theta, 0.0) if clicked[0].sum() > 0 else np.full(len(size), np.nan)


def _near_all_pairs(clicked: Array, size: Array, theta: Array) -> Callable[[Array, Array], Array]:
    """θ of all-pairs for clicks near those that θ was estimated from, by one Newton step."""
    logs, telling = np.log(np.maximum(theta, 1e-12)), _telling(clicked, size)
    free = np.flatnonzero(theta[1:] > 0) + 1
    slope = _cost(clicked, size, telling)
    here = slope(logs)[1]
    steps = 1e-4 * np.eye(len(theta))[free]
    bend = np.array([(slope(logs + step)[1] - slope(logs - step)[1])[free] / 2e-4 for step in steps])

    def near(clicked: Array, size: Array) -> Array:
        moved = np.zeros(len(theta))
        moved[free] = np.linalg.lstsq(bend, here[free] - _cost(clicked, size, telling)(logs)[1][free])[0]
        return np.asarray(theta * np.exp(moved))

    return near


def _telling(clicked: Array, size: Array) -> Flags:
    """Pairs of ranks k < k′ with informative clicks (R, R).

    If every document was clicked at both ranks there is a kink at equal θ, and almost nothing to learn.
    """
    return np.triu((size > 0) & (clicked + clicked.T < 2 * size), 1)


def _cost(clicked: Array, size: Array, telling: Flags) -> Callable[[Array], tuple[float, Array]]:
    """−J and its derivative by log θ; for each θ the best r_kk′ is the root of a quadratic equation."""
    first, second = np.nonzero(telling)
    n, up, down = size[first, second], clicked[first, second], clicked[second, first]  # up is at the upper rank

    def cost(logs: Array) -> tuple[float, Array]:
        """As r is the best for θ, the gain of one rank by a larger θ is the loss of the other."""
        ratio = np.exp(logs[second] - logs[first])
        b = n * (1.0 + ratio) + down + ratio * up
        x = 2.0 * (up + down) / (b + np.sqrt(np.maximum(b * b - 8.0 * n * ratio * (up + down), 0.0)))
        value, slopes = 0.0, []
        for hits, chance in ((up, x), (down, ratio * x)):
            with np.errstate(divide="ignore", invalid="ignore"):  # without hits or misses there is nothing to add
                value += float(np.where(hits > 0, hits * np.log(chance), 0.0).sum())
                value += float(np.where(n > hits, (n - hits) * np.log1p(-np.minimum(chance, 1.0)), 0.0).sum())
                slopes.append(hits - (n - hits) * chance / (1.0 - chance))
        upper = (n > up) & ((n <= down) | (ratio > 1.0))  # a rank without misses may be at probability 1
        slope = np.where(upper, slopes[0], -slopes[1])
        total = np.bincount(first, slope, minlength=len(logs)) - np.bincount(second, slope, minlength=len(logs))
        return -value / n.sum(), -total / n.sum()

    return cost


def _parts(size: Array) -> Ints:
    """Smallest rank, from 1, that each rank is compared with, directly or by others."""
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(size > 0, directed=False)[1]
    return np.array([np.flatnonzero(labels == label)[0] + 1 for label in labels], np.int64)


def _warn_if_assigned(log: ClickLog) -> None:
    """Warn if the rankers' shares differ between queries, by a χ² test."""
    from scipy.stats import chi2

    assert log.rankers is not None
    named = log.rankers >= 0
    n_rankers = len(log.ranker_names) or int(log.rankers.max()) + 1
    code = log.page_query[named] * np.int64(n_rankers) + log.rankers[named]
    cells, which = np.unique(code, return_inverse=True)
    views = np.bincount(which, _views(log)[named])
    query, ranker = np.divmod(cells, n_rankers)
    by_query, by_ranker = np.bincount(query, views), np.bincount(ranker, views)
    expected = by_query[query] * by_ranker[ranker] / views.sum()
    # Σ (O − E)²/E = Σ O²/E − N, also over cells without a page
    statistic = float((views**2 / expected).sum() - views.sum())
    freedom = (int((by_query > 0).sum()) - 1) * (int((by_ranker > 0).sum()) - 1)
    if freedom > 0 and chi2.sf(statistic, freedom) < _UNLIKELY:
        warnings.warn(
            "harvest: which ranker made a page depends on the query, so the rankers' pages cannot be compared. Give "
            "each page to a ranker by a coin.",
            PodiumWarning,
            stacklevel=4,
        )


def _views(log: ClickLog) -> Array:
    """Views of each page; in a log of single impressions, as of counted clicks, only rank 1 counts."""
    if (log.sizes == 1).all():
        return np.where(log.ranks() == 1, log.page_counts, 0.0)
    return log.page_counts


@compiled
def _add_up(
    starts: Ints, times: Array, rank: Ints, ranker: Ints, rate: Array, clicked: Array, size: Array
) -> None:  # fmt: skip
    """Add the pairs to ĉ and |S|, each once for ranks k and k′ at which different rankers showed it."""
    last = np.full(size.shape, -1, np.int64)
    for u in range(len(starts) - 1):
        if times[u] == 0.0:
            continue
        for i in range(starts[u], starts[u + 1]):
            for j in range(starts[u], starts[u + 1]):
                k, other = rank[i], rank[j]
                if k != other and ranker[i] != ranker[j] and last[k, other] != u:
                    last[k, other] = u
                    clicked[k, other] += times[u] * rate[i]
                    size[k, other] += times[u]
