"""StructRank (Huang & Frey, 2008): the joint probability of all preferences, by a cumulative distribution network.

A preference e = (i, j) has r_e = s_i − s_j. The network is a product of sigmoids, each over one or several preferences,
which is the probability that all are observed; the loss is its negative logarithm. `kernels/pair_sums.py` sums over all
pairs of preferences in time linear in the preferences.

>>> from podium.losses import StructRank
>>> round(StructRank()([2.0, 1.0, 0.0], [1, 0, 0]).value, 4)  # 2·log(1 + e^−1 + e^−2)
0.8152
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.errors import IncompatibleError, ParameterError
from podium.base.registry import param, register
from podium.distributions import PlackettLuce
from podium.distributions.race import sample_race
from podium.jit import sorting as ranking
from podium.jit.compiled import compiled, outlined
from podium.kernels.blocks import by_grade_and_score, clear, count_edges, filled
from podium.kernels.cdn import (
    DISCONNECTED,
    FULL,
    FUNCTION,
    FUNCTIONS,
    GAUSSIAN,
    LISTED,
    LOG_W1,
    LOGISTIC,
    ON_GRID,
    PLACKETT_LUCE,
    RANDOM,
    TOPOLOGY,
    draw_partners,
    margin,
    network,
    place_of,
)
from podium.kernels.draws import share
from podium.kernels.grade_grid import FEW_EDGES, differences, is_cheaper, lay_grid, to_documents
from podium.losses.bounds import Bound, count_pairs, insertion_factor, pair_bounds
from podium.losses.pairs import PairwiseLoss, scale


@compiled
def over_grades(scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """−log of the joint CDF of the preferences that grades imply."""
    order, ends = by_grade_and_score(scores, labels)
    n_edges, topology = count_edges(ends), params[0, TOPOLOGY]
    on_grid = topology in (FULL, DISCONNECTED) and params[0, FUNCTION] == LOGISTIC
    if on_grid and n_edges >= FEW_EDGES and is_cheaper(scores, ends, n_edges, reach(params)):
        return over_grid(scores, order, ends, gradient, curvature, params)
    return over_listed(scores, order, ends, edges_between(order, ends), gradient, curvature, params)


@compiled
def over_edges(scores: Array, edges: Array, gradient: Array, curvature: Array, params: Array) -> float:
    """−log of the joint CDF of explicit preferences; one of probability P̄ counts P̄ times, and reversed 1 − P̄ times."""
    order, ends, listed = edges_in_order(scores, edges)
    return over_listed(scores, order, ends, listed, gradient, curvature, params)


@outlined("float64(float64[:, ::1])")
def reach(params: Array) -> float:
    """Largest w."""
    most = -np.inf
    for k in range(int(params[0, FUNCTIONS])):
        most = max(most, params[0, place_of(k)], params[0, place_of(k) + 1])
    return math.exp(most)


@outlined("float64(float64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[:, ::1])")
def over_grid(scores: Array, order: Ints, ends: Ints, gradient: Array, curvature: Array, params: Array) -> float:
    """Loss on grades without a list of edges: O(np + Kp² + p³) for K grades and p points in the range of scores."""
    grid = lay_grid(scores, order, ends, reach(params))
    r, weight = differences(grid[0], grid[1])
    force, bend = np.zeros(len(r)), np.zeros(len(r))
    value, functions = network(r, weight, count_edges(ends), ends, ON_GRID, params, force, bend)
    to_documents(scores, order, ends, grid, force, -1.0, gradient)
    to_documents(scores, order, ends, grid, bend, 1.0, curvature)
    for i in range(len(curvature)):  # rounding may leave small negative numbers
        curvature[i] = max(curvature[i], 0.0)
    return _finish(value, functions, gradient, curvature, params)


@outlined("float64[:, ::1](int64[::1], int64[::1])")
def edges_between(order: Ints, ends: Ints) -> Any:
    """Edges (winner, loser, 1, 1) of documents in order of grade."""
    edges, e = np.empty((count_edges(ends), 4)), 0
    for p in range(len(order)):
        for q in range(ends[p], len(order)):
            edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3] = order[p], order[q], 1.0, 1.0
            e += 1
    return edges


@compiled
def edges_in_order(scores: Array, edges: Array) -> Any:
    """Documents by wins minus losses and score, the ends of blocks, and the edges in and along that order."""
    n, m = len(scores), len(edges)
    wins, place, keys = np.zeros(n), np.empty(n), np.empty(m)
    for e in range(m):
        wins[int(edges[e, 0])] += 2.0 * edges[e, 2] - 1.0
        wins[int(edges[e, 1])] -= 2.0 * edges[e, 2] - 1.0
    for i in range(n):  # sums that differ only by rounding are equal
        wins[i] = np.round(wins[i] * 2.0**20)
    order, ends = by_grade_and_score(scores, wins)
    for p in range(n):
        place[order[p]] = p
    for e in range(m):
        a, b = place[int(edges[e, 0])], place[int(edges[e, 1])]
        keys[e] = -(min(a, b) * n + max(a, b))
    listed, at = np.empty((m, 4)), np.empty(m, np.int64)
    ranking.argsort_descending(keys, at)
    for e in range(m):
        i, j, odds = edges[at[e], 0], edges[at[e], 1], edges[at[e], 2]
        turned = place[int(i)] > place[int(j)]
        listed[e, 0], listed[e, 1] = (j, i) if turned else (i, j)
        listed[e, 2], listed[e, 3] = 1.0 - odds if turned else odds, 1.0
    return order, ends, listed


@outlined("float64(float64[::1], int64[::1], int64[::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1])")
def over_listed(
    scores: Array, order: Ints, ends: Ints, edges: Array, gradient: Array, curvature: Array, params: Array
) -> float:
    """Loss on a list of edges."""
    clear(gradient, curvature)
    if len(edges) == 0:
        return 0.0
    if params[0, TOPOLOGY] == PLACKETT_LUCE:
        value, functions = 0.0, 0.0
        for k in range(int(params[0, FUNCTIONS])):
            v, winners = _one_per_winner(scores, edges, place_of(k), gradient, curvature, params)
            value, functions = value + v, functions + winners
        return _finish(value, functions, gradient, curvature, params)
    r, weight = _turned_both_ways(scores, edges)
    force, bend = np.zeros(len(r)), np.zeros(len(r))
    value, functions = network(r, weight, len(edges), ends, LISTED, params, force, bend)
    _add_edges(edges, weight, force, bend, gradient, curvature)
    if params[0, TOPOLOGY] == RANDOM:
        share(scores, order, ends, gradient)
        share(scores, order, ends, curvature)
    return _finish(value, functions, gradient, curvature, params)


@compiled
def _finish(value: float, functions: float, gradient: Array, curvature: Array, params: Array) -> float:
    """Sum over functions, or their mean with `normalise`."""
    if params[0, 0] != 0.0:
        for k in range(LOG_W1, params.shape[1]):
            params[1, k] /= functions
    return scale(value, functions, gradient, curvature, params)


@compiled
def _turned_both_ways(scores: Array, edges: Array) -> Any:
    """r and the weight of each edge; if some are not certain, followed by those of all edges reversed."""
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


@compiled
def _add_edges(edges: Array, weight: Array, force: Array, bend: Array, gradient: Array, curvature: Array) -> None:
    """Add the derivatives of edges to those of their documents."""
    m = len(edges)
    for h in range(len(weight)):
        i, j = int(edges[h % m, 0]), int(edges[h % m, 1])
        push, bent = force[h] * (weight[h] if h < m else -weight[h]), bend[h] * weight[h]
        gradient[i] -= push
        gradient[j] += push
        curvature[i] += bent
        curvature[j] += bent


@outlined("Tuple((float64, int64))(float64[::1], float64[:, ::1], int64, float64[::1], float64[::1], float64[:, ::1])")
def _one_per_winner(scores: Array, edges: Array, at: int, gradient: Array, curvature: Array, params: Array) -> Any:
    """Σ_i log(1 + Σ_j ω e^{−w₁r_ij}) over the documents j that i beats; and the number of winners."""
    n, m, w = len(scores), len(edges), math.exp(params[0, at])
    r, weight = _turned_both_ways(scores, edges)
    top, total, value, winners = filled(n, -1.0), np.zeros(n), 0.0, 0
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
            params[1, at] -= w * r[h] * p
    return value, winners


@register
class StructRank(PairwiseLoss):
    """Negative log-probability that all preferences of a query hold, by a cumulative distribution network.

    Formula: L = Σ −log φ(r_e, r_e') over pairs e ≠ e' of edges, r_e = s_i − s_j for y_i > y_j, φ(r, r') =
        1/(1 + e^{−w₁r} + e^{−w₂r'}), w > 0. `topology=full` takes all pairs, `random` pairs each edge with `partners`
        others, drawn from `seed`; `disconnected` is Σ log(1 + e^{−w₁r_e}), which is RankNet; `plackett-luce` is
        Σ_i log(1 + Σ_j e^{−w₁r_ij}) over the j that i beats, on a full order ListMLE. A query of one edge has no pair
        and counts as disconnected. `functions=K` adds up the losses of K such networks with separate weights,
        which start at w₁·k and w₂/k. With `function=gaussian`, φ(r, r') = Φ₂(w₁r, w₂r'; ρ), the bivariate normal
        distribution with `correlation` ρ; `disconnected` is then Σ −log Φ(w₁r_e). Thurstone's noise of three documents
        gives two of their differences ρ = ½.
    Ties: documents of equal grade are not compared. An edge of probability P̄ counts P̄ times, and reversed 1 − P̄ times.
    Cost: O(|P|) per query: the sum over all |P|² pairs is computed by polynomials, accurate to 1e−10. On grades,
        full and disconnected networks of many edges do not list them: O(np + Kp² + p³) for K grades, p the points that
        the range of w·s needs: 12 for a range of 1, 45 for each 10 units of a wider one.
        `function=gaussian` lists the edges and all |P|² pairs of them: use it with `topology=random` on long lists.
    Use it for: preferences that hold or fail together. `normalise` gives the mean over pairs, which keeps rates alike
        for long and short queries. w₁ and w₂ are learned, as logarithms; with a scorer that has its own scale,
        such as linear, `learn=false` leaves the scale to the scorer, which is regularised. On OHSUMED full and
        disconnected networks differ by less than noise.
    Distribution: none over rankings; values over all orders do not sum to 1. See `log_cdf` and `pair_marginals`.
    Curvature: a bound, except for the disconnected and the Plackett–Luce networks.
    Reference: Huang & Frey, Structured ranking learning using cumulative distribution networks, NIPS 2008.
    """

    weighs_edges: ClassVar[bool] = False
    topology: Literal["full", "disconnected", "random", "plackett-luce"] = "full"
    """Pairs of preferences that depend on each other."""
    log_w1: float = 0.0
    """Start of ln w₁."""
    log_w2: float = 0.0
    """Start of ln w₂."""
    partners: int = param(default=5, least=1)
    """Preferences that each is paired with, if `topology=random`."""
    seed: int = param(default=0, least=0)
    """Seed of the pairs of `topology=random`."""
    learn: bool = True
    """Whether w₁ and w₂ are learned."""
    functions: int = param(default=1, least=1)
    """Networks whose losses are added up."""
    function: Literal["logistic", "gaussian"] = "logistic"
    """Distribution function of a pair of preferences."""
    correlation: float = param(default=0.5, least=0, below=1)
    """ρ of `function=gaussian`."""
    more: tuple[float, ...] = ()
    """log w₁ and log w₂ of the second function, of the third, and so on; if empty, spread around those of the first."""
    grades = staticmethod(over_grades)
    edges = staticmethod(over_edges)
    curvature_is: ClassVar[Literal["exact", "bound"]] = "bound"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.function == "gaussian" and self.topology == "plackett-luce":
            raise ParameterError("structrank: topology=plackett-luce has no gaussian function. Use function=logistic.")
        if len(self.more) not in (0, 2 * (self.functions - 1)):
            raise ParameterError(
                f"structrank: {self.functions} functions have {2 * (self.functions - 1)} weights more than the first; "
                f"got {len(self.more)} in more. Leave it out to start them apart."
            )

    def bounds(self) -> tuple[Bound, ...]:
        """Of W wrong edges among m, W(W − 1) functions see two (≥ ln 3), 2W(m − W) one (≥ ln 2): L ≥ W(m − 1) ln 3."""
        if self.topology == "disconnected":
            return pair_bounds(math.log(2.0), "/ln 2", normalise=self.normalise) if self.functions == 1 else ()
        if self.topology != "full" or self.functions > 1 or self.function == "gaussian":
            return ()

        def least(value: float, labels: Array) -> float:
            m = count_pairs(labels)
            if m == 1:  # counts as disconnected
                return 1.0 - insertion_factor(labels) * value / math.log(2.0)
            total = value * m * (m - 1) if self.normalise else value
            return 1.0 - insertion_factor(labels) * total / ((m - 1) * math.log(3.0))

        scale = "m·L/ln 3" if self.normalise else "L/((m − 1) ln 3)"
        return (Bound("ndcg", f"1 − ndcg ≤ K·{scale}, m = |P| ≥ 2", least),)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether the loss is convex: only with w₁ and w₂ held fixed."""
        return not self.learn

    @property
    def learned(self) -> tuple[str, ...]:  # type: ignore[override]
        """Parameters that are trained together with the scorer."""
        return ("log_w1", "log_w2", *self._others()) if self.learn else ()

    def numeric_fields(self) -> dict[str, float]:
        return super().numeric_fields() | self._others()

    def learned_values(self) -> Array:
        numbers = self.numeric_fields()
        return np.array([numbers[name] for name in self.learned], np.float64)

    def with_learned(self, values: ArrayLike) -> StructRank:
        if not self.learned:
            return self
        log_w1, log_w2, *more = np.asarray(values, np.float64).tolist()
        return dataclasses.replace(self, log_w1=log_w1, log_w2=log_w2, more=tuple(more))

    def log_cdf(self, scores: ArrayLike, labels: ArrayLike) -> float:
        """Logarithm of the joint probability of the preferences; `labels` are grades (n,) or edges (m, 2 or 3)."""
        return -dataclasses.replace(self, normalise=False)(scores, labels).value

    def pair_marginals(self, scores: ArrayLike, labels: ArrayLike) -> Array:
        """P(i before j) at [i, j] for grades y_i > y_j, all other preferences left open; NaN for other pairs."""
        s, y = np.array(scores, np.float64), np.array(labels, np.float64)
        order, ends = by_grade_and_score(s, y)
        edges = edges_between(order, ends)
        winners, losers = edges[:, 0].astype(np.int64), edges[:, 1].astype(np.int64)
        uses, r = self._uses(len(edges), ends), s[winners] - s[losers]
        lost, function = np.zeros(len(r)), GAUSSIAN if self.function == "gaussian" else LOGISTIC
        for k, log_w in enumerate((self.log_w1, self.log_w2, *self._others().values())):
            lost += uses[k % 2] * [margin(math.exp(log_w) * x, function)[0] for x in r]
        marginals = np.full((len(s), len(s)), np.nan)
        marginals[winners, losers] = np.exp(-lost)
        return marginals

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int = 1) -> Ints:
        """Sample rankings of the Plackett–Luce network, one per row; other networks are refused."""  # (size, n)
        if self.topology != "plackett-luce" or self.functions > 1:
            raise IncompatibleError(
                f"{self} is no distribution over rankings: its values over all orders do not sum to 1. "
                "Use topology=plackett-luce with one function, or log_cdf and pair_marginals."
            )
        return sample_race(np.exp(self.log_w1) * np.asarray(scores, np.float64), rng, size)

    def rank_distribution(self) -> tuple[PlackettLuce, float] | None:
        is_plackett_luce = self.topology == "plackett-luce" and self.functions == 1
        return (PlackettLuce(), float(np.exp(-self.log_w1))) if is_plackett_luce else None

    def _others(self) -> dict[str, float]:
        """Weights of the functions after the first, by name."""
        apart = [
            x for k in range(2, self.functions + 1) for x in (self.log_w1 + math.log(k), self.log_w2 - math.log(k))
        ]
        return {f"more[{k}]": x for k, x in enumerate(self.more or apart)}

    def _uses(self, m: int, ends: Ints) -> Array:
        """Number of functions in which each edge is the first, and in which it is the second."""  # (2, m)
        uses = np.ones((2, m))
        if m < 2 or self.topology in ("disconnected", "plackett-luce"):
            uses[1] = 0.0
        elif self.topology == "full":
            uses *= m - 1.0
        else:
            drawn = draw_partners(m, self.partners, self.seed, ends)
            uses[0], uses[1] = self.partners, np.bincount(drawn.ravel(), minlength=m)
        return uses
