"""Trust bias: users click on documents at the top even if they are not relevant."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from podium.base.arrays import AnyArray, Array
from podium.base.errors import ConvergenceWarning, DataError
from podium.base.registry import param, register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.propensities.base import ByClicks, Estimator, intervals
from podium.propensities.joined import join

_STEPS = 5000
_TOLERANCE = 1e-7
"""Largest change of a click rate in the last step."""


@register
class Trust(Estimator):
    """Trust bias: click rates of relevant and of other documents at each rank, for judged documents.

    Formula: P(click at k) = α_k γ + β_k with γ = grade/largest grade, the probability that the document is relevant. By
        EM on whether it is: α_k + β_k and β_k are the click rates of relevant and of other documents. θ_k is
        (α_k + β_k)/(α_1 + β_1), examination times the trust in a relevant document at that rank. Clicks do not
        separate the two, and weights do not need it.
    Cost: O(ranks · grades) a step, for each of `draws` resamplings of the queries, which the intervals come from.
    Use it for: logs with judged queries. Clicks alone do not separate β from relevance, so without grades there is no
        estimate of trust bias.
    Reference: Agarwal, Wang, Li, Bendersky & Najork, Addressing trust bias for unbiased learning-to-rank, WWW 2019,
        with relevance given by judges; Vardasbi, Oosterhuis & de Rijke, When inverse propensity scoring does not work,
        CIKM 2020, for the weights.
    """

    name = "trust"
    needs_data: ClassVar[bool] = True
    draws: int = param(default=100, least=0)
    """Resamplings of the queries, from which the intervals come."""

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        assert data is not None, "checked before"
        joined = join(log, data, self.name)
        labels = joined.data.labels
        if labels is None or not (labels > 0).any() or (labels < 0).any():
            raise DataError(f"{self.name} needs data with grades of at least 0, some above 0.", where=data.source)
        relevance = labels / labels.max()
        values, kind = np.unique(relevance, return_inverse=True)
        cell = joined.rank * len(values) + kind[joined.row]
        shape = (joined.n_ranks, len(values))

        def rates(times: Array) -> tuple[Array, Array, float]:
            """Click rates of relevant and of other documents by rank, if queries count `times`."""
            n, c = (
                np.bincount(cell, x * times[joined.query], minlength=shape[0] * shape[1]).reshape(shape)
                for x in (joined.shown, joined.clicked)
            )
            return _climb(n, c, values)

        high_rate, low_rate, moved = rates(np.ones(log.n_queries))
        if moved > _TOLERANCE:
            warnings.warn(
                f"{self.name}: not converged after {_STEPS} EM steps; rates still moved by {moved:.2g}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        unknown = np.flatnonzero(~np.isfinite(high_rate) | ~np.isfinite(low_rate))
        if len(unknown):
            raise DataError(
                f"{self.name}: rank {unknown[0] + 1} did not show both relevant and other judged documents. Leave "
                f"lower ranks out (depth {unknown[0]}), or judge more queries.",
                where=data.source,
            )
        theta = high_rate / high_rate[0]

        def again(times: Array) -> Array:
            rate = rates(times)[0]
            return np.asarray(rate / rate[0])

        low, high = intervals(theta, again, log=log, draws=self.draws, rng=rng)
        alpha = np.maximum(high_rate - low_rate, 0.0)
        return Propensities(np.arange(1, len(theta) + 1), theta, low, high, alpha, low_rate, str(self))

    def by_clicks(self, log: ClickLog, data: Dataset | None, estimated: Propensities) -> ByClicks:
        assert data is not None, "checked before"
        joined = join(log, data, self.name)
        labels = joined.data.labels
        assert labels is not None, "checked before"
        values, kind = np.unique(labels / labels.max(), return_inverse=True)
        row, times = joined.rows[log.pairs], np.repeat(log.page_counts, log.sizes)
        judged = row >= 0
        cell = np.where(judged, (log.ranks() - 1) * len(values) + kind[row], len(estimated.ranks) * len(values))
        shape = len(estimated.ranks), len(values)
        n = np.bincount(cell[judged], times[judged], minlength=shape[0] * shape[1]).reshape(shape)

        def alpha(clicks: Array) -> Array:
            c = np.bincount(cell[judged], (times * clicks)[judged], minlength=shape[0] * shape[1]).reshape(shape)
            return _newton(n, c, values, estimated)

        return ByClicks(cell, alpha)


def _climb(n: AnyArray, c: AnyArray, relevance: Array) -> tuple[Array, Array, float]:
    """P(click | relevant) and P(click | not) of each rank by EM, and the largest change in the last step.

    `n` and `c` are impressions and clicks by rank and relevance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        start = c.sum(axis=1) / n.sum(axis=1)
        yes, no = np.minimum(2 * start, 0.99), start / 2
        for _ in range(_STEPS):
            of_click = relevance * yes[:, None] / (relevance * yes[:, None] + (1 - relevance) * no[:, None])
            missed = relevance * (1 - yes[:, None])
            of_miss = missed / (missed + (1 - relevance) * (1 - no[:, None]))
            hits, misses = c * np.nan_to_num(of_click), (n - c) * np.nan_to_num(of_miss)
            new = hits.sum(axis=1) / (hits + misses).sum(axis=1)
            rest, left = c - hits, (n - c) - misses
            other = rest.sum(axis=1) / (rest + left).sum(axis=1)
            moved = np.nanmax(np.abs(np.concatenate((new - yes, other - no))), initial=0.0)
            yes, no = new, other
            if moved < 1e-12:
                break
    return yes, no, float(moved)


def _newton(n: AnyArray, c: AnyArray, relevance: Array, estimated: Propensities) -> Array:
    """α and β for clicks near those of the estimate, by one step of Fisher scoring from it, rank by rank.

    Formula: with p_g = β + γ_g α, the score is Σ_g x_g (c_g − n_g p_g)/(p_g (1 − p_g)) and the information
        Σ_g x_g x_gᵀ n_g/(p_g (1 − p_g)), x_g = (γ_g, 1).
    """
    x = np.stack((relevance, np.ones(len(relevance))), axis=1)
    moved = np.empty((2, len(estimated.ranks)))
    for k in range(len(estimated.ranks)):
        p = np.clip(estimated.beta[k] + relevance * estimated.alpha[k], 1e-9, 1.0 - 1e-9)
        score = x.T @ ((c[k] - n[k] * p) / (p * (1.0 - p)))
        information = (x * (n[k] / (p * (1.0 - p)))[:, None]).T @ x
        moved[:, k] = np.array([estimated.alpha[k], estimated.beta[k]]) + np.linalg.pinv(information) @ score
    return moved
