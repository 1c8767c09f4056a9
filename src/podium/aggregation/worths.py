"""Worth models: distributions over rankings with one number per document, fitted to the lists of a query.

    >>> from podium.aggregation import PlackettLuceMLE
    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", "B"], ["A", "B"], ["A", "B"], ["B", "A"]]])
    >>> worths = PlackettLuceMLE(pseudo=0.0).fit(votes.query(0))
    >>> round(float(worths.log_worths[0] - worths.log_worths[1]), 6)  # A wins 3 of 4: log(3/1)
    1.098612

The likelihood is concave. It is maximised by Newton's method, each step by conjugate gradients from differences of
gradients, without an (n, n) matrix; a step is halved if it does not help. A document that never loses would have an
infinite worth; so that every worth is finite, each document wins and loses `pseudo` times against a ghost of worth 1,
as in Turner et al. (2020). With pseudo=0 the estimate is that of maximum likelihood alone; if the lists do not
determine one, an error names the documents to blame (Hunter 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podium.aggregation.base import Aggregator, Consensus
from podium.aggregation.determined import components, separated
from podium.aggregation.pairwise_counts import Unranked, lists, wins
from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.rankings.rankings import Rankings
from podium.base.arrays import Array, Flags
from podium.base.errors import DataError
from podium.base.registry import param
from podium.base.threads import one_blas_thread
from podium.parsing.ids import Ids


class Slope(NamedTuple):
    """The log-likelihood of a query's lists at given log-worths, with its derivatives."""

    value: float
    gradient: Array  # (n,)
    curvature: Array  # (n,) minus the second derivatives by each log-worth, or a bound of them: a scale of steps


@dataclass(frozen=True, eq=False)
class Worths:
    """The worths of one query's documents, with standard errors."""

    document_ids: Ids  # (n,)
    log_worths: Array  # (n,) their mean is 0
    covariance: Array  # (n, n) of the estimates, from the observed information
    log_likelihood: float  # of the lists, without the ghost
    iterations: int

    @property
    def standard_errors(self) -> Array:
        """The standard error of each log-worth, against the mean of all."""  # (n,)
        return np.sqrt(np.diag(self.covariance))

    def standard_error(self, i: int, j: int) -> float:
        """The standard error of the difference of two log-worths."""
        c = self.covariance
        return float(np.sqrt(max(c[i, i] + c[j, j] - 2.0 * c[i, j], 0.0)))


