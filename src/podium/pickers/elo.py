"""ELO-DCG: judge where the DCG that is lost by not knowing the grades is largest (Long et al., 2010).

>>> import numpy as np
>>> grades = np.array([[2, 1, 0], [2, 0, 0], [1, 2, 0]])  # of three documents by each of three members
>>> of_query, of_documents = expected_losses(2.0**grades - 1, cutoff=10)
>>> round(of_query, 6), of_documents.round(6).tolist()
(0.246047, [0.0, 0.041008, 0.0])
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.model import Model
from podium.pickers.base import Picker, member_gains

_LEAST = 1e-9
"""A loss below it is taken for none; documents without one are ordered by the variance of their gains."""


@register
class Elo(Picker):
    """Expected loss of DCG: where the members of a bagged model would gain most by knowing the grades.

    Formula: members j give gains g_ij = 2^ŷ − 1; B(g) is the DCG@cutoff of gains in their best order, ḡ the mean over
        members. Of a query: (1/N) Σ_j B(g_·j) − B(ḡ). Of a document i: (1/N) Σ_j [(1/N) Σ_p B(g_·j with g_ip at i) −
        B(g_·j with ḡ_i at i)]. Both are at least 0, since B is convex. A judged document has the gain of its label.
    Ties: documents that no member can move have 0, and come last, by the variance of their gains.
    Cost: O(N²·n log n) per query with n documents and N members.
    Use it for: few judgments to spend; `podium train --method 'bagged(of=…)'` makes the model. What it picks is no
        test set.
    Reference: Long, Chapelle, Zhang, Chang, Zheng & Tseng, Active learning for ranking through expected loss
        optimization, SIGIR 2010.
    """

    cutoff: int = param(default=10, least=1)
    """Ranks that count."""

    def worth(self, model: Model | None, pool: Dataset, rng: np.random.Generator) -> tuple[Array, Array]:
        gains = member_gains(model, pool)
        queries, documents = np.zeros(pool.n_queries), np.zeros(pool.n_documents)
        for q in range(pool.n_queries):
            rows = slice(int(pool.offsets[q]), int(pool.offsets[q + 1]))
            queries[q], documents[rows] = expected_losses(gains[:, rows], cutoff=self.cutoff)
        return _above_none(queries, np.zeros(pool.n_queries)), _above_none(documents, gains.var(axis=0))


def expected_losses(gains: Array, *, cutoff: int) -> tuple[float, Array]:
    """Expected loss of DCG of a query and of each of its documents, from gains by member."""  # (N, n) → 1, (n,)
    n_members, n = gains.shape
    if n == 0:
        return 0.0, np.zeros(0)
    discounts = _discounts(n, cutoff)
    means = gains.mean(axis=0)
    best = np.sort(gains, axis=1)[:, ::-1] @ discounts[1:-1]
    of_query = float(best.mean() - np.sort(means)[::-1] @ discounts[1:-1])
    tried = np.concatenate([gains, means[None]])  # (N + 1, n) gains to put in a document's place
    losses = np.zeros(n)
    for own in gains:
        values = _with_others(own, tried, discounts)
        losses += values[:-1].mean(axis=0) - values[-1]
    return max(of_query, 0.0), np.maximum(losses / n_members, 0.0)


def _discounts(n: int, cutoff: int) -> Array:
    """Discounts of the ranks 0 (there is none), 1 … n, n + 1; 0 beyond the cut-off."""
    ranks = np.arange(n + 2)
    ranks[0] = 1
    return np.where(ranks <= cutoff, 1.0 / np.log2(ranks + 1.0), 0.0)


def _with_others(own: Array, tried: Array, discounts: Array) -> Array:
    """B of a member's gains with each tried gain in each document's place, by sums over sorted gains."""  # (T, n)
    order = np.argsort(-own, kind="stable")
    gains = own[order]
    place = np.empty(len(own), np.int64)
    place[order] = np.arange(len(own))
    stay, down, up = (  # sums over the first gains, if they keep their rank, or move by one
        np.append(0.0, np.cumsum(gains * discounts[shift : shift + len(own)])) for shift in (1, 2, 0)
    )
    # where a tried gain goes, among the others
    target = np.searchsorted(-gains, -tried, side="left") - (own > tried)
    low, high = np.minimum(place, target), np.maximum(place, target)
    between = np.where(target <= place, down[place] - down[low], up[high + 1] - up[place + 1])
    return np.asarray(stay[low] + between + tried * discounts[target + 1] + stay[-1] - stay[high + 1])


def _above_none(losses: Array, variances: Array) -> Array:
    """Losses; in place of those that are none, less than any, by the variance."""
    return np.where(losses > _LEAST, losses, _LEAST * variances / (1.0 + variances))
