"""Plackett–Luce by maximum likelihood: one worth per document, fitted to a query's lists (Hunter 2004).

    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
    >>> PlackettLuceMLE()(votes).order(0)
    ['A', 'B', 'C']

The distribution itself is `podium.distributions.PlackettLuce`: each place of a list is filled from the top, by
P(i) = φ_i / Σ φ of the remaining, φ = e^s. It has no ties. By default a list that ties documents says that they are
about equal: it counts as every order of them, each as an equal share of the list (`tie_orders.py`). With ties=unknown
it only hides their order, and the likelihood is the sum over all orders. As a race, with arrival times T_i ~ Exp(φ_i),
that sum is an integral over one time (`distributions/graded_race.py`):

    P(all of B before all of the rest) = ∫ Π_{b∈B} (1 − e^{−φ_b t}) Λ e^{−Λt} dt,   Λ = Σ_{rest} φ

the exact treatment of ties in Cox's regression (DeLong, Guirguis & So 1994). It is log-concave in s as well.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from podium.aggregation.davidson_luce import MOST_TIED as MOST_SHARED
from podium.aggregation.davidson_luce import profile, tie_sizes
from podium.aggregation.pairwise_counts import ties as ties_of
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.tie_orders import ABSENT, mean_order
from podium.aggregation.tie_orders import MOST_TIED as MOST_AVERAGED
from podium.aggregation.worths import Slope, WorthModel
from podium.base.arrays import Array, Flags, Ints
from podium.base.registry import register
from podium.jit.compiled import compiled
from podium.kernels.race_integral import FADED, log_integrand, trapezoid


@register
class PlackettLuceMLE(WorthModel):
    """Log-worths of maximum likelihood under Plackett–Luce, with standard errors.

    Formula: max_s Σ_k w_k Σ_p log(φ_{π_k(p)} / Σ_{l ≥ p} φ_{π_k(l)}), φ = e^s, plus `pseudo` wins and losses of each
        document against a ghost of worth 1.
    Ties: with ties=equal a list with ties counts as all its orders, each as an equal share of it: a tie of two is half
        a win for each. With ties=unknown their order is unknown and summed over, so that a tie at the end of a list
        tells nothing; so do ties of more than 100 documents. With ties=shared a place may be shared, as in Davidson's
        law of pairs (`davidson_luce.py`), P(S first) ∝ δ_|S|·(Π_{i∈S} φ_i)^{1/|S|}, for up to 20 tied; a document alone
        may then come before a large tie above it. Documents missing from a list come after it in an unknown order
        (`last`), or were not there (`skip`).
    Cost: O(V·n) per gradient, some hundreds of them; 180·k² for k tied. `fit` adds O(V·n² + n³) for standard errors,
        with ties 2n gradients.
    Use it for: races, leagues, tastings: estimates of strength with standard errors. In a race a missing driver did not
        start: use unranked=skip.
    Reference: Hunter, MM algorithms for generalized Bradley–Terry models, Annals of Statistics 2004; Turner, van
        Etten, Firth & Kosmidis, Modelling rankings in R: the PlackettLuce package, Computational Statistics 2020.
    """

    ties: Literal["equal", "unknown", "shared"] = "equal"
    """Tied documents: all orders count in equal shares, their order is unknown, or a place may be shared."""
    name: ClassVar[str] = "plackett-luce"

    def _ties(self, query: QueryRankings) -> str:
        """How the ties of a query count: as the parameter says, unless there are none, or too large ones."""
        largest = tie_sizes(query)[-1]
        most = {"equal": MOST_AVERAGED, "shared": MOST_SHARED}.get(self.ties, 0)
        return self.ties if 1 < largest <= most else "unknown"

    def holds(self, query: QueryRankings) -> Flags:
        strict = super().holds(query)
        return strict if self._ties(query) == "unknown" else strict | ties_of(query)

    def seen(self, query: QueryRankings) -> QueryRankings:
        how = self._ties(query)
        full = super().seen(query) if how != "shared" else query
        if full is query:
            return query
        place = np.arange(len(full.ranks)) - np.repeat(full.offsets[:-1], np.diff(full.offsets))
        absent = place >= np.repeat(np.diff(query.offsets), np.diff(full.offsets))
        return replace(full, ranks=np.where(absent, ABSENT, full.ranks))

    def slope(self, query: QueryRankings, log_worths: Array) -> Slope:
        how = self._ties(query)
        if how == "shared":
            return Slope(*profile(query, log_worths, last=self.unranked == "last")[:3])
        return self._at(query, log_worths, np.empty((0, 0)), average=how == "equal")

    def information(self, query: QueryRankings, log_worths: Array) -> Array:
        n = query.n_documents
        if self._ties(query) != "unknown":
            steps = _STEP * np.eye(n)
            rows = [self.slope(query, log_worths - h)[1] - self.slope(query, log_worths + h)[1] for h in steps]
            differences = np.array(rows) / (2.0 * _STEP)
            return 0.5 * (differences + differences.T)
        information = np.zeros((n, n))
        self._at(query, log_worths, information, average=False)
        return information

    def _at(self, query: QueryRankings, log_worths: Array, information: Array, *, average: bool) -> Slope:
        gradient, curvature = np.zeros(query.n_documents), np.zeros(query.n_documents)
        value = _likelihood(
            query.documents, query.ranks, query.offsets, query.weights, log_worths - log_worths.max(), gradient,
            curvature, information, average,
        )  # fmt: skip
        return Slope(float(value), gradient, curvature)


_STEP = 1e-4  # of log-worths, for second derivatives by differences of gradients


@compiled
def _likelihood(
    documents: Ints,
    ranks: Ints,
    offsets: Ints,
    weights: Array,
    s: Array,
    gradient: Array,
    curvature: Array,
    information: Array,
    average: bool,
) -> float:
    """Σ over lists and stages of log P, with its gradient, its curvature, and the full information if it has room.

    Of stages that come before a document, only two sums are needed: c1 = Σ 1/D and c2 = Σ 1/D², D = Σ φ of the
    remaining. Then ∂/∂s_i has −φ_i c1, and the information φ_i c1 on the diagonal less φ_i φ_j c2 for every pair, with
    c2 of the earlier of both. A group of ties adds E[t] − 1/Λ and Var[t] − 1/Λ² to the two, or with `average` the means
    of 1/D and 1/D² over its orders.
    """
    value, all_phi = 0.0, np.exp(s)
    for v in range(len(offsets) - 1):
        a, b, w = offsets[v], offsets[v + 1], weights[v]
        below = np.zeros(b - a + 1)  # below[p]: Σ φ of place p and all after it
        for p in range(b - a - 1, -1, -1):
            below[p] = below[p + 1] + all_phi[documents[a + p]]
        c1, c2, first = 0.0, 0.0, 0
        while first < b - a:
            end = first + 1
            while end < b - a and ranks[a + end] == ranks[a + first]:
                end += 1
            group, rest = documents[a + first : a + end], documents[a + end : b]
            if end - first == 1 and end < b - a:  # a place for one: in closed form
                value += w * (s[group[0]] - math.log(below[first]))
                gradient[group[0]] += w
                c1, c2 = c1 + 1.0 / below[first], c2 + 1.0 / below[first] ** 2
            _charge(group, rest, all_phi, w, c1, c2, gradient, curvature, information)
            if end - first > 1 and average and ranks[a + first] != ABSENT:
                for i in group:
                    value += w * s[i]
                    gradient[i] += w
                logs, mean, mean_square = mean_order(group, all_phi, below[end], w, gradient, curvature)
                value -= w * logs
                c1, c2 = c1 + mean, c2 + mean_square
            elif end - first > 1 and end < b - a:
                log_p, mean, variance = _unknown_order(
                    group, rest, s, all_phi, math.log(below[end]), w, gradient, curvature, information
                )
                value += w * log_p
                c1, c2 = c1 + (mean - 1.0) / below[end], c2 + (variance - 1.0) / below[end] ** 2
            first = end
    return value


@compiled
def _charge(
    group: Ints,
    rest: Ints,
    phi: Array,
    w: float,
    c1: float,
    c2: float,
    gradient: Array,
    curvature: Array,
    information: Array,
) -> None:
    """Add the terms of the denominators of the stages so far, each pair at its first member."""
    for i in group:
        gradient[i] -= w * phi[i] * c1
        curvature[i] += w * (phi[i] * c1 - phi[i] * phi[i] * c2)
    if not len(information):
        return
    for i in group:
        information[i, i] += w * phi[i] * c1
        for j in group:
            information[i, j] -= w * phi[i] * phi[j] * c2
        for j in rest:
            both = w * phi[i] * phi[j] * c2
            information[i, j] -= both
            information[j, i] -= both


@compiled
def _unknown_order(
    group: Ints,
    rest: Ints,
    s: Array,
    phi: Array,
    others: float,
    w: float,
    gradient: Array,
    curvature: Array,
    information: Array,
) -> tuple[float, float, float]:
    """log P of a tied group before the rest, the mean and the variance of its time Λt.

    Under the distribution of t with this density, ∂/∂s_b is E[q_b], q = y/(e^y − 1) at y = φ_b t; second derivatives
    are E[∂q/∂s] and covariances.
    """
    m, pairs = len(group), len(group) if len(information) else 0
    logs = np.empty(m)
    for i in range(m):
        logs[i] = s[group[i]]
    peak, step, top = trapezoid(logs, others)
    mass, mean_t, mean_t2 = 0.0, 0.0, 0.0
    q, sums, mean_qq = np.empty(m), np.zeros((4, m)), np.zeros((pairs, pairs))  # of q, ∂q/∂s, qt and q²
    for direction in (-1, 1):
        node = 0 if direction == -1 else 1
        while True:
            u = peak + direction * node * step
            log_density = log_integrand(logs, others, u) - top
            if log_density < -FADED:
                break
            density, t = math.exp(log_density), math.exp(u)
            mass, mean_t, mean_t2 = mass + density, mean_t + density * t, mean_t2 + density * t * t
            for i in range(m):
                q[i], bend = _pull(math.exp(min(u + logs[i] - others, 7.0)))
                sums[0, i] += density * q[i]
                sums[1, i] += density * bend
                sums[2, i] += density * q[i] * t
                sums[3, i] += density * q[i] * q[i]
            for i in range(pairs):
                for j in range(pairs):
                    mean_qq[i, j] += density * q[i] * q[j]
            node += 1
    mean_t, mean_t2 = mean_t / mass, mean_t2 / mass
    sums /= mass
    for i in range(m):
        gradient[group[i]] += w * sums[0, i]
        curvature[group[i]] -= w * (sums[1, i] + sums[3, i] - sums[0, i] ** 2)
    for i in range(pairs):
        information[group[i], group[i]] -= w * sums[1, i]
        for j in range(pairs):
            information[group[i], group[j]] -= w * (mean_qq[i, j] / mass - sums[0, i] * sums[0, j])
        apart = w * (sums[2, i] - sums[0, i] * mean_t) / math.exp(others)
        for r in rest:
            information[group[i], r] += phi[r] * apart
            information[r, group[i]] += phi[r] * apart
    return math.log(mass * step) + top, mean_t, mean_t2 - mean_t * mean_t


@compiled
def _pull(y: float) -> tuple[float, float]:
    """q = y/(e^y − 1) and dq/d log y = q·(1 − y − q), the derivatives of log(1 − e^{−y}) by log y."""
    q = (y / math.expm1(y) if y > 0.0 else 1.0) if y < 700.0 else 0.0
    return q, q * (1.0 - y - q)
