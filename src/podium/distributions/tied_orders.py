"""Rankings with ties whose weight is a product over pairs: sums over all of them, samples, and the heaviest one.

`win[i, j]` and `tie[i, j]` are the log-weights of a pair if i comes before j, and if they tie. Blocks of tied documents
are taken from the top; a block X, taken from X ∪ R, has the weight of the ties within X and of the wins of X over R, so
that V(R) = Σ_X weight(X, R∖X)·V(R∖X) sums over all rankings of R in 3^n steps. Sets are bit masks. For
more documents, rankings are drawn by a Gibbs sampler that takes out and reinserts one document at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.jit.compiled import compiled

MOST_FOR_SUBSETS = 12
"""Largest number of documents for sums over all rankings: 3^12 is half a million."""
BURN_IN = 50
"""Sweeps of the chain before its first sample."""


@compiled
def tables(win: Array, tie: Array) -> Any:
    """Σ win[i, j] over the j of each set (n, 2^n), and Σ tie over the pairs of each set (2^n,)."""
    n = len(win)
    beats, ties = np.zeros((n, 1 << n)), np.zeros(1 << n)
    for mask in range(1, 1 << n):
        first = 0
        while not (mask >> first) & 1:
            first += 1
        rest = mask ^ (1 << first)
        ties[mask] = ties[rest]
        for i in range(n):
            beats[i, mask] = beats[i, rest] + win[i, first]
            if (rest >> i) & 1:
                ties[mask] += tie[first, i]
    return beats, ties


@compiled
def log_sums(beats: Array, ties: Array) -> Any:
    """log V(R) for each set R."""
    sums = np.zeros(len(ties))
    for whole in range(1, len(ties)):
        top, total, block = -np.inf, 0.0, whole
        while block > 0:
            w = _weight(beats, ties, block, whole ^ block) + sums[whole ^ block]
            if w > top:
                total, top = total * math.exp(top - w) + 1.0, w
            else:
                total += math.exp(w - top)
            block = (block - 1) & whole
        sums[whole] = top + math.log(total)
    return sums


@compiled
def _weight(beats: Array, ties: Array, block: int, rest: int) -> Any:
    total = ties[block]
    for i in range(len(beats)):
        if (block >> i) & 1:
            total += beats[i, rest]
    return total


@compiled
def marginals(beats: Array, ties: Array, sums: Array) -> Any:
    """P(document i has rank r + 1) at [i, r] and P(i comes before j) at [i, j]."""
    n = len(beats)
    ranks, before, reach = np.zeros((n, n)), np.zeros((n, n)), np.zeros((1 << n, n + 1))
    reach[len(ties) - 1, 0] = 1.0  # P(the set remains after this number of blocks)
    for whole in range(len(ties) - 1, 0, -1):
        ever = np.sum(reach[whole])
        block = whole if ever > 0.0 else 0
        while block > 0:
            rest = whole ^ block
            p = math.exp(_weight(beats, ties, block, rest) + sums[rest] - sums[whole])
            for k in range(n):
                reach[rest, k + 1] += p * reach[whole, k]
            for i in range(n):
                if (block >> i) & 1:
                    for k in range(n):
                        ranks[i, k] += p * reach[whole, k]
                        before[i, k] += p * ever if (rest >> k) & 1 else 0.0
            block = (block - 1) & whole
    return ranks, before


@compiled
def draw(beats: Array, ties: Array, sums: Array, uniforms: Array, places: Ints) -> None:
    """Sample rankings (size, n) from uniform numbers (size, n), block by block."""
    for d in range(len(places)):
        whole, place = len(ties) - 1, 0
        while whole > 0:
            block, left = whole, uniforms[d, place]
            while True:
                rest = whole ^ block
                left -= math.exp(_weight(beats, ties, block, rest) + sums[rest] - sums[whole])
                if left < 0.0 or ((block - 1) & whole) == 0:
                    break
                block = (block - 1) & whole
            place += 1
            for i in range(len(beats)):
                if (block >> i) & 1:
                    places[d, i] = place
            whole = rest


@compiled
def run_chain(win: Array, tie: Array, uniforms: Array, state: Ints, places: Ints) -> None:
    """Gibbs sampler: row d of `places` is the ranking after d + 1 sweeps over all documents, from `state` on (changed).

    Each document in turn is put before, after or into any block of the others, by its conditional probability.
    """
    n = len(win)
    higher, equal, lower = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    logits = np.empty(2 * n + 1)  # before block 0, into it, before block 1, …, after the last
    for d in range(len(places)):
        for i in range(n):
            blocks = _take_out(state, i)
            for b in range(blocks + 1):
                higher[b], equal[b], lower[b] = 0.0, 0.0, 0.0
            for j in range(n):
                if j != i:
                    higher[state[j]] += win[j, i]
                    equal[state[j]] += tie[i, j]
                    lower[state[j]] += win[i, j]
            now, top = np.sum(lower[:blocks]), -np.inf  # its log-weight before all
            for b in range(blocks):
                logits[2 * b], logits[2 * b + 1] = now, now - lower[b] + equal[b]
                now += higher[b] - lower[b]
            logits[2 * blocks] = now
            for k in range(2 * blocks + 1):
                top = max(top, logits[k])
            k = _choose(logits[: 2 * blocks + 1], top, uniforms[d, i])
            if k % 2 == 0:
                for j in range(n):
                    if j != i and state[j] >= k // 2:
                        state[j] += 1
            state[i] = k // 2
        for i in range(n):
            places[d, i] = state[i] + 1


@compiled
def _take_out(state: Ints, i: int) -> int:
    """Close the gap that document i leaves, if it was alone; returns the number of blocks of the others."""
    alone, blocks = True, 0
    for j in range(len(state)):
        if j != i:
            alone = alone and state[j] != state[i]
    for j in range(len(state)):
        if j != i:
            if alone and state[j] > state[i]:
                state[j] -= 1
            blocks = max(blocks, state[j] + 1)
    return blocks


@compiled
def _choose(logs: Array, top: float, uniform: float) -> int:
    """Index that a uniform number selects, P ∝ e^logs."""
    total = 0.0
    for log in logs:
        total += math.exp(log - top)
    left = uniform * total
    for k in range(len(logs)):
        left -= math.exp(logs[k] - top)
        if left < 0.0:
            return k
    return len(logs) - 1


def heaviest(win: Array, tie: Array) -> Ints:
    """Ranks of the heaviest ranking of documents in descending order of score.

    If win − tie and tie − win grow with the score difference, as in both models of pairs, swapping two documents that
    are ranked against their scores increases the weight; so blocks are runs of the order of scores.
    """
    n = len(win)
    over = np.zeros((n, n + 1))  # Σ win[p, q] over q ≥ b
    over[:, :n] = np.cumsum(np.triu(win, 1)[:, ::-1], axis=1)[:, ::-1]
    wins = np.vstack([np.zeros(n + 1), np.cumsum(over, axis=0)])  # … and over the documents before p
    within = np.zeros((n + 1, n + 1))
    within[1:, 1:] = np.cumsum(np.cumsum(np.triu(tie, 1), axis=0), axis=1)
    best, cut = np.zeros(n + 1), np.zeros(n + 1, np.int64)
    for a in range(n - 1, -1, -1):
        ends = np.arange(a + 1, n + 1)
        ties = within[ends, ends] - within[a, ends]
        totals = ties + wins[ends, ends] - wins[a, ends] + best[ends]
        best[a], cut[a] = totals.max(), ends[int(np.argmax(totals))]
    ranks, a, rank = np.empty(n, np.int64), 0, 0
    while a < n:
        rank += 1
        ranks[a : cut[a]], a = rank, int(cut[a])
    return ranks
