"""GLAD: judges differ in ability and documents in difficulty."""

from __future__ import annotations

import math

import numpy as np

from podium.base.arrays import Array
from podium.judgments.judge_tables import JudgeTables, check_votes, grade_codes
from podium.judgments.judgments import Judgments
from podium.judgments.one_coin import coin_tables


def glad(judgments: Judgments, *, iterations: int = 100, tolerance: float = 1e-6) -> JudgeTables:
    """Estimate the posterior of each item's grade, each judge's ability α and each item's ease β > 0.

    Formula: P(right) = σ(α_k β_i), wrong grades alike; α ~ N(1, 1), log β ~ N(0, 1). EM, M steps by L-BFGS.
    Use it for: documents of which some are hard for everybody.
    Reference: Whitehill et al., Whose vote should count more, NeurIPS 2009.
    """
    from scipy.optimize import minimize
    from scipy.special import expit, log_expit

    check_votes("GLAD", judgments)
    codes, counts = grade_codes(judgments), judgments.counts()
    n, size, rows = len(judgments.judges), len(judgments.scale), np.arange(len(codes))
    posterior = counts / counts.sum(axis=1, keepdims=True)
    x = np.append(np.ones(n), np.zeros(judgments.n_items))
    objective: list[float] = []

    def cost(x: Array, right: Array) -> tuple[float, Array]:
        alpha, beta = x[:n][judgments.judge_of], np.exp(x[n:])[judgments.items]
        z = alpha * beta
        value = right @ log_expit(z) + (1.0 - right) @ log_expit(-z)
        pull = right - expit(z)
        away = np.append(x[:n] - 1.0, x[n:])
        slopes = np.append(
            np.bincount(judgments.judge_of, pull * beta, n), np.bincount(judgments.items, pull * z, judgments.n_items)
        )
        return float(0.5 * away @ away - value), np.asarray(away - slopes)

    while True:
        prior = posterior.mean(axis=0)
        right = posterior[judgments.items, codes]
        x = minimize(cost, x, args=(right,), jac=True, method="L-BFGS-B", options={"maxiter": 50}).x
        z = x[:n][judgments.judge_of] * np.exp(x[n:])[judgments.items]
        log_wrong = log_expit(-z) - math.log(max(size - 1, 1))
        logs = np.repeat(log_wrong[:, None], size, axis=1)
        logs[rows, codes] = log_expit(z)
        with np.errstate(divide="ignore"):
            joint = np.tile(np.log(prior), (judgments.n_items, 1))
        np.add.at(joint, judgments.items, logs)
        evidence = np.logaddexp.reduce(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - evidence)
        away = np.append(x[:n] - 1.0, x[n:])
        objective.append(float(evidence.sum() - 0.5 * away @ away))
        if (len(objective) > 1 and objective[-1] - objective[-2] < tolerance * len(codes)) or len(
            objective
        ) == iterations:
            break
    chance = np.bincount(judgments.judge_of, expit(z), n) / np.bincount(judgments.judge_of, minlength=n)
    return JudgeTables(posterior, prior, coin_tables(chance, size), float(evidence.sum()), np.array(objective))
