"""Contribution of each results page to a ranker's value: IPS, direct method, doubly robust.

The formulas are in `podium.counterfactual.off_policy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints
from podium.base.errors import DataError, ParameterError
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.counterfactual.discounts import Discount, Weighed
from podium.counterfactual.relevance import Guessed
from podium.counterfactual.shrinkage import is_shrinking, shrunk

How = Literal["ips", "snips", "dm", "dr", "sndr", "switch", "dros", "sub-gaussian", "rips", "sips"]
BY_RELEVANCE = ("dm", "dr", "sndr", "switch", "dros", "sub-gaussian")
"""Estimators that need estimated relevance."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Weights of a ranker's documents: of the pairs in the log, and of documents that are not in it."""

    omega: Array  # (U,)
    total: Array  # (Q,) Σω of all its documents
    ranked: Flags  # (Q,)
    unlogged: list[tuple[int, str, float]]  # (query, document, ω) of documents that the log does not have


def place(log: ClickLog, weighed: Weighed) -> Placed:
    """Join a ranker's weighted documents to the pairs of a log."""
    rows = np.flatnonzero(weighed.weights > 0)
    of_row = np.repeat(np.arange(len(weighed.query_ids)), np.diff(weighed.offsets))[rows]
    number = {str(name): q for q, name in enumerate(log.query_ids)}
    query_of = np.array([number.get(name, -1) for name in weighed.query_ids], np.int64)
    in_log = query_of[of_row] >= 0
    rows, of_row = rows[in_log], of_row[in_log]
    pair = log.find_pairs(weighed.query_ids[of_row], weighed.document_ids[rows])
    weights, query = weighed.weights[rows], query_of[of_row]
    omega = np.zeros(log.n_pairs)
    omega[pair[pair >= 0]] = weights[pair >= 0]
    ranked = np.zeros(log.n_queries, np.bool_)
    ranked[query] = True
    missing = np.flatnonzero(pair < 0)
    names = weighed.document_ids[rows[missing]].tolist()
    unlogged = list(zip(query[missing].tolist(), names, weights[missing].tolist(), strict=True))
    return Placed(omega, sums_of(query, weights, log.n_queries), ranked, unlogged)


@dataclass(frozen=True, eq=False)
class PageValues:
    """Contributions of pages to the value of a ranker, which is Σ n z/Σ n s + mean of fixed."""

    z: Array  # (P,)
    s: Array  # (P,) 1, but for snips and sndr
    fixed: Array  # (P,) the part that is not divided by s
    weights: Array  # (I,) of a click
    clipped: Array  # (Q,) ω that is clipped, never shown, and all
    never_shown: Array
    total: Array
    change: Array  # (P,) of z by shrunk weights


