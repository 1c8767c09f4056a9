"""Simultaneous confidence intervals of ranks, from the covariance of the strengths.

    rank of j ∈ [1 + #{k significantly better}, m − #{k significantly worse}]

k is significantly better than j if (s_k − s_j)/se_kj is above c, the quantile of max over all pairs of
|z_k − z_j|/se_kj, z ~ N(0, covariance): the max-t bootstrap with Gaussian weights. So with the stated confidence all
ranks are within their intervals at once. If the covariance is estimated from the scores of J judges, which are few
against m players, z is Student's with J − 1 degrees of freedom, and neither c nor any se is below that of Fisher's
information: a sandwich of rank J is too small for some pairs, and the largest |t| finds them.
Reference: Mogstad, Romano, Shaikh & Wilhelm, Inference for ranks, 2024.
"""

from __future__ import annotations

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Ints


def standard_errors(covariance: Array) -> Array:
    """The standard error of each difference."""  # (m, m)
    variances = np.diag(covariance)
    return np.sqrt(np.maximum(variances[:, None] + variances[None, :] - 2.0 * covariance, 0.0))


def critical_value(covariance: Array, *, level: float = 0.95, seed: int = 0, degrees: float | None = None) -> float:
    """The quantile of the largest |t| of all pairs, normal or with degrees of freedom."""
    m = len(covariance)
    draws = int(np.clip(_WORK // (m * m), _LEAST, _MOST))
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = random_numbers(seed)
    z = rng.standard_normal((draws, m)) @ root.T
    apart = standard_errors(covariance)
    inverse = np.divide(1.0, apart, out=np.zeros_like(apart), where=apart > 0.0)
    largest = np.zeros(draws)
    for i in range(m - 1):
        t = np.abs(z[:, i, None] - z[:, i + 1 :]) * inverse[i, i + 1 :]
        np.maximum(largest, t.max(axis=1), out=largest)
    if degrees is not None:
        largest /= np.sqrt(rng.chisquare(degrees, draws) / degrees)
    return float(np.quantile(largest, level))


def rank_intervals(strengths: Array, apart: Array, critical: float) -> tuple[Ints, Ints]:
    """The lowest and the highest rank of each player, from the standard error of each difference."""  # (m,), (m,)
    better = strengths[None, :] - strengths[:, None] > critical * apart + _ROUNDING
    return 1 + better.sum(axis=1), len(strengths) - better.sum(axis=0)


_WORK = 2 * 10**8  # cells of all draws
_LEAST, _MOST = 500, 4000
_ROUNDING = 1e-12
