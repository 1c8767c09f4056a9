"""Wawa: votes weighted by how often each judge agrees with the majority (worker agreement with aggregate)."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.judgments.judge_tables import JudgeTables, grade_codes
from podium.judgments.judgments import Judgments
from podium.judgments.one_coin import coin_tables


def wawa(judgments: Judgments, majority: Array) -> JudgeTables:
    """Weigh votes by each judge's share of agreement with the `majority` labels; the posterior is the shares of weight.

    Formula: w_k = mean_i 1[g_ik = majority_i]; T_ij ∝ Σ_k w_k 1[g_ik = j]. If all judges of an item have weight 0, its
        votes count alike.
    Use it for: a quick second look at the majority; dawid-skene is better if judges share documents.
    """
    codes, size = grade_codes(judgments), len(judgments.scale)
    agrees = judgments.grades == majority[judgments.items]
    weight = np.bincount(judgments.judge_of, agrees) / np.bincount(judgments.judge_of)
    cells = judgments.items * size + codes
    total = np.bincount(cells, weight[judgments.judge_of], judgments.n_items * size).reshape(-1, size)
    total = np.where(total.sum(axis=1, keepdims=True) > 0.0, total, judgments.counts())
    shares = total / total.sum(axis=1, keepdims=True)
    return JudgeTables(shares, shares.mean(axis=0), coin_tables(weight, size), float("nan"), np.empty(0))
