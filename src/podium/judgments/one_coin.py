"""One-coin judges: each is right with a probability of their own, and wrong grades are alike."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.judgments.judge_tables import JudgeTables, Maximum, expected_counts, fit_tables
from podium.judgments.judgments import Judgments


def one_coin(
    judgments: Judgments, *, smoothing: float = 0.01, iterations: int = 1000, tolerance: float = 1e-8
) -> JudgeTables:
    """Estimate the posterior of each item's grade and how often each judge is right.

    Formula: P(g | t) = p_k if g = t, and (1 − p_k)/(L − 1) otherwise; p_k = (Σ T_{i,g_ik} + s)/(n_k + 2s).
    Use it for: few votes a judge, for whom the L² numbers of Dawid–Skene are too many.
    Reference: Zhang et al., Spectral methods meet EM, NeurIPS 2014.
    """
    size = len(judgments.scale)

    def maximise(posterior: Array) -> Maximum:
        counts = expected_counts(judgments, posterior)
        right = np.trace(counts, axis1=1, axis2=2) + smoothing
        p = right / (counts.sum(axis=(1, 2)) + 2.0 * smoothing)
        with np.errstate(divide="ignore"):
            prior = smoothing * float(np.sum(np.log(p) + np.log1p(-p))) if smoothing else 0.0
        return Maximum(coin_tables(p, size), prior)

    return fit_tables("one-coin", judgments, maximise, iterations=iterations, tolerance=tolerance)


def coin_tables(p: Array, size: int) -> Array:
    """Tables of judges who are right with probability p."""  # (J, L, L)
    wrong = (1.0 - p) / max(size - 1, 1)
    tables = np.broadcast_to(wrong[:, None, None], (len(p), size, size)).copy()
    tables[:, np.arange(size), np.arange(size)] = p[:, None] if size > 1 else 1.0
    return tables
