"""Stratified ratio of two click rates (Mantel–Haenszel); each stratum compares the same documents."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import AnyArray

Strata = tuple[AnyArray, AnyArray, AnyArray, AnyArray]
"""Impressions and clicks at rank k, impressions and clicks at rank 1, of each stratum; no impressions are 0."""


def ratio_of_rates(strata: Strata) -> tuple[float, float, float] | None:
    """θ_k/θ_1 with its 95 % interval; None if there are no clicks to compare.

    Formula: the ratio of Mantel and Haenszel, Σ c_k n_1/n / Σ c_1 n_k/n with n = n_k + n_1, and the variance of its
        logarithm by Greenland and Robins, Σ (n_k n_1 (c_k + c_1) − c_k c_1 n)/n² over the product of both sums.
    """
    n_k, c_k, n_1, c_1 = strata
    n = n_k + n_1
    up, down = float((c_k * n_1 / n).sum()), float((c_1 * n_k / n).sum())
    if down <= 0 or up <= 0:
        return None
    variance = float(((n_k * n_1 * (c_k + c_1) - c_k * c_1 * n) / n**2).sum()) / (up * down)
    spread = float(np.exp(1.96 * np.sqrt(max(variance, 0.0))))
    return up / down, up / down / spread, up / down * spread
