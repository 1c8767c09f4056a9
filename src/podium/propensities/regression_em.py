"""Regression-EM: the position-based model (PBM) with attractiveness as a function of features."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ConvergenceWarning
from podium.base.registry import param, register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.em import climb
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.losses import Logistic
from podium.metrics import NDCG
from podium.propensities.base import Estimator, intervals
from podium.propensities.joined import Joined, join
from podium.recipe import Recipe
from podium.scorers import Linear, Scorer
from podium.solvers import LBFGS
from podium.training import fit

_INNER = 20
"""EM steps of θ between two fits of the scorer; each costs a pass over the cells."""
_EDGE = 1e-9
"""How near to 0 and 1 probabilities come."""


@register
class RegressionEM(Estimator):
    """Examination by EM, with relevance predicted from features; no document needs to change rank.

    Formula: P(click at k) = θ_k σ(s(x)). The posterior of relevance, k + (n−k)·γ(1−θ)/(1−θγ) of n impressions with
        γ = σ(s(x)), is what `logistic` refits the scorer to; θ_k is the mean posterior of examination. Steps are
        accelerated by SQUAREM, in logits, until the likelihood rises by less than `tolerance` for each impression.
    Cost: up to `rounds` fits of the scorer, mostly some 30, for each of `draws` resamplings of the queries, which the
        intervals come from.
    Use it for: logs without any change of ranks, with care: relevance that features cannot explain is taken for
        examination, the more so the better the ranker that made the log.
    Reference: Wang, Golbandi, Bendersky, Metzler & Najork, Position bias estimation for unbiased learning to rank in
        personal search, WSDM 2018; Varadhan & Roland, Simple and globally convergent methods for accelerating the
        convergence of any EM algorithm, Scandinavian Journal of Statistics 35, 2008.
    """

    name = "regression-em"
    needs_data: ClassVar[bool] = True
    intervenes: ClassVar[bool] = False
    scorer: Scorer = Linear()
    """Scorer that predicts relevance from features."""
    rounds: int = param(default=300, least=1)
    """Largest number of fits."""
    tolerance: float = param(default=1e-8, above=0.0)
    """Rise of the likelihood for each impression below which the steps end."""
    draws: int = param(default=10, least=0)
    """Resamplings of the queries, from which the intervals come."""

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        assert data is not None, "checked before"
        joined = join(log, data, self.name)
        start = np.full(joined.n_ranks + joined.data.n_documents, 0.5)
        x, converged = self._climbed(joined, np.ones(log.n_queries), start)
        if not converged:
            warnings.warn(
                f"{self}: not converged after {self.rounds} fits of the scorer; θ of lower ranks is likely to be too "
                "small. Allow more rounds.",
                ConvergenceWarning,
                stacklevel=3,
            )
        theta = _relative(x, joined)
        low, high = intervals(
            theta, lambda times: _relative(self._climbed(joined, times, x)[0], joined), log=log, draws=self.draws,
            rng=rng,
        )  # fmt: skip
        return Propensities.of_theta(theta, low=low, high=high, how=str(self))

    def _climbed(self, joined: Joined, times: Array, start: Array) -> tuple[Array, bool]:
        """θ of each rank and γ of each document if queries count `times`, from a start, and whether EM converged."""
        counted = _Counted(joined, times)
        recipe = Recipe(loss=Logistic(highest=1.0), solver=LBFGS(penalty=0.01)).changed({"scorer": repr(self.scorer)})

        def step(x: Array) -> tuple[float, Array]:
            theta, gamma = x[: joined.n_ranks], x[joined.n_ranks :]
            value = counted.likelihood(theta, gamma)
            theta = counted.examined(theta, gamma)
            model = fit(recipe, counted.labelled(theta, gamma), metric=NDCG(10))
            gamma = 1.0 / (1.0 + np.exp(-model.score(joined.data)))
            return value, np.clip(np.concatenate((theta, gamma)), _EDGE, 1.0 - _EDGE)

        x, _, converged = climb(
            step, start, iterations=self.rounds, tolerance=self.tolerance * float(counted.shown.sum())
        )
        return x, converged


class _Counted:
    """Impressions and clicks of documents by rank, if queries count `times`."""

    def __init__(self, joined: Joined, times: Array) -> None:
        kept = times[joined.query] > 0
        self.row, self.rank = joined.row[kept], joined.rank[kept]
        self.shown, self.clicked = (x[kept] * times[joined.query[kept]] for x in (joined.shown, joined.clicked))
        self.joined = joined
        self.impressions = np.bincount(self.row, self.shown, minlength=joined.data.n_documents)

    def likelihood(self, theta: Array, gamma: Array) -> float:
        """log P(clicks)."""
        x = theta[self.rank] * gamma[self.row]
        return float(self.clicked @ np.log(x) + (self.shown - self.clicked) @ np.log1p(-x))

    def examined(self, theta: Array, gamma: Array) -> Array:
        """θ after EM steps with γ fixed."""
        g, misses = gamma[self.row], self.shown - self.clicked
        by_rank = np.bincount(self.rank, self.shown, minlength=len(theta))
        for _ in range(_INNER):
            x = theta[self.rank] * g
            looked = self.clicked + misses * (theta[self.rank] - x) / (1.0 - x)
            theta = np.clip(np.bincount(self.rank, looked, minlength=len(theta)) / by_rank, _EDGE, 1.0 - _EDGE)
        return theta

    def labelled(self, theta: Array, gamma: Array) -> Dataset:
        """Queries that count, with posteriors of relevance as labels."""
        data, g = self.joined.data, gamma[self.row]
        x = theta[self.rank] * g
        attracted = np.bincount(
            self.row, self.clicked + (self.shown - self.clicked) * (g - x) / (1.0 - x), minlength=len(gamma)
        )
        relevant = np.where(self.impressions > 0, attracted / np.maximum(self.impressions, 1e-300), gamma)
        weights = np.bincount(data.query_index, self.impressions) / data.sizes
        weighed = replace(data, labels=np.clip(relevant, 0.0, 1.0), query_weights=weights / weights.mean())
        return weighed.select(np.flatnonzero(weights > 0))


def _relative(x: Array, joined: Joined) -> Array:
    return np.asarray(x[: joined.n_ranks] / x[0])
