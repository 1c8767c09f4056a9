"""Regression-EM: the position-based model whose attractiveness is a function of features."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from podium.clicks.propensity import Propensities
from podium.data.click_log import ClickLog
from podium.data.dataset import Dataset
from podium.losses import Logistic
from podium.metrics import NDCG
from podium.propensities.base import Array, Estimator, intervals
from podium.propensities.joined import Joined, join
from podium.recipe import Recipe
from podium.registry import param, register
from podium.scorers import Linear, Scorer
from podium.solvers import LBFGS
from podium.training import fit

_INNER = 20
"""EM steps of θ between two fits of the scorer; each costs a pass over the cells."""


@register
class RegressionEM(Estimator):
    """Examination by EM, with the relevance of a document read from its features, so that no document need change rank.

    Formula: P(click at k) = θ_k σ(s(x)). The posterior of relevance, k + (n−k)·γ(1−θ)/(1−θγ) of n impressions with
        γ = σ(s(x)), is what `logistic` refits the scorer to, `rounds` times; θ_k is the mean posterior of examination.
    Cost: `rounds` fits of the scorer, for each of `draws` resamplings of the queries, which the intervals come from.
    Use it for: logs without any change of ranks, with care: what features cannot explain of relevance is taken for
        examination, the more so the better the ranker that made the log.
    Reference: Wang, Golbandi, Bendersky, Metzler & Najork, Position bias estimation for unbiased learning to rank in
        personal search, WSDM 2018.
    """

    name = "regression-em"
    needs_data: ClassVar[bool] = True
    intervenes: ClassVar[bool] = False
    scorer: Scorer = Linear()
    rounds: int = param(default=10, least=1)
    draws: int = param(default=10, least=0)

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        assert data is not None, "checked before"
        joined = join(log, data, self.name)
        theta = self._theta(joined, np.ones(log.n_queries))
        low, high = intervals(theta, lambda times: self._theta(joined, times), log=log, draws=self.draws, rng=rng)
        return Propensities.of_theta(theta, low=low, high=high, how=str(self))

    def _theta(self, joined: Joined, times: Array) -> Array:
        """θ relative to rank 1, where queries count so often."""
        kept = times[joined.query] > 0
        row, rank = joined.row[kept], joined.rank[kept]
        shown, clicked = (x[kept] * times[joined.query[kept]] for x in (joined.shown, joined.clicked))
        n, by_rank = joined.data.n_documents, np.bincount(rank, shown, minlength=joined.n_ranks)
        impressions = np.bincount(row, shown, minlength=n)
        weights = np.maximum(np.bincount(joined.data.query_index, impressions) / joined.data.sizes, 0.0)
        recipe = Recipe(loss=Logistic(highest=1.0), solver=LBFGS(penalty=0.01)).changed({"scorer": repr(self.scorer)})
        theta, gamma = np.full(joined.n_ranks, 0.5), np.full(n, 0.5)
        queries = np.flatnonzero(weights > 0)
        for _ in range(self.rounds):
            g, misses = gamma[row], shown - clicked
            for _ in range(_INNER):
                x = theta[rank] * g
                examined = clicked + misses * (theta[rank] - x) / (1.0 - x)
                theta = np.clip(np.bincount(rank, examined, minlength=joined.n_ranks) / by_rank, 1e-9, 1 - 1e-9)
            x = theta[rank] * g
            attracted = np.bincount(row, clicked + misses * (g - x) / (1.0 - x), minlength=n)
            relevant = np.where(impressions > 0, attracted / np.maximum(impressions, 1e-300), gamma)
            labelled = replace(joined.data, labels=np.clip(relevant, 0.0, 1.0), query_weights=weights / weights.mean())
            model = fit(recipe, labelled.select(queries), metric=NDCG(10))
            gamma = np.clip(1.0 / (1.0 + np.exp(-model.score(joined.data))), 1e-9, 1 - 1e-9)
        return np.asarray(theta / theta[0])
