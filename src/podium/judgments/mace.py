"""MACE: a judge knows the grade, or answers by a habit of their own."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.judgments.judge_tables import JudgeTables, Maximum, expected_counts, fit_tables
from podium.judgments.judgments import Judgments


def mace(judgments: Judgments, *, smoothing: float = 0.1, iterations: int = 1000) -> JudgeTables:
    """Estimate the posterior of each item's grade, how often each judge knows it, and what each says otherwise.

    Formula: P(g | t) = θ_k·1[g = t] + (1 − θ_k)·ξ_k(g); each M step takes a few steps of EM over who knew.
    Use it for: judges who click anything, or always the same grade.
    Reference: Hovy et al., Learning whom to trust with MACE, NAACL 2013.
    """
    size, n = len(judgments.scale), len(judgments.judges)
    knows, habit = np.full(n, 0.5), np.full((n, size), 1.0 / size)
    same = np.eye(size)

    def tables_of(knows: Array, habit: Array) -> Array:
        return np.asarray(knows[:, None, None] * same + (1.0 - knows)[:, None, None] * habit[:, None, :])

    def maximise(posterior: Array) -> Maximum:
        nonlocal knows, habit
        counts = expected_counts(judgments, posterior)
        right = np.einsum("kjj->kj", counts)
        for _ in range(10):
            known = right * (knows[:, None] / (knows[:, None] + (1.0 - knows)[:, None] * habit))
            guessed = counts.sum(axis=1) - known
            knows = (known.sum(axis=1) + smoothing) / (counts.sum(axis=(1, 2)) + 2.0 * smoothing)
            habit = (guessed + smoothing) / (guessed.sum(axis=1, keepdims=True) + size * smoothing)
        log_prior = float(np.sum(np.log(knows) + np.log1p(-knows)) + np.log(habit).sum())
        return Maximum(tables_of(knows, habit), smoothing * log_prior)

    return fit_tables("MACE", judgments, maximise, iterations=iterations)
