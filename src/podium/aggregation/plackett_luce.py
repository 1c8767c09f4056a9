"""Plackett–Luce: the worths under which a query's lists are most likely, with standard errors (Hunter 2004).

    >>> from podium.data.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
    >>> PlackettLuce()(votes).order(0)
    ['A', 'B', 'C']

Each place of a list is filled from the top, by P(i) = φ_i / Σ φ of what remains, φ = e^s. The law knows no ties; a
list that ties documents is taken to hold their order back, and its likelihood is the sum over all orders they may
have. As documents race, with arrival times T_i ~ Exp(φ_i), that sum is an integral over one time:

    P(all of B before all of the rest) = ∫ Π_{b∈B} (1 − e^{−φ_b t}) Λ e^{−Λt} dt,   Λ = Σ_{rest} φ

the exact treatment of ties in Cox's regression (DeLong, Guirguis & So 1994). It is log-concave in s as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.aggregation.base import Array
from podium.aggregation.worths import Likelihood, WorthModel
from podium.compiled import compiled
from podium.data.query_rankings import QueryRankings
from podium.registry import register


@register
class PlackettLuce(WorthModel):
    """The log-worths of greatest likelihood.

    Formula: max_s Σ_k w_k Σ_p log(φ_{π_k(p)} / Σ_{l ≥ p} φ_{π_k(l)}), φ = e^s, plus `pseudo` wins and losses of each
        document against a ghost of worth 1.
    Ties: their order counts as unknown and is summed over, exactly; where ties are verdicts, use pmop. Documents
        that a list leaves out were not there (`skip`), or come after it in an order unknown (`last`).
    Cost: O(V·n² + n³) per Newton step, of which there are about eight; 80 evaluations per group of ties.
    Use it for: races, leagues, tastings: estimates of strength with standard errors, from partial lists.
    Reference: Hunter, MM algorithms for generalized Bradley–Terry models, Annals of Statistics 2004; Turner, van
        Etten, Firth & Kosmidis, Modelling rankings in R: the PlackettLuce package, Computational Statistics 2020.
    """

    def likelihood(self, query: QueryRankings, log_worths: Array) -> Likelihood:
        n = query.n_documents
        gradient, information = np.zeros(n), np.zeros((n, n))
        shifted = log_worths - log_worths.max()
        value = _likelihood(query.documents, query.ranks, query.offsets, query.weights, shifted, gradient, information)
        return Likelihood(float(value), gradient, information)


@compiled
def _likelihood(documents: Any, ranks: Any, offsets: Any, weights: Any, s: Any, gradient: Any, information: Any) -> Any:
    """Σ over lists and stages of log P, with its derivatives.

    Of stages that come before a document, only two sums are needed: c1 = Σ 1/D and c2 = Σ 1/D², D = Σ φ of what
    remained. Then ∂/∂s_i has −φ_i c1, and the information φ_i c1 on the diagonal less φ_i φ_j c2 for every pair, c2
    being that of the earlier of both. A group of ties adds E[t] − 1/Λ and Var[t] − 1/Λ² to the two.
    """
    value = 0.0
    for v in range(len(offsets) - 1):
        a, b, w = offsets[v], offsets[v + 1], weights[v]
        phi, below = np.empty(b - a), np.zeros(b - a + 1)  # below[p]: Σ φ of place p and all after it
        for p in range(b - a - 1, -1, -1):
            phi[p] = math.exp(s[documents[a + p]])
            below[p] = below[p + 1] + phi[p]
        c1, c2, first = 0.0, 0.0, 0
        while first < b - a:
            end = first + 1
            while end < b - a and ranks[a + end] == ranks[a + first]:
                end += 1
            mine, rest = documents[a + first : a + end], documents[a + end : b]
            if end - first == 1 and end < b - a:  # a place for one: in closed form
                value += w * (s[mine[0]] - math.log(below[first]))
                gradient[mine[0]] += w
                c1, c2 = c1 + 1.0 / below[first], c2 + 1.0 / below[first] ** 2
            _charge(mine, rest, phi[first:end], phi[end:], w, c1, c2, gradient, information)
            if end - first > 1 and end < b - a:
                log_p, mean, variance = _unknown_order(
                    mine, rest, phi[first:end], phi[end:], below[end], w, gradient, information
                )
                value += w * log_p
                c1, c2 = c1 + mean - 1.0 / below[end], c2 + variance - 1.0 / below[end] ** 2
            first = end
    return value


@compiled
def _charge(
    mine: Any, rest: Any, phi: Any, phi_rest: Any, w: Any, c1: Any, c2: Any, gradient: Any, information: Any
) -> None:
    """What documents lose to the denominators of the stages so far, each pair when its first member is met."""
    for i in range(len(mine)):
        gradient[mine[i]] -= w * phi[i] * c1
        information[mine[i], mine[i]] += w * phi[i] * c1
        for j in range(len(mine)):
            information[mine[i], mine[j]] -= w * phi[i] * phi[j] * c2
        for j in range(len(rest)):
            both = w * phi[i] * phi_rest[j] * c2
            information[mine[i], rest[j]] -= both
            information[rest[j], mine[i]] -= both


@compiled
def _unknown_order(
    mine: Any, rest: Any, phi: Any, phi_rest: Any, total: Any, w: Any, gradient: Any, information: Any
) -> Any:
    """log P of a tied group coming before the rest, the mean and the variance of the time it took.

    Under the law of t that the integrand gives, ∂/∂s_b is E[q_b], q = y/(e^y − 1) at y = φ_b t; second derivatives are
    E[∂q/∂s] and covariances. By the trapezoid rule in x = log t, whose error is below 1e−14 at this step.
    """
    m = len(mine)
    x0, bend = _peak(phi, total)
    step = min(0.25, 0.6 / math.sqrt(bend))
    top = _log_integrand(phi, total, x0)
    mass, mean_t, mean_t2 = 0.0, 0.0, 0.0
    mean_q, mean_slope, mean_qt, mean_qq = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros((m, m))
    q = np.empty(m)
    for direction in (-1, 1):
        node = 0 if direction == -1 else 1
        while True:
            x = x0 + direction * node * step
            density = math.exp(_log_integrand(phi, total, x) - top)
            if density < 1e-18:
                break
            t = math.exp(x)
            mass += density
            mean_t += density * t
            mean_t2 += density * t * t
            for i in range(m):
                q[i], slope = _pull(phi[i] * t)
                mean_q[i] += density * q[i]
                mean_slope[i] += density * slope
                mean_qt[i] += density * q[i] * t
                for j in range(i + 1):
                    mean_qq[i, j] += density * q[i] * q[j]
            node += 1
    mean_t, mean_t2 = mean_t / mass, mean_t2 / mass
    for i in range(m):
        gradient[mine[i]] += w * mean_q[i] / mass
        information[mine[i], mine[i]] -= w * mean_slope[i] / mass
        for j in range(i + 1):
            together = w * (mean_qq[i, j] / mass - mean_q[i] / mass * mean_q[j] / mass)
            information[mine[i], mine[j]] -= together
            if j < i:
                information[mine[j], mine[i]] -= together
        apart = w * (mean_qt[i] / mass - mean_q[i] / mass * mean_t)
        for r in range(len(rest)):
            information[mine[i], rest[r]] += phi_rest[r] * apart
            information[rest[r], mine[i]] += phi_rest[r] * apart
    return math.log(mass * step) + top, mean_t, mean_t2 - mean_t * mean_t


@compiled
def _peak(phi: Any, total: Any) -> Any:
    """Where the integrand is greatest in x = log t, and minus its logarithm's second derivative there."""
    low, high = -math.log(total) - 5.0, -math.log(total) + 5.0
    while _slope(phi, total, low) < 0.0:
        low -= 5.0
    while _slope(phi, total, high) > 0.0:
        high += 5.0
    for _ in range(40):
        x = 0.5 * (low + high)
        if _slope(phi, total, x) > 0.0:
            low = x
        else:
            high = x
    x = 0.5 * (low + high)
    bend = total * math.exp(x)
    for f in phi:
        bend -= _pull(f * math.exp(x))[1]
    return x, bend


@compiled
def _slope(phi: Any, total: Any, x: Any) -> Any:
    t = math.exp(x)
    slope = 1.0 - total * t
    for f in phi:
        slope += _pull(f * t)[0]
    return slope


@compiled
def _log_integrand(phi: Any, total: Any, x: Any) -> Any:
    """log of Π(1 − e^{−φt}) Λ e^{−Λt} t at t = e^x."""
    t = math.exp(x)
    value = math.log(total) + x - total * t
    for f in phi:
        value += math.log(-math.expm1(-f * t))
    return value


@compiled
def _pull(y: Any) -> Any:
    """q = y/(e^y − 1) and dq/d log y = q·(1 − y − q), the derivatives of log(1 − e^{−y}) by log y."""
    q = y / math.expm1(y) if y < 700.0 else 0.0
    return q, q * (1.0 - y - q)
