"""Ordinal judges: the further a grade is from the true one, the rarer, with a spread for each judge."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.judgments.judge_tables import JudgeTables, Maximum, expected_counts, fit_tables
from podium.judgments.judgments import Judgments

_MOST = 20.0
"""The largest 1/τ, in steps of the scale: such a judge is never wrong."""


def ordinal(judgments: Judgments, *, smoothing: float = 0.01, iterations: int = 1000) -> JudgeTables:
    """Estimate the posterior of each item's grade and the spread of each judge.

    Formula: P(g | t) ∝ exp(−|g − t|/τ_k); 1/τ_k ≥ 0 by Newton's method, the likelihood is concave in it.
    Use it for: grades with an order, of which near misses are likelier than far ones; one number a judge.
    """
    scale = judgments.scale
    apart = np.abs(scale[:, None] - scale) / (np.diff(scale).mean() if len(scale) > 1 else 1.0)  # (true, given)
    state = np.ones(len(judgments.judges))  # 1/τ

    def tables_of(sharp: Array) -> Array:
        logs = -sharp[:, None, None] * apart
        weights = np.exp(logs)
        return np.asarray(weights / weights.sum(axis=2, keepdims=True))

    def maximise(posterior: Array) -> Maximum:
        nonlocal state
        counts = expected_counts(judgments, posterior) + smoothing
        for _ in range(50):
            tables = tables_of(state)
            mean = (tables * apart).sum(axis=2)
            spread = (tables * apart**2).sum(axis=2) - mean**2
            per_grade = counts.sum(axis=2)
            gradient = (per_grade * mean).sum(axis=1) - (counts * apart).sum(axis=(1, 2))
            step = gradient / np.maximum((per_grade * spread).sum(axis=1), 1e-12)
            before, state = state, np.clip(state + np.clip(step, -2.0, 2.0), 0.0, _MOST)
            if np.abs(state - before).max(initial=0.0) < 1e-10:
                break
        tables = tables_of(state)
        return Maximum(tables, smoothing * float(np.log(tables).sum()))

    return fit_tables("ordinal", judgments, maximise, iterations=iterations)