@dataclass(frozen=True, repr=False)
class WorthModel(Aggregator):
    """Distribution over rankings with a worth per document, whose logarithm is the score."""

    pseudo: float = param(0.5, least=0.0)
    """Wins and losses of each document against a ghost of worth 1, so that worths stay finite."""
    unranked: Unranked = "last"
    """Documents that a list leaves out: after its own in an unknown order (`last`), or not there at all (`skip`)."""

    def __call__(self, rankings: Rankings) -> Consensus:
        with one_blas_thread():  # queries already use the cores
            return super().__call__(rankings)

    def slope(self, query: QueryRankings, log_worths: Array) -> Slope:
        """The log-likelihood of the lists with its derivatives."""
        raise NotImplementedError

    def information(self, query: QueryRankings, log_worths: Array) -> Array:
        """Minus all second derivatives of the log-likelihood."""  # (n, n)
        raise NotImplementedError

    def holds(self, query: QueryRankings) -> Flags:
        """Whether a list bounds the worth of j by that of i, at [i, j]."""  # (n, n)
        return wins(query) > 0.0

    def fit(self, query: QueryRankings) -> Worths:
        """The worths of one query's documents."""
        from scipy.special import expit

        seen, n = self._determined(query), query.n_documents
        s, iterations = self._climb(seen)
        chance = expit(s)
        information = self.information(seen, s) + np.diag(2.0 * self.pseudo * chance * (1.0 - chance))
        # without a ghost the level is free: 1/n in every cell fixes it, and centring removes it again
        inverse = np.linalg.inv(information + (1.0 / n if self.pseudo == 0.0 else 0.0))
        covariance = inverse - inverse.mean(axis=0) - inverse.mean(axis=1)[:, None] + inverse.mean()
        return Worths(query.document_ids, s - s.mean(), covariance, self.slope(seen, s).value, iterations)

    def one(self, query: QueryRankings) -> Array:
        s, _ = self._climb(self._determined(query))
        centred: Array = s - s.mean()
        return centred

    def _determined(self, query: QueryRankings) -> QueryRankings:
        """The lists as the model sees them; raises an error if they do not determine the worths."""
        seen = self.seen(query)
        if self.pseudo == 0.0:
            _need_determined(self.holds(seen), query)
        return seen

    def seen(self, query: QueryRankings) -> QueryRankings:
        """The lists that `slope` and `information` get, by default with missing documents as `unranked` says."""
        return lists(query, self.unranked)

    def _posterior(self, query: QueryRankings, s: Array) -> Slope:
        """The log-likelihood with the ghost's part: pseudo·(s − 2·log(1 + e^s)) per document."""
        from scipy.special import expit

        likelihood, chance = self.slope(query, s), expit(s)
        ghost = self.pseudo * float(np.sum(s - 2.0 * np.logaddexp(0.0, s)))
        gradient = likelihood.gradient + self.pseudo * (1.0 - 2.0 * chance)
        if self.pseudo == 0.0:
            gradient -= gradient.mean()  # the level is free, and would drift by rounding
        curvature = likelihood.curvature + 2.0 * self.pseudo * chance * (1.0 - chance)
        return Slope(likelihood.value + ghost, gradient, curvature)

    def _climb(self, query: QueryRankings) -> tuple[Array, int]:
        """The log-worths of maximum likelihood, and the number of steps."""
        s = np.zeros(query.n_documents)
        at, before = self._posterior(query, s), np.inf
        for iteration in range(1, _MOST_STEPS + 1):
            step = self._newton(query, s, at)
            size = float(np.abs(step).max())
            if size > _LONGEST:
                step *= _LONGEST / size
            while True:
                moved = self._posterior(query, s + step)
                if moved.value >= at.value - _ROUNDING * abs(at.value) or np.abs(step).max() < _TINY:
                    break
                step = 0.5 * step
            s, at = s + step, moved
            if size < _TINY or (size < _SMALL and size > 0.5 * before):  # there, or as near as rounding allows
                return s, iteration
            before = size
        return s, _MOST_STEPS

    def _newton(self, query: QueryRankings, s: Array, at: Slope) -> Array:
        """The step of Newton's method, by conjugate gradients preconditioned by the curvatures."""
        scale = np.maximum(at.curvature, 1e-12 * at.curvature.max() + np.finfo(float).tiny)
        step, left = np.zeros(len(s)), at.gradient.copy()
        near, goal = left / scale, 0.0
        along, energy = near.copy(), float(left @ near)
        goal = _SOLVED**2 * energy
        for _ in range(_MOST_PRODUCTS):
            if energy <= goal:
                break
            h = _DIFFERENCE / float(np.abs(along).max())
            up, down = self._posterior(query, s + h * along), self._posterior(query, s - h * along)
            product = (down.gradient - up.gradient) / (2.0 * h)
            bend = float(along @ product)
            if bend <= 0.0:  # flat to rounding
                break
            length = energy / bend
            step += length * along
            left -= length * product
            near = left / scale
            last, energy = energy, float(left @ near)
            along = near + energy / last * along
        return step


_MOST_STEPS = 200
_LONGEST = 5.0  # of one step of a log-worth: beyond, the quadratic model is poor
_SMALL, _TINY = 1e-8, 1e-13
_ROUNDING = 1e-14
_SOLVED = 1e-4  # the residual of a Newton step, relative to the gradient
_MOST_PRODUCTS = 500
_DIFFERENCE = 1e-4  # of log-worths, for products with the second derivatives: accurate to about 1e−8


def _need_determined(holds: Flags, query: QueryRankings) -> None:
    """Hunter's condition: from every document a chain of defeats must lead to every other."""
    parts = components(holds)
    if len(parts) > 1:
        few = [_names(query, part) for part in parts[:3]]
        raise DataError(
            f"query {query.query_id}: no list compares {few[0]} with {few[1]}: the documents fall into {len(parts)} "
            "groups whose worths cannot be compared. Fit each group by itself, or give pseudo a number above 0."
        )
    above, below = separated(holds)
    faults = [
        f"{_names(query, chosen)} {words}"
        for chosen, words in ((above, "never come after any of the others"), (below, "never come before any of them"))
        if chosen.any()
    ]
    if faults:
        raise DataError(
            f"query {query.query_id}: the likelihood has no maximum: in all lists {', and '.join(faults)}, so that "
            "they would be worth infinitely more or less. Take them out, or give pseudo a number above 0."
        )


def _names(query: QueryRankings, chosen: Flags) -> str:
    """A few documents by name."""
    names = [str(name) for name in query.document_ids[chosen]]
    return ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")


_FEW = 3
