"""Strengths of maximum likelihood from pairs, by Newton's method, with their covariance.

The likelihood is concave in the log-strengths s and the parameter t of ties. So that a maximum exists, each player wins
and loses `prior` times against an average player, of strength 1 (s = 0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.arena.duels import Pairs
from podium.arena.pair_laws import Derivatives, PairLaw
from podium.base.arrays import Array
from podium.base.errors import DataError

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class JudgeTerms:
    """How the battles of each pair of a judge differ: differences are stretched, ties are likelier or not."""

    slope: Array  # (P,)
    shift: Array  # (P,) added to the parameter of ties


@dataclass(frozen=True, eq=False)
class Strengths:
    """Log-strengths with mean 0, the parameter of ties, and the inverse of the information of both."""

    s: Array  # (m,)
    t: float
    inverse: Array  # (m+1, m+1) or (m, m)
    log_likelihood: float  # without the prior
    level: float  # what was subtracted so that the mean is 0

    @property
    def covariance(self) -> Array:
        """Of the log-strengths, by the information (Fisher)."""  # (m, m)
        return centred(self.inverse[: len(self.s), : len(self.s)])


def centred(covariance: Array) -> Array:
    """The covariance of differences from the mean of all."""
    middle = covariance.mean(axis=0)
    result: Array = covariance - middle - covariance.mean(axis=1)[:, None] + covariance.mean()
    return 0.5 * (result + result.T)


def fit(pairs: Pairs, law: PairLaw, *, prior: float, terms: JudgeTerms | None = None) -> Strengths:
    """Climb to the maximum of the log-likelihood and the prior, by damped Newton steps."""
    m, free = pairs.n_players, 1 if law.has_ties else 0
    x = np.append(np.zeros(m), [law.start] * free)
    value, gradient, information = _at(x, pairs, law, prior, terms)
    for _ in range(_MOST_STEPS):
        step = _solve(information, gradient)
        size = float(np.abs(step).max())
        step *= min(1.0, _LONGEST / max(size, 1e-300))
        if free and x[m] + step[m] <= law.least:
            step *= 0.5 * (x[m] - law.least) / -step[m]
        length = 1.0
        while True:
            moved = _at(x + length * step, pairs, law, prior, terms)
            if moved[0] >= value - _ROUNDING * abs(value) or length < _SHORTEST:
                break
            length *= 0.5
        x, (value, gradient, information) = x + length * step, moved
        if size < _CLOSE:
            break
    else:
        raise DataError(
            "the strengths do not converge: the data may be separated. Use a prior above 0, or more battles."
        )
    s, t = x[:m], float(x[m]) if free else 0.0
    ghost = prior * float(np.sum(s - 2.0 * np.logaddexp(0.0, s)))
    inverse: Array = np.asarray(np.linalg.inv(information), float)
    return Strengths(s - s.mean(), t, inverse, value - ghost, float(s.mean()))


def per_pair(s: Array, t: float, pairs: Pairs, law: PairLaw, terms: JudgeTerms | None) -> Derivatives:
    """The likelihood of each pair, with derivatives by the difference of log-strengths and by t."""
    d = pairs.differences(s)
    if terms is None:
        return law.derivatives(d, t, pairs.counts)
    r = law.derivatives(terms.slope * d, np.maximum(t + terms.shift, law.least + 1e-9), pairs.counts)
    return Derivatives(r.value, terms.slope * r.d, r.t, terms.slope**2 * r.dd, terms.slope * r.dt, r.tt)


def _at(x: Array, pairs: Pairs, law: PairLaw, prior: float, terms: JudgeTerms | None) -> tuple[float, Array, Array]:
    """The posterior, its gradient, and minus its second derivatives."""
    from scipy.special import expit

    m = pairs.n_players
    s, t = x[:m], float(x[m]) if len(x) > m else 0.0
    r = per_pair(s, t, pairs, law, terms)
    i, j = pairs.first, pairs.second
    chance = expit(s)
    gradient = np.zeros(len(x))
    gradient[:m] = np.bincount(i, r.d, m) - np.bincount(j, r.d, m) + prior * (1.0 - 2.0 * chance)
    # without a prior the level is free: 1/m in every cell fixes it, and centring removes it again
    information = np.full((len(x), len(x)), 1.0 / m if prior == 0.0 else 0.0)
    flat = np.bincount(np.concatenate([i * m + j, j * m + i]), np.concatenate([-r.dd, -r.dd]), m * m)
    information[:m, :m] += flat.reshape(m, m)
    on = np.bincount(i, r.dd, m) + np.bincount(j, r.dd, m) + 2.0 * prior * chance * (1.0 - chance)
    information[np.arange(m), np.arange(m)] += on
    if len(x) > m:
        gradient[m] = r.t.sum()
        information[m, :m] = information[:m, m] = np.bincount(i, r.dt, m) - np.bincount(j, r.dt, m)
        information[m, m] = r.tt.sum()
    value = float(r.value.sum() + prior * np.sum(s - 2.0 * np.logaddexp(0.0, s)))
    return value, gradient, information


def _solve(information: Array, gradient: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(information, gradient), float)
    except np.linalg.LinAlgError:
        raise DataError("the battles do not determine the strengths. Use a prior above 0, or more battles.") from None


def score_vectors(fitted: Strengths, pairs: Pairs, law: PairLaw, terms: JudgeTerms | None = None) -> sp.csr_array:
    """The gradient of each judge's battles, from pairs by judge."""  # (J, m+1) or (J, m), sparse
    import scipy.sparse as sp

    assert pairs.judge is not None, "of pairs by judge"
    m, judges = pairs.n_players, int(pairs.judge.max()) + 1
    r = per_pair(fitted.s, fitted.t, pairs, law, terms)
    columns = [pairs.first, pairs.second] + ([np.full(len(r.d), m)] if law.has_ties else [])
    values = [r.d, -r.d] + ([r.t] if law.has_ties else [])
    place = np.concatenate([pairs.judge] * len(columns)), np.concatenate(columns)
    return sp.csr_array((np.concatenate(values), place), shape=(judges, m + int(law.has_ties)))


def clustered(fitted: Strengths, pairs: Pairs, law: PairLaw, terms: JudgeTerms | None = None) -> Array:
    """The sandwich covariance of the log-strengths: battles of one judge may depend on each other."""  # (m, m)
    scores = score_vectors(fitted, pairs, law, terms)
    judges, m = scores.shape[0], len(fitted.s)
    middle = (scores.T @ scores).toarray() * (judges / (judges - 1.0))
    return centred((fitted.inverse @ middle @ fitted.inverse)[:m, :m])


_MOST_STEPS = 200
_LONGEST = 3.0
_SHORTEST = 1e-9
_CLOSE = 1e-10
_ROUNDING = 1e-14
