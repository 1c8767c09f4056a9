"""Markov chains over subsets of the remaining documents, P(S) ∝ e^{mean of f over S}, and their contrastive gradient.

A chain changes a subset, given as a mask, in place:

    move(f, inside, state) -> state

The empty set cannot be chosen, so no chain visits it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.arrays import Array, Flags
from podium.jit.compiled import compiled, inlined
from podium.kernels.blocks import by_grade_and_score, take, turn
from podium.kernels.draws import advance, below, share, start, uniform

Move = Callable[[Array, Flags, np.uint64], np.uint64]


@compiled
def gibbs(f: Array, inside: Flags, state: np.uint64) -> Any:
    """One Gibbs scan: each document in turn is put in with probability Φ(S + i) / (Φ(S + i) + Φ(S − i)), else out."""
    total, count = _sum_inside(f, inside)
    for i in range(len(f)):
        if inside[i]:
            total -= f[i]
            count -= 1
        state = advance(state)
        gain = (total + f[i]) / (count + 1) - total / count if count > 0 else np.inf
        inside[i] = uniform(state) * (1.0 + math.exp(min(-gain, 700.0))) < 1.0
        if inside[i]:
            total += f[i]
            count += 1
    return state


@compiled
def metropolis_hastings(f: Array, inside: Flags, state: np.uint64) -> Any:
    """One Metropolis–Hastings step: propose a uniform size m, then a uniform subset of m documents.

    A subset of size m is proposed with probability 1/(N·C(N, m)), so S replaces X with the probability
    Φ(S)/Φ(X) · C(N, |S|)/C(N, |X|).
    """
    n = len(f)
    proposed = np.zeros(n, np.bool_)
    state = advance(state)
    size = 1 + below(state, n)
    wanted = size
    for i in range(n):
        state = advance(state)
        proposed[i] = uniform(state) * (n - i) < wanted
        wanted -= proposed[i]
    (old_total, old), (new_total, new) = _sum_inside(f, inside), _sum_inside(f, proposed)
    log_ratio = new_total / new - old_total / old + _log_choices(n, new) - _log_choices(n, old)
    state = advance(state)
    if uniform(state) < math.exp(min(log_ratio, 0.0)):
        for i in range(n):
            inside[i] = proposed[i]
    return state


@compiled
def _sum_inside(f: Array, inside: Flags) -> Any:
    total, count = 0.0, 0
    for i in range(len(f)):
        if inside[i]:
            total += f[i]
            count += 1
    return total, count


@compiled
def _log_choices(n: int, m: int) -> Any:
    return math.lgamma(n + 1.0) - math.lgamma(m + 1.0) - math.lgamma(n - m + 1.0)


@inlined
def contrast(move: Move, scores: Array, labels: Array, gradient: Array, curvature: Array, params: Array) -> Any:
    """Σ_k (mean of s over S) − (mean of s over X_k), S from a few steps of a chain that starts at X_k; S held fixed.

    Parameters: backward, samples, seed. The curvature is the term of one subset in E[a²]; that of a contrast is 0.
    """
    n, sign, first, value = len(scores), -1.0 if params[0, 0] else 1.0, 0, 0.0
    turned = turn(scores, sign)
    order, ends = by_grade_and_score(turned, turn(labels, sign))
    f, state = take(turned, order), start(params[0, 2], ends)
    inside, slope, bend = np.zeros(n, np.bool_), np.zeros(n), np.zeros(n)
    while first < n:
        end = ends[first]
        once, twice = np.zeros(n - first), np.zeros(n - first)
        for p in range(first, n):
            inside[p] = p < end
        for _ in range(int(params[0, 1])):
            state = move(f[first:], inside[first:], state)
            _count(inside[first:], once, twice)
        for p in range(first, n):
            seen = 1.0 / (end - first) if p < end else 0.0
            slope[p] += once[p - first] / params[0, 1] - seen
            bend[p] += twice[p - first] / params[0, 1] + seen * seen
        first = end
    for p in range(n):
        value += slope[p] * f[p]
        gradient[order[p]], curvature[order[p]] = sign * slope[p], bend[p]
    share(turned, order, ends, gradient)
    share(turned, order, ends, curvature)
    return value


@compiled
def _count(inside: Flags, once: Array, twice: Array) -> None:
    """Add a_i = 1/|S| of the documents in S, and a_i²."""
    size = 0
    for member in inside:
        size += member
    for i in range(len(inside)):
        if inside[i]:
            once[i] += 1.0 / size
            twice[i] += 1.0 / (size * size)
