"""Dawid–Skene (1979): consensus labels and the error rates of each judge, estimated together by EM.

>>> from podium.judgments.judgments import Judgments
>>> items, judges = [str(i) for i in range(6) for _ in range(3)], list("xyz") * 6
>>> votes = Judgments.from_rows(["q"] * 18, items, judges, [0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0])
>>> dawid_skene(votes).accuracy.round(2).tolist()  # z disagrees with the others on four of six
[1.0, 1.0, 0.33]
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ConvergenceWarning, DataError, ParameterError, PodiumWarning
from podium.judgments.judgments import Judgments


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """Result of Dawid–Skene; grades are those of `Judgments.scale`."""

    posterior: Array  # (I, L) the probability of each grade of each item
    prior: Array  # (L,) how often each grade is the true one
    tables: Array  # (J, L, L) P(judge gives the second grade | the first is true)
    log_likelihood: float
    objective: Array  # (iterations,) log-likelihood + s·Σ log π, which never falls

    @property
    def accuracy(self) -> Array:
        """Probability that each judge gives the true grade: Σ_j p_j π_jj."""  # (J,)
        return np.asarray(np.einsum("j,kjj->k", self.prior, self.tables))


def dawid_skene(
    judgments: Judgments, *, smoothing: float = 0.01, iterations: int = 1000, tolerance: float = 1e-8
) -> DawidSkene:
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
    _check(judgments)
    codes = np.searchsorted(judgments.scale, judgments.grades)
    counts = judgments.counts()
    posterior = counts / counts.sum(axis=1, keepdims=True)
    objective: list[float] = []
    while True:
        prior, tables = _maximise(judgments, codes, posterior, smoothing)
        with np.errstate(divide="ignore"):
            log_prior, log_tables = np.log(prior), np.log(tables)
        posterior, value = _expect(judgments, codes, log_prior, log_tables)
        objective.append(value + (smoothing * float(log_tables.sum()) if smoothing else 0.0))
        if len(objective) > 1 and objective[-1] - objective[-2] < tolerance * len(codes):
            break
        if len(objective) == iterations:
            warnings.warn(
                f"Dawid–Skene had not converged after {iterations} iterations: allow more.",
                ConvergenceWarning,
                stacklevel=2,
            )
            break
    return DawidSkene(posterior, prior, tables, value, np.array(objective))


def _maximise(votes: Judgments, codes: Ints, posterior: Array, smoothing: float) -> tuple[Array, Array]:
    """M step: the prior, and the judges' tables; a row without data is uniform."""
    size = posterior.shape[1]
    tables = np.zeros((len(votes.judges), size, size))
    np.add.at(tables.transpose(0, 2, 1), (votes.judge_of, codes), posterior[votes.items])
    tables += smoothing
    total = tables.sum(axis=2, keepdims=True)
    has_data = np.broadcast_to(total > 0.0, tables.shape)
    return posterior.mean(axis=0), np.divide(tables, total, out=np.full(tables.shape, 1.0 / size), where=has_data)


def _expect(votes: Judgments, codes: Ints, log_prior: Array, log_tables: Array) -> tuple[Array, float]:
    """E step: the posterior of each item, and the log-likelihood of all judgments."""
    joint = np.tile(log_prior, (votes.n_items, 1))
    np.add.at(joint, votes.items, log_tables[votes.judge_of, :, codes])
    evidence = np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return np.exp(joint - evidence), math.fsum(evidence.ravel().tolist())


def _check(judgments: Judgments) -> None:
    """Raise a clear error if grades and the judges' errors cannot be separated; warn about judges who share no item."""
    votes = judgments.votes
    if votes.mean() < 2.0:
        raise DataError(
            f"Dawid–Skene needs at least two judgments an item on average to tell a judge's errors from the grades; "
            f"got {votes.mean():.3g}. Have more items judged twice, or use majority.",
            where=judgments.source,
        )
    shares = np.zeros(len(judgments.judges), bool)
    shares[judgments.judge_of[votes[judgments.items] > 1]] = True
    lone = [judge for judge, shared in zip(judgments.judges, shares.tolist(), strict=True) if not shared]
    if lone:
        warnings.warn(
            f"{', '.join(lone[:5])}: no other judge graded an item of theirs, so their errors are unknown.",
            PodiumWarning,
            stacklevel=3,
        )
