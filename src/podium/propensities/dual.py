"""Dual learning algorithm: a ranker and the propensities are learned in turn, each from the other."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ConvergenceWarning, DataError, PodiumWarning
from podium.base.registry import param, register
from podium.clicks.ips_weights import weights
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities, click_rates
from podium.data.dataset import Dataset
from podium.losses import Softmax
from podium.metrics import NDCG
from podium.propensities.base import Estimator, intervals
from podium.propensities.joined import Joined, join
from podium.recipe import Recipe
from podium.scorers import Linear, Scorer
from podium.solvers import LBFGS
from podium.training import fit

_LARGEST = np.log(10.0)  # of log v


@register
class Dual(Estimator):
    """Dual learning of a ranker and its propensities; no document needs to change rank.

    Formula: in turn, a ranker is trained by `softmax` with document weights 1/θ, and θ_k/θ_1 = Σ v over clicks at k /
        Σ v over clicks at 1 on the pages that have rank k, with v = softmax(s) of the document at rank 1 of the page /
        softmax(s) of the clicked one, at most 10, or a few clicks on documents of very low scores would be all of θ.
    Cost: `rounds` fits of the scorer at most, for each of `draws` resamplings, which the intervals come from.
    Use it for: logs without any change of ranks, with care: relevance that the scorer cannot explain is taken for
        examination, the more so the better the ranker that made the log.
    Reference: Ai, Bi, Luo, Guo & Croft, Unbiased learning to rank with unbiased propensity estimation, SIGIR 2018,
        with the exact minimum of each step in place of gradient steps.
    """

    needs_data: ClassVar[bool] = True
    intervenes: ClassVar[bool] = False
    scorer: Scorer = Linear()
    """Scorer of the ranker."""
    rounds: int = param(default=20, least=1)
    """Most rounds, each with a fit of the ranker."""
    tolerance: float = param(default=1e-3, above=0.0)
    """Stop if no θ moves by more."""
    draws: int = param(default=10, least=0)
    """Resamplings of the queries, from which the intervals come."""

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        assert data is not None, "checked before"
        tops = np.minimum(log.offsets[:-1], log.n_impressions - 1)
        if (log.ranks()[tops][log.sizes > 0] != 1).any():
            raise DataError(f"{self.name} needs the document at rank 1 of every page, which this log lacks. Use pbm.")
        joined = join(log, data, self.name)
        theta, moved = self._learned(log, joined, _start(log, joined.n_ranks))
        if moved > self.tolerance:
            warnings.warn(
                f"{self}: θ still moved by {moved:.2g} after {self.rounds} rounds.", ConvergenceWarning, stacklevel=3
            )

        def again(times: Array) -> Array:
            counts = log.page_counts * times[log.page_query]
            part = replace(log, counts=counts).select(counts > 0)
            return self._learned(part, joined, theta)[0]

        low, high = intervals(theta, again, log=log, draws=self.draws, rng=rng)
        return Propensities.of_theta(theta, low=low, high=high, how=str(self))

    def _learned(self, log: ClickLog, joined: Joined, theta: Array) -> tuple[Array, float]:
        """θ relative to rank 1, and the largest change in the last round."""
        recipe = Recipe(loss=Softmax(), solver=LBFGS(penalty=0.01)).changed({"scorer": repr(self.scorer)})
        page, rank = log.page_of, log.ranks() - 1
        in_data = joined.rows[log.pairs] >= 0
        shown = np.flatnonzero(in_data & in_data[log.offsets[:-1]][page])
        clicked = shown[log.clicks[shown] > 0]
        top = joined.rows[log.pairs[log.offsets[:-1]]][page[clicked]]
        own, times = joined.rows[log.pairs[clicked]], log.page_counts[page[clicked]]
        # clicks at rank 1 on the pages that have rank k: other pages cannot be compared with it
        first = log.page_counts * log.clicks[log.offsets[:-1]]
        at_top = np.bincount(rank[shown], first[page[shown]], minlength=len(theta))
        if not at_top.all():
            raise DataError(
                f"{self.name}: no click at rank 1 on pages that have rank {int(np.argmin(at_top)) + 1}, so that they "
                "cannot be compared. Leave lower ranks out (depth)."
            )
        plain = replace(log, rankers=None, ranker_names=(), propensities=None)
        moved = np.inf
        for _ in range(self.rounds):
            guess = Propensities.of_theta(np.maximum(theta, 1e-6), how=self.name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PodiumWarning)  # training warns of clipped and never shown documents
                data = weights(plain, guess, joined.data).data.grouped()
            scores = fit(recipe, data, metric=NDCG(10)).score(joined.data)
            v = np.exp(np.minimum(scores[top] - scores[own], _LARGEST))
            new = np.bincount(rank[clicked], times * v, minlength=len(theta)) / at_top
            moved, theta = float(np.abs(new - theta).max()), new
            if moved <= self.tolerance:
                break
        return theta, moved


def _start(log: ClickLog, n_ranks: int) -> Array:
    """Click rates relative to rank 1: all of their fall is taken for position bias at first."""
    rates = click_rates(log, np.arange(1, n_ranks + 1))
    return np.where(np.isfinite(rates), np.clip(rates, 1e-3, 1.0), 1.0)
