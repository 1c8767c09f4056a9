"""Models of judges with a table of errors each, fitted by EM: what Dawid–Skene and its simpler relatives share.

The E step is the posterior of each item's grade, T_ij ∝ p_j Π_k Π_l (π^k_jl)^{n^k_il}; the M step, which differs, gives
each judge's table π^k_jl = P(judge k gives l | j is true). The prior p is the mean posterior.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ConvergenceWarning, DataError, PodiumWarning, counted
from podium.judgments.judgments import MOST_CELLS, Judgments


@dataclass(frozen=True, eq=False)
class JudgeTables:
    """Consensus with the errors of each judge; grades are those of `Judgments.scale`."""

    posterior: Array  # (I, L) the probability of each grade of each item
    prior: Array  # (L,) how often each grade is the true one
    tables: Array  # (J, L, L) P(judge gives the second grade | the first is true)
    log_likelihood: float
    objective: Array  # (iterations,) log-likelihood and log-prior of the parameters, which never falls

    @property
    def accuracy(self) -> Array:
        """Probability that each judge gives the true grade: Σ_j p_j π_jj."""  # (J,)
        return np.asarray(np.einsum("j,kjj->k", self.prior, self.tables))


class Maximum(NamedTuple):
    """Result of an M step."""

    tables: Array  # (J, L, L)
    log_prior: float = 0.0  # of the parameters


def fit_tables(
    what: str,
    judgments: Judgments,
    maximise: Callable[[Array], Maximum],
    *,
    iterations: int = 1000,
    tolerance: float = 1e-8,
) -> JudgeTables:
    """Alternate M and E steps from the shares of votes, until the objective rises by less than `tolerance` a vote."""
    check_votes(what, judgments)
    codes, counts = grade_codes(judgments), judgments.counts()
    posterior = counts / counts.sum(axis=1, keepdims=True)
    objective: list[float] = []
    while True:
        prior, best = posterior.mean(axis=0), maximise(posterior)
        with np.errstate(divide="ignore"):
            posterior, value = _expect(judgments, codes, np.log(prior), np.log(best.tables))
        objective.append(value + best.log_prior)
        if len(objective) > 1 and objective[-1] - objective[-2] < tolerance * len(codes):
            break
        if len(objective) == iterations:
            warnings.warn(
                f"{what} had not converged after {iterations} iterations: allow more.", ConvergenceWarning, stacklevel=3
            )
            break
    return JudgeTables(posterior, prior, best.tables, value, np.array(objective))


def grade_codes(judgments: Judgments) -> Ints:
    """The number of each vote's grade on the scale."""  # (R,)
    return np.searchsorted(judgments.scale, judgments.grades)


def expected_counts(votes: Judgments, posterior: Array) -> Array:
    """How often each judge gave each grade when each was true, by the posterior."""  # (J, true, given)
    size = posterior.shape[1]
    counts = np.zeros((len(votes.judges), size, size))
    np.add.at(counts.transpose(0, 2, 1), (votes.judge_of, grade_codes(votes)), posterior[votes.items])
    return counts


def _expect(votes: Judgments, codes: Ints, log_prior: Array, log_tables: Array) -> tuple[Array, float]:
    """E step: the posterior of each item, and the log-likelihood of all judgments."""
    joint = np.tile(log_prior, (votes.n_items, 1))
    np.add.at(joint, votes.items, log_tables[votes.judge_of, :, codes])
    evidence = np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return np.exp(joint - evidence), math.fsum(evidence.ravel().tolist())


def check_votes(what: str, judgments: Judgments) -> None:
    """Raise a clear error if grades and the judges' errors cannot be separated; warn about judges who share no item."""
    votes, judges, grades = judgments.votes, len(judgments.judges), len(judgments.scale)
    if judges * grades**2 > MOST_CELLS:
        raise DataError(
            f"{what} has a table of all pairs of grades for each judge, which is too large for {grades} different "
            f"grades and {counted(judges, 'judge')}. Round the grades, or use majority.",
            where=judgments.source,
        )
    if votes.mean() < 2.0:
        raise DataError(
            f"{what} needs at least two judgments an item on average to tell a judge's errors from the grades; "
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
