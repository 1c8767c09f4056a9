"""Dawid–Skene (1979): consensus labels and the error rates of each judge, estimated together by EM.

>>> from podium.judgments.judgments import Judgments
>>> items, judges = [str(i) for i in range(6) for _ in range(3)], list("xyz") * 6
>>> votes = Judgments.from_rows(["q"] * 18, items, judges, [0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0])
>>> dawid_skene(votes).accuracy.round(2).tolist()  # z disagrees with the others on four of six
[1.0, 1.0, 0.33]
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ParameterError
from podium.judgments.judge_tables import JudgeTables, Maximum, expected_counts, fit_tables
from podium.judgments.judgments import Judgments


def dawid_skene(
    judgments: Judgments, *, smoothing: float = 0.01, iterations: int = 1000, tolerance: float = 1e-8
) -> JudgeTables:
    """Estimate the posterior of each item's grade and the confusion matrix of each judge.

    Formula: T_ij ∝ p_j Π_k Π_l (π^k_jl)^{n^k_il}; p_j = mean_i T_ij; π^k_jl = (Σ_i T_ij n^k_il + s)/(Σ_l … + L·s), with
        n^k_il = 1 if judge k gave item i the grade l, and s the `smoothing`. T starts as the shares of the votes.
    Cost: O(judgments · L) per iteration. It stops when the objective rises by less than `tolerance` per judgment.
    Use it for: judges of unequal quality who share items. With fewer than two judgments an item on average, a judge's
        errors cannot be separated from the grades, and it raises an error.
    Reference: Dawid and Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, 1979.
    """
    if not (smoothing >= 0.0 and iterations >= 1 and tolerance > 0.0):
        raise ParameterError("dawid_skene needs smoothing ≥ 0, iterations ≥ 1 and tolerance > 0.")

    def maximise(posterior: Array) -> Maximum:
        tables = expected_counts(judgments, posterior) + smoothing
        size, total = posterior.shape[1], tables.sum(axis=2, keepdims=True)
        has_data = np.broadcast_to(total > 0.0, tables.shape)  # a row without data is uniform
        shares = np.divide(tables, total, out=np.full(tables.shape, 1.0 / size), where=has_data)
        with np.errstate(divide="ignore"):
            return Maximum(shares, smoothing * float(np.log(shares).sum()) if smoothing else 0.0)

    return fit_tables("Dawid–Skene", judgments, maximise, iterations=iterations, tolerance=tolerance)
