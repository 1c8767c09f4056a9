"""Pairwise debiasing (Unbiased LambdaMART): ratios of clicked and of unclicked ranks, learned with a ranker."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import AnyArray, Array, Ints
from podium.base.registry import param, register
from podium.clicks.log.click_log import ClickLog, rows_of
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.losses import RankNet
from podium.metrics import NDCG
from podium.propensities.base import Estimator
from podium.propensities.joined import join
from podium.recipe import Recipe
from podium.scorers import Linear, Scorer
from podium.solvers import LBFGS
from podium.training import fit


@register
class Pairwise(Estimator):
    """Pairwise debiasing ratios t⁺ of Unbiased LambdaMART, only to compare with tools that use them.

    Formula: with L_ij the loss of `ranknet` of a document clicked at rank i over one at rank j that was not, in turn a
        ranker is trained with weights 1/(t⁺_i t⁻_j), and t⁺_i = (Σ_j L_ij/t⁻_j)^{1/(1+p)}, relative to rank 1, and
        t⁻_j = (Σ_i L_ij/t⁺_i)^{1/(1+p)} as well. θ is t⁺; it is not consistent, and has no interval.
    Cost: `rounds` fits on all pairs of clicked and other documents of a page.
    Use it for: nothing but a comparison with XGBoost's `lambdarank_unbiased`.
    Reference: Hu, Wang, Peng & Li, Unbiased LambdaMART: an unbiased pairwise learning-to-rank algorithm, WWW 2019.
    """

    needs_data: ClassVar[bool] = True
    intervenes: ClassVar[bool] = False
    scorer: Scorer = Linear()
    """Scorer of the ranker."""
    p: float = param(default=0.0, least=0.0)
    """Regularisation: ratios are taken to the power 1/(1 + p)."""
    rounds: int = param(default=10, least=1)
    """Fits of the ranker."""

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        assert data is not None, "checked before"
        joined = join(log, data, self.name)
        n, n_ranks = joined.data.n_documents, joined.n_ranks
        winner, upper, loser, lower, times = _pairs(log, joined.rows)
        recipe = Recipe(loss=RankNet(), solver=LBFGS(penalty=0.01)).changed({"scorer": repr(self.scorer)})
        edges, edge = np.unique(winner * np.int64(n) + loser, return_inverse=True)
        plus, minus = np.ones(n_ranks), np.ones(n_ranks)
        for _ in range(self.rounds):
            weight = np.bincount(edge, times / (plus[upper] * minus[lower]))
            weighted = joined.data.with_preferences(edges // n, edges % n, None, weight / weight.mean())
            scores = fit(recipe, weighted, metric=NDCG(10)).score(joined.data)
            loss = times * np.logaddexp(0.0, scores[loser] - scores[winner])
            plus, minus = (
                _relative(np.bincount(upper, loss / minus[lower], minlength=n_ranks), self.p),
                _relative(np.bincount(lower, loss / plus[upper], minlength=n_ranks), self.p),
            )
        return Propensities.of_theta(plus, how=str(self))


def _relative(sums: AnyArray, p: float) -> Array:
    """Sums relative to rank 1; at least 1e-6, since they are divisors."""
    return np.asarray(np.maximum(sums / sums[0], 1e-6) ** (1.0 / (1.0 + p)))


def _pairs(log: ClickLog, rows: Ints) -> tuple[Ints, ...]:
    """Row and rank of a clicked document, of an unclicked one of its page, and how often; without repeats."""
    rank, row = log.ranks().astype(np.int64) - 1, rows[log.pairs]
    clicked = np.flatnonzero((log.clicks > 0) & (row >= 0))
    page = log.page_of[clicked]
    other, own = rows_of(log.offsets, page), np.repeat(clicked, log.sizes[page])
    kept = (log.clicks[other] == 0) & (row[other] >= 0)
    other, own = other[kept], own[kept]
    columns = np.stack((row[own], rank[own], row[other], rank[other]))
    distinct, which = np.unique(columns, axis=1, return_inverse=True)
    times = np.bincount(which.ravel(), log.page_counts[log.page_of[own]])
    return *distinct, times
