"""Blocks of ordered partitions: those of PMOP-FD as a race; those of other models by sums over subsets.

Documents arrive as in Plackett–Luce. The first of N remaining ones leads a block of m, P(m) = C(N, m)/(2^N − 1), whose
other members are drawn uniformly from the N − 1 others. The rest continues in the same way. So any set of m − 1 others
goes along with the leader with probability (N/m)/(2^N − 1), whichever document leads.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.jit.compiled import compiled

MOST_FOR_BLOCKS = 150
"""Largest number of documents for `block_sizes`, which is O(n⁴): half a second."""
MOST_FOR_SUBSETS = 12
"""Largest number of documents for sums over all pairs of a set and its subset: 3^12 is half a million."""
CAUTION = "how many documents tie is a property of this distribution, whatever the scores, and no prediction"
"""Caution of all ordered partitions: about half of the remaining documents tie."""
_DEEP = 40  # number of blocks that matter: each takes about half of the remaining documents


def sample(n: int, rng: np.random.Generator, size: int) -> Ints:
    """Sample the block, from 1, of each rank of a race of n, `size` times, one per row."""  # (size, n)
    blocks = np.zeros((size, n), np.int64)
    for row in blocks:
        _draw(rng, row)
    return blocks


@compiled
def _draw(rng: np.random.Generator, blocks: Ints) -> None:
    """Fill `blocks`, all 0, stage by stage."""
    left, block = len(blocks), 0
    while left > 0:
        block += 1
        size = 0
        while size == 0:  # of a random non-empty subset
            for _ in range(left):
                size += rng.random() < 0.5
        left -= size
        wanted, others, led = size - 1, left + size - 1, False
        for p in range(len(blocks)):
            if blocks[p] == 0:
                if not led:
                    led, blocks[p] = True, block
                else:
                    if rng.random() * others < wanted:
                        blocks[p] = block
                        wanted -= 1
                    others -= 1


@functools.cache
def block_sizes(n: int) -> Array:
    """P(rank p + 1 of a race of n is in block r + 1) at [p, r]."""  # (n, n)
    chances = np.zeros((n, n))
    _fill_block_sizes(chances, min(n, _DEEP))
    chances.setflags(write=False)
    return chances


@compiled
def _fill_block_sizes(chances: Array, deep: int) -> None:
    """Recursion on the numbers of remaining documents that arrive before a document, and after it.

    With a before and b after it, N = a + b + 1, the leader is before it; x of the other a − 1 and y of the b go along.
    Subsets are counted as probabilities of fair coins, C(a − 1, x)/2^{a−1}, so that nothing overflows.
    """
    n = len(chances)
    coins = np.zeros((n + 1, n + 1))
    coins[0, 0] = 1.0
    for k in range(1, n + 1):
        coins[k, 0] = 0.5 * coins[k - 1, 0]
        for x in range(1, k + 1):
            coins[k, x] = 0.5 * (coins[k - 1, x] + coins[k - 1, x - 1])
    block = np.zeros((n, n, deep))
    for rest in range(n):
        for a in range(rest + 1):
            b = rest - a
            if a == 0:
                block[a, b, 0] = 1.0
            else:
                _one_stage(a, b, coins, block)
    for p in range(n):
        chances[p, :deep] = block[p, n - 1 - p]


@compiled
def _one_stage(a: int, b: int, coins: Array, block: Array) -> None:
    size = a + b + 1.0
    each = size / (4.0 - 2.0 ** (2.0 - size))  # N·2^{N−2}/(2^N − 1)
    here = block[a, b]
    stays = 0.0
    for x in range(a):
        for y in range(b + 1):
            weight = each * coins[a - 1, x] * coins[b, y]
            stays += weight / (x + y + 1.0)
            left = block[a - 1 - x, b - y]
            for r in range(1, len(here)):
                here[r] += weight / (x + y + 1.0) * left[r - 1]
    here[0] = 1.0 - stays


def subset_marginals(potentials: Array, *, backward: bool = False) -> tuple[Array, Array]:
    """P(document i has rank r + 1) at [i, r] and P(i comes before j) at [i, j], if blocks are chosen by log Φ(S).

    `potentials[S]` is log Φ of the documents whose bits are set in S, from S = 1 on. Backward, blocks are eliminated
    from the worst on, and ranks count from the last.
    """
    n = len(potentials).bit_length() - 1
    marginals, before = np.zeros((n, n)), np.zeros((n, n))
    if n:
        _sum_over_subsets(np.asarray(potentials, np.float64), _norms(potentials), backward, marginals, before)
    return marginals, before.T if backward else before


@compiled
def _norms(potentials: Array) -> Any:
    """log Σ Φ(S) over the non-empty subsets of each set."""
    norms = np.full(len(potentials), -np.inf)
    for remaining in range(1, len(potentials)):
        high, total, chosen = -np.inf, 0.0, remaining
        while chosen > 0:
            high = max(high, potentials[chosen])
            chosen = (chosen - 1) & remaining
        chosen = remaining
        while chosen > 0:
            total += math.exp(potentials[chosen] - high)
            chosen = (chosen - 1) & remaining
        norms[remaining] = high + math.log(total)
    return norms


@compiled
def _sum_over_subsets(potentials: Array, norms: Array, backward: bool, marginals: Array, before: Array) -> None:
    """Sum over all sets that may remain, and all blocks that may be chosen from them."""
    n, after = len(marginals), _numbers_of_blocks(potentials, norms, len(marginals))
    reached = np.zeros((len(potentials), n + 1))  # P(this set remains after k blocks)
    reached[-1, 0] = 1.0
    for remaining in range(len(potentials) - 1, 0, -1):
        here = reached[remaining].sum()
        chosen = remaining
        while chosen > 0:
            chance, left = math.exp(potentials[chosen] - norms[remaining]), remaining ^ chosen
            for k in range(n):
                reached[left, k + 1] += chance * reached[remaining, k]
            for i in range(n):
                if chosen >> i & 1:
                    for k in range(n):
                        marginals[i, k] += chance * (here * after[left, k] if backward else reached[remaining, k])
                    for j in range(n):
                        before[i, j] += chance * here * (left >> j & 1)
            chosen = (chosen - 1) & remaining


@compiled
def _numbers_of_blocks(potentials: Array, norms: Array, n: int) -> Any:
    """P(this set falls into k blocks) at [set, k]."""
    after = np.zeros((len(potentials), n + 1))
    after[0, 0] = 1.0
    for remaining in range(1, len(potentials)):
        chosen = remaining
        while chosen > 0:
            chance = math.exp(potentials[chosen] - norms[remaining])
            for k in range(n):
                after[remaining, k + 1] += chance * after[remaining ^ chosen, k]
            chosen = (chosen - 1) & remaining
    return after


def all_subsets(n: int) -> Flags:
    """Membership of documents in each of the 2^n subsets, a row per subset."""  # (2^n, n)
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