@dataclass(frozen=True, eq=False)
class Pages:
    """Click log with the propensities of its impressions."""

    log: ClickLog
    page_of: Ints  # (I,)
    ranks: Int32s  # (I,)
    has_propensity: Flags  # (I,) other clicks are ignored
    alpha: Array  # (I,) 0 without a propensity
    earned: Array  # (I,) c − β, 0 without a propensity
    rho: Array  # (U,)
    from_log: bool  # whether rho was
    clip: float

    @classmethod
    def of(cls, log: ClickLog, propensities: Propensities, *, clip: float, placement: Array | None) -> Pages:
        """Join a log and propensities; ρ is from `placement`, by default from the log."""
        if log.n_impressions == 0:
            raise DataError("the log has no impressions.", where=log.source)
        if log.positions is not None and (log.sizes == 1).all() and (log.positions > 1).any():
            raise DataError(
                "every page of the log is one document at its position, so that pages cannot be counted. Give whole "
                "pages.",
                where=log.source,
            )
        ranks = log.ranks()
        alpha, beta = propensities.at(ranks)
        has_propensity = np.nan_to_num(alpha) > 0
        alpha, earned = np.where(has_propensity, alpha, 0.0), np.where(has_propensity, log.clicks - beta, 0.0)
        counts = np.repeat(log.page_counts, log.sizes)
        views = sums_of(log.page_query, log.page_counts, log.n_queries)
        if placement is None:
            looked = sums_of(log.pairs, counts * alpha, log.n_pairs)
            rho = looked / np.maximum(views, 1e-300)[log.pair_query]
        else:
            shape = np.shape(placement)
            if len(shape) != 2 or shape[0] != log.n_pairs or shape[1] < ranks.max():
                raise ParameterError(
                    f"placement must give each of the log's {log.n_pairs} pairs a probability at each of its "
                    f"{ranks.max()} ranks; got shape {shape}."
                )
            rho = np.asarray(placement) @ np.nan_to_num(propensities.at(np.arange(1, shape[1] + 1))[0])
        return cls(log, log.page_of, ranks, has_propensity, alpha, earned, rho, placement is None, clip)

    def logged(self, discount: Discount, propensities: Propensities) -> PageValues:
        """Value of the logged rankings, by ips: every page with the discounts of its own ranks."""
        by_rank = discount.of(self.ranks, propensities)
        weights = np.where(self.has_propensity, by_rank / np.maximum(self.alpha, self.clip or 1e-300), 0.0)
        n = self.log.n_pages
        fixed = np.zeros(n)
        if discount.examination:
            fixed = self.by_page(np.nan_to_num(propensities.at(self.ranks)[1]))
        query, counts = self.log.page_query, self.log.page_counts
        views = np.maximum(sums_of(query, counts, self.log.n_queries), 1e-300)
        clipped, never, total = (
            sums_of(query, counts * self.by_page(by_rank * there), self.log.n_queries) / views
            for there in (
                self.has_propensity & (self.alpha < self.clip),
                ~self.has_propensity,
                np.ones(len(self.alpha)),
            )
        )
        z = self.by_page(weights * self.earned)
        return PageValues(z, np.ones(n), fixed, weights, clipped, never, total, np.zeros(n))

    def importance(self, placed: Placed) -> tuple[Array, Array]:
        """Weight w of each pair, 1 on average over what a query showed, and the factor that makes it ω/ρ."""
        per_pair = np.where(self.rho > 0, placed.omega / np.maximum(self.rho, self.clip or 1e-300), 0.0)
        query, n = self.log.pair_query, self.log.n_queries
        exposure = sums_of(query, self.rho, n)
        mean = np.divide(sums_of(query, self.rho * per_pair, n), exposure, out=np.zeros(n), where=exposure > 0)
        factor = np.where(mean > 0, mean, 1.0)[query]
        return per_pair / factor, factor

    def ranked(self, placed: Placed, how: How, guessed: Guessed | None, *, shrinkage: float = 0.0) -> PageValues:
        """Contribution of each page to a ranker's value."""
        log, shown = self.log, self.rho > 0
        w, factor = self.importance(placed)
        reduced = shrunk(how, w, shrinkage) if is_shrinking(how) else w
        per_pair = factor * reduced
        omega = placed.omega * np.divide(reduced, w, out=np.ones(len(w)), where=w > 0)
        weights = per_pair[log.pairs] * self.has_propensity
        z, s, fixed = np.zeros(log.n_pages), np.ones(log.n_pages), np.zeros(log.n_pages)
        if how in ("snips", "sndr"):
            s = self._page_sums(omega, weights, self.alpha) / np.maximum(placed.total, 1e-300)[log.page_query]
        if guessed is None:
            z = self._page_sums(omega, weights, self.earned)
        else:
            fixed = _direct(log, placed, guessed)
            if how == "dm":
                weights = np.zeros(len(weights))
            else:
                r = np.where(placed.omega > 0, guessed.pairs, 0.0)[guessed.fold[self.page_of], log.pairs]
                z = self._page_sums(omega, weights, self.earned - self.alpha * r)
        clipped = sums_of(log.pair_query, placed.omega * (shown & (self.rho < self.clip)), log.n_queries)
        never = sums_of(log.pair_query, placed.omega * ~shown, log.n_queries)
        for query, _, weight in placed.unlogged:
            never[query] += weight
        return PageValues(z, s, fixed, weights, clipped, never, placed.total, np.zeros(log.n_pages))

    def _page_sums(self, omega: Array, weights: Array, values: Array) -> Array:
        """Σ ω/ρ · values of each page; if ρ was taken from the log, with the same mean and the right spread.

        ρ from the log makes Σ ω/ρ · v a ratio, ω Σv/Σα for each pair, which varies less than it would with ρ known: by
        its linear part ω m + ω/ρ · (v − m α), m = Σv/Σα, whose residuals are stretched by √(n/(n − 1)) since m was
        fitted to n of them.
        """
        if not self.from_log:
            return self.by_page(weights * values)
        log, counts = self.log, np.repeat(self.log.page_counts, self.log.sizes)
        pairs, n_pairs = log.pairs, log.n_pairs
        times = sums_of(pairs, counts * self.has_propensity, n_pairs)
        looked = sums_of(pairs, counts * self.alpha, n_pairs)
        fits = (times >= 2) & (self.rho >= self.clip) & (omega > 0)
        ratio = np.zeros(n_pairs)
        ratio[fits] = sums_of(pairs, counts * values * self.has_propensity, n_pairs)[fits] / looked[fits]
        stretch = np.ones(n_pairs)
        stretch[fits] = np.sqrt(times[fits] / (times[fits] - 1))
        rest = self.by_page(weights * stretch[pairs] * (values - ratio[pairs] * self.alpha))
        fitted = sums_of(log.pair_query, omega * ratio, log.n_queries)
        return np.asarray(rest + fitted[log.page_query])

    def by_page(self, values: Array) -> Array:
        """Sum of the values of each page's impressions."""
        return sums_of(self.page_of, values, self.log.n_pages)


