"""Random numbers inside kernels: the generator SplitMix64, seeded by the seed of a loss and the grades of a query.

A kernel has its own state, so the same seed gives the same bits with any number of threads:

    state = start(seed, ends)
    state = advance(state)
    u = uniform(state)          # or below(state, n)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled, outlined

_STEP, _MIX_1, _MIX_2 = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_11, _27, _30, _31, _32 = (np.uint64(c) for c in (11, 27, 30, 31, 32))
_ULP = 2.0**-53


@compiled
def start(seed: float, ends: Ints) -> Any:
    """Initial state for a query whose blocks of equal grades end at `ends`, so that queries differ in their draws."""
    state = np.uint64(seed)
    for end in ends:
        state = _bits(state) ^ np.uint64(end)
    return state


@compiled
def advance(state: np.uint64) -> Any:
    """State of the next draw."""
    return state + _STEP


@compiled
def below(state: np.uint64, n: int) -> Any:
    """Uniform integer from 0 to n − 1."""
    return np.int64(((_bits(state) >> _32) * np.uint64(n)) >> _32)


@compiled
def uniform(state: np.uint64) -> Any:
    """Uniform number in [0, 1)."""
    return np.float64(_bits(state) >> _11) * _ULP


@compiled
def _bits(state: np.uint64) -> Any:
    z = (state ^ (state >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@compiled
def shuffle(ranked: Ints, state: np.uint64) -> Any:
    """Shuffle documents (Fisher–Yates); returns the next state."""
    for p in range(len(ranked) - 1, 0, -1):
        state = advance(state)
        q = below(state, p + 1)
        ranked[p], ranked[q] = ranked[q], ranked[p]
    return state


@compiled
def shuffle_blocks(ranked: Ints, ends: Ints, state: np.uint64) -> Any:
    """Shuffle the documents of each block; returns the next state."""
    first = 0
    while first < len(ranked):
        state = shuffle(ranked[first : ends[first]], state)
        first = ends[first]
    return state


@outlined("void(float64[::1], int64[::1], int64[::1], float64[::1])")
def share(scores: Array, order: Ints, ends: Ints, numbers: Array) -> None:
    """Average numbers over documents of equal grade and score, which random draws leave unequal."""
    first = 0
    while first < len(order):
        end, total = first + 1, numbers[order[first]]  # a score that is NaN equals nothing, not even itself
        while end < ends[first] and scores[order[end]] == scores[order[first]]:
            total += numbers[order[end]]
            end += 1
        for p in range(first, end if end > first + 1 else first):
            numbers[order[p]] = total / (end - first)
        first = end
