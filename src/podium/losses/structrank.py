"""StructRank (Huang & Frey, 2008): the joint probability of all preferences, by a cumulative distribution network.

A preference e = (i, j) has r_e = s_i − s_j. The network is a product of sigmoids, each over one or several preferences,
which is the probability that all are observed; the loss is its negative logarithm. See `pair_sums.py` for how a sum
over all pairs of preferences takes time linear in the preferences.

>>> from podium.losses import StructRank
>>> round(StructRank()([2.0, 1.0, 0.0], [1, 0, 0]).value, 4)  # 2·log(1 + e^−1 + e^−2)
0.8152
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import IncompatibleError
from podium.losses.base import Array, kernel
from podium.losses.blocks import by_grade_and_score, clear, count_edges
from podium.losses.draws import advance, below, share, start
from podium.losses.pair_sums import pair, sum_over_pairs
from podium.losses.pairs import PairwiseLoss, scale
from podium.losses.plackett_luce import draw_race
from podium.registry import param, register

FULL, DISCONNECTED, RANDOM, PLACKETT_LUCE = 0.0, 1.0, 2.0, 3.0
TOPOLOGY, LOG_W1, LOG_W2, PARTNERS, SEED = 1, 2, 3, 4, 5  # places in params


@kernel
def over_grades(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """−log of the joint CDF of the preferences that grades imply."""
    order, ends, edges = edges_of_grades(scores, labels)
    return _over_listed(scores, order, ends, edges, gradient, curvature, params)


@kernel
def over_edges(scores: Any, edges: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """−log of the joint CDF of explicit preferences; one of probability P̄ counts P̄ times, and turned 1 − P̄ times."""
    order, ends, listed = edges_in_order(scores, edges)
    return _over_listed(scores, order, ends, listed, gradient, curvature, params)


@kernel
def edges_of_grades(scores: Any, labels: Any) -> Any:
    """Documents by grade and score, the ends of their blocks, and the edges (winner, loser, 1) in that order."""
    order, ends = by_grade_and_score(scores, labels)
    edges, e = np.ones((count_edges(ends), 3)), 0
    for p in range(len(order)):
        for q in range(ends[p], len(order)):
            edges[e, 0], edges[e, 1] = order[p], order[q]
            e += 1
    return order, ends, edges


@kernel
def edges_in_order(scores: Any, edges: Any) -> Any:
    """The same from edges in any order and direction; wins minus losses take the place of grades."""
    n, m = len(scores), len(edges)
    wins, place, keys = np.zeros(n), np.empty(n), np.empty(m)
    for e in range(m):
        wins[int(edges[e, 0])] += 2.0 * edges[e, 2] - 1.0
        wins[int(edges[e, 1])] -= 2.0 * edges[e, 2] - 1.0
    for i in range(n):  # sums that differ by rounding alone are equal
        wins[i] = np.round(wins[i] * 2.0**20)
    order, ends = by_grade_and_score(scores, wins)
    for p in range(n):
        place[order[p]] = p
    for e in range(m):
        a, b = place[int(edges[e, 0])], place[int(edges[e, 1])]
        keys[e] = min(a, b) * n + max(a, b)
    listed, at = np.empty((m, 3)), np.argsort(keys, kind="mergesort")
    for e in range(m):
        i, j, odds = edges[at[e], 0], edges[at[e], 1], edges[at[e], 2]
        turned = place[int(i)] > place[int(j)]
        listed[e, 0], listed[e, 1], listed[e, 2] = (
            j if turned else i,
            i if turned else j,
            1.0 - odds if turned else odds,
        )
    return order, ends, listed


@kernel
def _over_listed(scores: Any, order: Any, ends: Any, edges: Any, gradient: Any, curvature: Any, params: Any) -> float:
    clear(gradient, curvature)
    topology, m = params[0, TOPOLOGY], len(edges)
    if m == 0:
        return 0.0
    if topology == PLACKETT_LUCE:
        value, functions = _one_per_winner(scores, edges, gradient, curvature, params)
    elif topology == DISCONNECTED or m == 1:  # a pair needs two edges
        value, functions = _one_per_edge(scores, edges, gradient, curvature, params), m
    else:
        r, weight = _turned_both_ways(scores, edges)
        won, lost = np.zeros(len(r)), np.zeros(len(r))
        if topology == FULL:
            functions = m * (m - 1)
            value = sum_over_pairs(r, weight, math.exp(params[0, LOG_W1]), math.exp(params[0, LOG_W2]), won, lost)
            value -= _pairs_with_itself(r, weight, m, params, won, lost)
        else:
            partner = draw_partners(m, int(params[0, PARTNERS]), params[0, SEED], ends)
            functions = partner.size
            value = _drawn_pairs(r, weight, partner, params, won, lost)
        _add_edges(edges, r, weight, won, lost, gradient, curvature, params)
    if params[0, 0] != 0.0:
        params[1, LOG_W1] /= functions
        params[1, LOG_W2] /= functions
    if topology == RANDOM:
        share(scores, order, ends, gradient)
        share(scores, order, ends, curvature)
    return scale(value, functions, gradient, curvature, params)


@kernel
def _turned_both_ways(scores: Any, edges: Any) -> Any:
    """r and the weight of each edge; where some are not certain, all of them follow once more, turned."""
    m, certain = len(edges), True
    for e in range(m):
        certain &= edges[e, 2] == 1.0
    r, weight = np.empty(m if certain else 2 * m), np.empty(m if certain else 2 * m)
    for h in range(len(r)):
        e = h % m
        delta = scores[int(edges[e, 0])] - scores[int(edges[e, 1])]
        r[h] = delta if h < m else -delta
        weight[h] = edges[e, 2] if h < m else 1.0 - edges[e, 2]
    return r, weight


@kernel
def _pairs_with_itself(r: Any, weight: Any, m: Any, params: Any, won: Any, lost: Any) -> float:
    """What the sum over all pairs holds of an edge with itself, either way turned; takes it out of `won` and `lost`."""
    w1, w2, value = math.exp(params[0, LOG_W1]), math.exp(params[0, LOG_W2]), 0.0
    for h in range(len(r)):
        for other in range(h % m, len(r), m):
            f, p, q = pair(-w1 * r[h], -w2 * r[other])
            value += weight[h] * weight[other] * f
            won[h] -= weight[other] * p
            lost[other] -= weight[h] * q
    for h in range(len(r)):  # rounding may leave a little below 0
        won[h], lost[h] = max(won[h], 0.0), max(lost[h], 0.0)
    return value


@kernel
def draw_partners(m: Any, partners: Any, seed: Any, ends: Any) -> Any:
    """For each of m edges, so many others drawn evenly."""
    state, found = start(seed, ends), np.empty((m, partners), np.int64)
    for e in range(m):
        for k in range(partners):
            state = advance(state)
            other = below(state, m - 1)
            found[e, k] = other + 1 if other >= e else other
    return found


@kernel
def _drawn_pairs(r: Any, weight: Any, partner: Any, params: Any, won: Any, lost: Any) -> float:
    w1, w2, m, value = math.exp(params[0, LOG_W1]), math.exp(params[0, LOG_W2]), len(partner), 0.0
    for h in range(len(r)):
        for k in range(partner.shape[1]):
            for other in range(partner[h % m, k], len(r), m):
                f, p, q = pair(-w1 * r[h], -w2 * r[other])
                value += weight[h] * weight[other] * f
                won[h] += weight[other] * p
                lost[other] += weight[h] * q
    return value


@kernel
def _add_edges(
    edges: Any, r: Any, weight: Any, won: Any, lost: Any, gradient: Any, curvature: Any, params: Any
) -> None:
    """From edges to documents and to log w. Σ p(du)² + q(dv)² bounds the curvature of log(1 + e^u + e^v)."""
    w1, w2, m = math.exp(params[0, LOG_W1]), math.exp(params[0, LOG_W2]), len(edges)
    for h in range(len(r)):
        i, j = int(edges[h % m, 0]), int(edges[h % m, 1])
        force = (w1 * won[h] + w2 * lost[h]) * (weight[h] if h < m else -weight[h])
        bend = (w1 * w1 * won[h] + w2 * w2 * lost[h]) * weight[h]
        gradient[i] -= force
        gradient[j] += force
        curvature[i] += bend
        curvature[j] += bend
        params[1, LOG_W1] -= weight[h] * w1 * r[h] * won[h]
        params[1, LOG_W2] -= weight[h] * w2 * r[h] * lost[h]


@kernel
def _one_per_edge(scores: Any, edges: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """Σ log(1 + e^{−w₁r}): RankNet."""
    w, value = math.exp(params[0, LOG_W1]), 0.0
    r, weight = _turned_both_ways(scores, edges)
    for h in range(len(r)):
        i, j = int(edges[h % len(edges), 0]), int(edges[h % len(edges), 1])
        f, p, _ = pair(-w * r[h], -np.inf)
        value += weight[h] * f
        force = weight[h] * w * p * (1.0 if h < len(edges) else -1.0)
        gradient[i] -= force
        gradient[j] += force
        curvature[i] += weight[h] * w * w * p * (1.0 - p)
        curvature[j] += weight[h] * w * w * p * (1.0 - p)
        params[1, LOG_W1] -= weight[h] * w * r[h] * p
    return value


@kernel
def _one_per_winner(scores: Any, edges: Any, gradient: Any, curvature: Any, params: Any) -> Any:
    """Σ_i log(1 + Σ_j ω e^{−w₁r_ij}) over the documents j that i beats; and how many documents beat one."""
    n, m, w = len(scores), len(edges), math.exp(params[0, LOG_W1])
    r, weight = _turned_both_ways(scores, edges)
    top, total, value, winners = np.full(n, -1.0), np.zeros(n), 0.0, 0
    for h in range(len(r)):
        i = int(edges[h % m, 0 if h < m else 1])
        top[i] = max(top[i], -w * r[h], 0.0) if weight[h] > 0.0 else top[i]
    for h in range(len(r)):
        i = int(edges[h % m, 0 if h < m else 1])
        total[i] += weight[h] * math.exp(-w * r[h] - top[i]) if weight[h] > 0.0 else 0.0
    for i in range(n):
        if top[i] >= 0.0:
            winners += 1
            value += math.log1p(total[i]) if top[i] == 0.0 else top[i] + math.log(total[i] + math.exp(-top[i]))
            rest = math.exp(-top[i])
            lose = total[i] / (total[i] + rest)
            gradient[i] -= w * lose
            curvature[i] += w * w * lose * (rest / (total[i] + rest))
    for h in range(len(r)):
        i, j = int(edges[h % m, 0 if h < m else 1]), int(edges[h % m, 1 if h < m else 0])
        if weight[h] > 0.0:
            p = weight[h] * math.exp(-w * r[h] - top[i]) / (total[i] + math.exp(-top[i]))
            gradient[j] += w * p
            curvature[j] += w * w * p * (1.0 - p)
            params[1, LOG_W1] -= w * r[h] * p
    return value, winners


@register
class StructRank(PairwiseLoss):
    """The negative logarithm of the joint probability of all preferences of a query.

    Formula: L = Σ log(1 + e^{−w₁r_e} + e^{−w₂r_e'}) over pairs e ≠ e' of edges, r_e = s_i − s_j for y_i > y_j, w > 0.
        `topology=full` takes all pairs, `random` so many `partners` of each edge, drawn from `seed`; `disconnected` is
        Σ log(1 + e^{−w₁r_e}), which is RankNet; `plackett-luce` is Σ_i log(1 + Σ_j e^{−w₁r_ij}) over the j that i
        beats, on a full order ListMLE. A query of one edge has no pair and counts as disconnected.
    Ties: documents of equal grade are not compared. An edge of probability P̄ counts P̄ times, and turned 1 − P̄ times.
    Cost: O(|P|) per query: the sum over all |P|² pairs goes through polynomials that are right to 1e−10.
    Use it for: preferences that hold or fail together. `normalise` gives the mean over pairs, which keeps rates alike
        for long and short queries. w₁ and w₂ are learned, as logarithms; with a scorer that has a scale of its own,
        such as linear, `learn=false` leaves the scale to the scorer, where penalties reach it. On OHSUMED full and
        disconnected networks differ by less than noise.
    Law: none over rankings; values over all orders do not sum to 1. `log_cdf` and `pair_marginals` say what there is.
    Curvature: a bound, except for the disconnected and the Plackett–Luce networks.
    Reference: Huang & Frey, Structured ranking learning using cumulative distribution networks, NIPS 2008.
    """

    topology: Literal["full", "disconnected", "random", "plackett-luce"] = "full"
    log_w1: float = 0.0
    log_w2: float = 0.0
    partners: int = param(default=5, least=1)
    seed: int = param(default=0, least=0)
    learn: bool = True
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    @property
    def learned(self) -> tuple[str, ...]:  # type: ignore[override]
        """The parameters that are trained along with the scorer."""
        return ("log_w1", "log_w2") if self.learn else ()

    def log_cdf(self, scores: ArrayLike, labels: ArrayLike) -> float:
        """The logarithm of the joint probability of the preferences; `labels` are grades (n,) or edges (m, 2 or 3)."""
        plain = StructRank(False, self.topology, self.log_w1, self.log_w2, self.partners, self.seed)
        return -plain(scores, labels).value

    def pair_marginals(self, scores: ArrayLike, labels: ArrayLike) -> Array:
        """P(i before j) at [i, j] for grades y_i > y_j, all other preferences left open; NaN for other pairs."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        _, ends, edges = edges_of_grades(s, y)
        winners, losers = edges[:, 0].astype(np.int64), edges[:, 1].astype(np.int64)
        first, second = self._uses(len(edges), ends)
        r = s[winners] - s[losers]
        found = np.full((len(s), len(s)), np.nan)
        found[winners, losers] = np.exp(
            -first * np.logaddexp(0.0, -np.exp(self.log_w1) * r) - second * np.logaddexp(0.0, -np.exp(self.log_w2) * r)
        )
        return found

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> NDArray[np.int64]:
        """Rankings of the Plackett–Luce network, one per row; other networks have none to draw from."""  # (size, n)
        if self.topology != "plackett-luce":
            raise IncompatibleError(
                f"structrank(topology={self.topology}) is no law over rankings: its values over all orders do not sum "
                "to 1. Use topology=plackett-luce, or log_cdf and pair_marginals."
            )
        return draw_race(np.exp(self.log_w1) * np.asarray(scores, np.float64), rng, size)

    def _uses(self, m: int, ends: NDArray[np.int64]) -> tuple[Any, Any]:
        """In how many functions each edge is the first, and in how many the second."""
        if m < 2 or self.topology in ("disconnected", "plackett-luce"):
            return 1.0, 0.0
        if self.topology == "full":
            return m - 1.0, m - 1.0
        drawn = draw_partners(m, self.partners, self.seed, ends)
        return float(self.partners), np.bincount(drawn.ravel(), minlength=m)