def _direct(log: ClickLog, placed: Placed, guessed: Guessed) -> Array:
    """Σ_d ω_d r̂_d of each page."""
    there = placed.omega > 0
    missing = np.flatnonzero(there & np.isnan(guessed.pairs).any(axis=0))
    if len(missing):
        pair = missing[0]
        query = log.query_ids[log.pair_query[pair]]
        raise DataError(f"relevance gives no probability to document {log.document_ids[pair]!r} of query {query!r}.")
    r = np.where(there, guessed.pairs, 0.0)
    by_query = np.array([sums_of(log.pair_query, placed.omega * of_fold, log.n_queries) for of_fold in r])
    if guessed.others is not None:
        for query, document, weight in placed.unlogged:
            key = str(log.query_ids[query]), document
            if key not in guessed.others:
                raise DataError(f"relevance gives no probability to document {document!r} of query {key[0]!r}.")
            by_query[:, query] += weight * guessed.others[key]
    return np.asarray(by_query[guessed.fold, log.page_query])


def trust_clicks(log: ClickLog, weighed: Weighed, propensities: Propensities) -> Array:
    """Expected clicks of trust bias on a ranker's list, by page: Σ β over its ranks."""
    sizes = np.diff(weighed.offsets)
    beta = np.nan_to_num(propensities.at(np.arange(1, int(sizes.max()) + 1))[1])
    upto = dict(zip(weighed.query_ids.tolist(), np.append(0.0, np.cumsum(beta))[sizes].tolist(), strict=True))
    return np.array([upto.get(str(name), 0.0) for name in log.query_ids])[log.page_query]


def sums_of(codes: AnyArray, values: Array, n: int) -> Array:
    """Sum of the values of each code from 0 to n − 1."""
    return np.bincount(codes, values, minlength=n).astype(np.float64)
