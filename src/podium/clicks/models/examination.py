"""Examination hypothesis models (PBM, UBM): P(click at r | clicks above) = α_u · γ_cell, attraction times examination.

The cell is the rank (PBM), or the rank and the last click above (UBM).

They are fitted on cells, not on pages: n impressions and k clicks of each (pair, cell). With x = αγ, one EM step is

    attracted ← k + (n−k)·α(1−γ)/(1−x)      α ← (a + Σ_cells attracted)/(2a + Σ n)
    examined  ← k + (n−k)·γ(1−α)/(1−x)      γ ← (a + Σ_pairs examined)/(2a + Σ n)

for the prior a, both with the old α and γ, so a step costs O(cells), however many pages there were. The log-likelihood
is Σ k log x + (n−k) log(1−x).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.base.arrays import AnyArray, Array, Bytes, Int32s, Ints
from podium.base.progress import Progress, quiet
from podium.base.threads import default_threads, pool
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import ClickModel, Params, Predicted, prior_term, ratio, unseen
from podium.clicks.models.em import IteratedModel
from podium.jit.compiled import compiled

ONE, RANK, RANK_AND_LAST = 0, 1, 2
_BLOCK = 100_000  # cells
_NO_PAIR = 2**31
_SMALL = 1e-150  # times (1 − x)^7 ≥ 1e-112 it is still a normal number


@dataclass(frozen=True)
class Cells:
    """Impressions and clicks of each pair in each cell, sorted by pair and cell."""

    offsets: Ints  # (U+1,) the cells of each pair
    cell: Int32s  # (M,)
    shown: Array  # (M,)
    clicked: Array  # (M,)
    n_cells: int

    @property
    def pair(self) -> Ints:
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def by_pair(self, values: Array) -> Array:
        return np.bincount(self.pair, values, minlength=len(self.offsets) - 1).astype(np.float64)

    def by_cell(self, values: Array) -> Array:
        return np.bincount(self.cell, values, minlength=self.n_cells).astype(np.float64)


@dataclass(frozen=True, repr=False)
class BrowsingModel(ClickModel):
    """Click model in which a click is attraction times examination."""

    cells: ClassVar[int] = ONE
    """Cells of impressions: one for all, by rank, or by rank and the last click above."""

    def products(self, params: Params) -> tuple[Array, Array]:
        """Factors: α of each pair and of unknown pairs, or one for all; and γ of each cell."""
        raise NotImplementedError

    def predict(self, params: Params, pairs: AnyArray, log: ClickLog) -> Predicted:
        alpha, gamma = self.products(params)
        pairs = np.minimum(pairs, len(alpha) - 1)
        arrays = [np.empty(log.n_impressions) for _ in range(3)]
        _predict(pairs, log.clicks, log.ranks(), log.offsets, alpha, gamma, self.cells, self._most(gamma), *arrays)
        return Predicted(*arrays)

    def draw(self, params: Params, pairs: AnyArray, log: ClickLog, uniform: Array) -> Bytes:
        alpha, gamma = self.products(params)
        pairs = np.minimum(pairs, len(alpha) - 1)
        clicks = np.zeros(log.n_impressions, np.uint8)
        _draw(pairs, log.ranks(), log.offsets, alpha, gamma, self.cells, self._most(gamma), uniform, clicks)
        return clicks

    def _most(self, gamma: Array) -> int:
        """Number of ranks with cells of their own."""
        return math.isqrt(2 * len(gamma)) if self.cells == RANK_AND_LAST else len(gamma)

    def objective(self, params: Params, cells: Cells) -> float:
        """Log-likelihood with its prior.

        `params`: arrays of the model's probabilities, by name.
        `cells`: counts of impressions and clicks.
        """
        alpha, gamma = self.products(params)
        x = alpha[np.minimum(cells.pair, len(alpha) - 1)] * gamma[cells.cell]
        prior = sum(prior_term(self.prior, values) for values in params.values())
        return _log_likelihood(cells, x) + prior


@dataclass(frozen=True, repr=False)
class ExaminationModel(BrowsingModel, IteratedModel):
    """Click model of attractiveness of pairs times examination of cells, fitted by EM: PBM and UBM."""

    per_pair: ClassVar[tuple[str, ...]] = ("attractiveness",)
    splits_products: ClassVar[bool] = True

    def products(self, params: Params) -> tuple[Array, Array]:
        return unseen(params["attractiveness"]), params["examination"]

    def relevance(self, params: Params) -> Array:
        return params["attractiveness"]

    def attractiveness(self, params: Params) -> Array:
        scaled: Array = params["attractiveness"] * params["examination"][0]
        return scaled

    def estimate(self, log: ClickLog, *, progress: Progress = quiet) -> tuple[Params, list[float]]:
        cells = count_cells(log, self.cells, self.n_ranks(log))
        step = EMStep(cells, self.prior)
        start = np.full(log.n_pairs + cells.n_cells, 0.5)
        x, history = self.climb(step, start, n_pages=log.n_page_views, progress=progress)
        return {"attractiveness": x[: log.n_pairs], "examination": x[log.n_pairs :]}, history

    def n_ranks(self, log: ClickLog) -> int:
        """Number of ranks with examination of their own."""
        raise NotImplementedError


class EMStep:
    """EM step on cells: x = (α, γ) → J(x) and the next x."""

    def __init__(self, cells: Cells, prior: float) -> None:
        self.cells, self.prior, self.n_pairs = cells, prior, len(cells.offsets) - 1
        self.shown = np.concatenate((cells.by_pair(cells.shown), cells.by_cell(cells.shown)))
        self.clicked = np.concatenate((cells.by_pair(cells.clicked), cells.by_cell(cells.clicked)))
        cuts = np.arange(0, len(cells.cell) + _BLOCK, _BLOCK)
        self.cuts = np.unique(np.searchsorted(cells.offsets, cuts))
        self.cuts[-1] = self.n_pairs

    def __call__(self, x: Array) -> tuple[float, Array]:
        cells, n = self.cells, self.n_pairs
        alpha, gamma = x[:n], x[n:]
        attracted = np.empty(n)
        examined = np.zeros((len(self.cuts) - 1, cells.n_cells))

        def work(block: int) -> float:
            a, b = self.cuts[block], self.cuts[block + 1]
            return float(
                _step(
                    cells.offsets, cells.cell, cells.shown, cells.clicked, alpha, gamma, a, b, attracted,
                    examined[block],
                )
            )  # fmt: skip

        misses = sum(run_blocks(work, len(self.cuts) - 1))
        with np.errstate(divide="ignore"):
            hits = np.where(self.clicked > 0, self.clicked * np.log(np.where(self.clicked > 0, x, 1.0)), 0.0).sum()
        value = misses + float(hits) + prior_term(self.prior, x)
        counts = np.concatenate((attracted, examined.sum(axis=0)))
        return value, ratio(counts, self.shown, prior=self.prior, otherwise=x)


def run_blocks(work: Callable[[int], float], n_blocks: int) -> list[float]:
    """Run the work on each block on all threads; results are in the order of blocks."""
    threads = min(default_threads(), n_blocks)
    if threads <= 1:
        return [work(block) for block in range(n_blocks)]
    return list(pool(default_threads()).map(work, range(n_blocks)))


def count_cells(log: ClickLog, kind: int, n_ranks: int) -> Cells:
    """Count the impressions and clicks of a folded log by pair and cell."""
    n_cells = {ONE: 1, RANK: n_ranks, RANK_AND_LAST: n_ranks * (n_ranks + 1) // 2}[kind]
    most = min(log.n_impressions, log.n_pairs * n_cells)
    cell, shown, clicked = np.empty(most, np.int32), np.empty(most), np.empty(most)
    offsets = np.zeros(log.n_pairs + 1, np.int64)
    used = _count(
        log.pairs, log.clicks, log.ranks(), log.offsets, log.page_query, log.page_counts, kind, n_cells,
        n_ranks, offsets, cell, shown, clicked,
    )  # fmt: skip
    return Cells(offsets, cell[:used].copy(), shown[:used].copy(), clicked[:used].copy(), n_cells)


def _log_likelihood(cells: Cells, x: Array) -> float:
    missed = cells.shown - cells.clicked
    with np.errstate(divide="ignore"):
        hits = np.where(cells.clicked > 0, cells.clicked * np.log(np.where(cells.clicked > 0, x, 1.0)), 0.0)
        misses = np.where(missed > 0, missed * np.log1p(-np.where(missed > 0, x, 0.0)), 0.0)
    return float((hits + misses).sum())


@compiled
def cell_of(kind: int, rank: int, last: int, most: int) -> int:
    """Cell of a rank, from 1, after a last click at rank `last`, 0 if none; ranks beyond `most` share its cell."""
    if kind == 0:
        return 0
    r = min(rank, most)
    if kind == 1:
        return r - 1
    return r * (r - 1) // 2 + min(last, r - 1)


@compiled
def _count(
    pairs: Int32s, clicks: Bytes, ranks: Int32s, offsets: Ints, page_query: Int32s, counts: Array, kind: int,
    n_cells: int, most: int, pair_offsets: Ints, cell: Int32s, shown: Array, clicked: Array,
) -> int:  # fmt: skip
    """Count query by query: its impressions are sorted by pair, then each pair's are counted by cell."""
    n_pages, page, used, done = len(offsets) - 1, 0, 0, 0
    n_of, k_of, touched = np.zeros(n_cells), np.zeros(n_cells), np.empty(n_cells, np.int32)
    while page < n_pages:
        first, query = page, page_query[page]
        low, high = _NO_PAIR, -1
        while page < n_pages and page_query[page] == query:
            for i in range(offsets[page], offsets[page + 1]):
                low, high = min(low, pairs[i]), max(high, pairs[i])
            page += 1
        starts = np.zeros(max(high - low, -1) + 2, np.int64)
        for i in range(offsets[first], offsets[page]):
            starts[pairs[i] - low + 1] += 1
        for u in range(1, len(starts)):
            starts[u] += starts[u - 1]
        own_cell, weight = np.empty(starts[-1], np.int32), np.empty(starts[-1])
        _sort_by_pair(
            pairs, clicks, ranks, offsets, counts, kind, most, first, page, low, starts.copy(), own_cell, weight
        )
        for u in range(len(starts) - 1):
            while done < low + u:  # pairs that no page shows
                done += 1
                pair_offsets[done] = used
            size = _add_up(own_cell, weight, starts[u], starts[u + 1], n_of, k_of, touched)
            for t in range(size):
                c = touched[t]
                cell[used], shown[used], clicked[used] = c, n_of[c], k_of[c]
                n_of[c] = k_of[c] = 0.0
                used += 1
    while done < len(pair_offsets) - 1:
        done += 1
        pair_offsets[done] = used
    return used


@compiled
def _sort_by_pair(
    pairs: Int32s, clicks: Bytes, ranks: Int32s, offsets: Ints, counts: Array, kind: int, most: int, first: int,
    end: int, low: int, at: Ints, own_cell: Int32s, weight: Array,
) -> None:  # fmt: skip
    """Cell and weight of a query's impressions, sorted by pair; the weight of those without click is negative."""
    for page in range(first, end):
        last = 0
        for i in range(offsets[page], offsets[page + 1]):
            place = at[pairs[i] - low]
            at[pairs[i] - low] += 1
            own_cell[place] = cell_of(kind, ranks[i], last, most)
            weight[place] = counts[page] if clicks[i] else -counts[page]
            if clicks[i]:
                last = ranks[i]


@compiled
def _add_up(own_cell: Int32s, weight: Array, first: int, end: int, n_of: Array, k_of: Array, touched: Int32s) -> int:
    """Impressions and clicks of one pair by cell; the cells are listed in `touched`, sorted."""
    size = 0
    for i in range(first, end):
        c = own_cell[i]
        if n_of[c] == 0.0:
            at = size
            while at > 0 and touched[at - 1] > c:
                touched[at] = touched[at - 1]
                at -= 1
            touched[at] = c
            size += 1
        n_of[c] += abs(weight[i])
        if weight[i] > 0.0:
            k_of[c] += weight[i]
    return size


@compiled
def _power(x: float, n: int) -> float:
    """x^n for n from 0 to 7."""
    double = x * x
    power = x if n & 1 else 1.0
    power *= double if n & 2 else 1.0
    return power * (double * double if n & 4 else 1.0)


@compiled
def _step(
    offsets: Ints, cell: Int32s, shown: Array, clicked: Array, alpha: Array, gamma: Array, first: int, end: int,
    attracted: Array, examined: Array,
) -> float:  # fmt: skip
    """Expected counts of the pairs first … end − 1; returns Σ (n−k) log(1−x).

    Powers of small whole n − k are multiplied, and the logarithm of the product is taken before it underflows, since
    logarithms took most of the time of a step.
    """
    value, product = 0.0, 1.0
    for u in range(first, end):
        a, total = alpha[u], 0.0
        for i in range(offsets[u], offsets[u + 1]):
            c, k, missed, odds = cell[i], clicked[i], shown[i] - clicked[i], 0.0
            g = gamma[c]
            x = a * g
            if missed > 0.0:  # else x = 1 would divide 0 by 0
                rest = 1.0 - x
                odds = missed / rest
                whole = int(missed)
                if whole == missed and whole < 8:
                    product *= _power(rest, whole)
                    if product < _SMALL:
                        value += np.log(product)
                        product = 1.0
                else:
                    value += missed * np.log(rest)
            total += k + odds * (a - x)
            examined[c] += k + odds * (g - x)
        attracted[u] = total
    return float(value + np.log(product))


@compiled
def _predict(
    pairs: Int32s, clicks: Bytes, ranks: Int32s, offsets: Ints, alpha: Array, gamma: Array, kind: int, most: int,
    conditional: Array, marginal: Array, examined: Array,
) -> None:  # fmt: skip
    longest = 0
    for page in range(len(offsets) - 1):
        longest = max(longest, offsets[page + 1] - offsets[page])
    mass, where = np.empty(longest + 1), np.empty(longest + 1, np.int64)
    for page in range(len(offsets) - 1):
        last, size = 0, 1  # mass[j]: P(the last click so far is at rank where[j])
        mass[0], where[0] = 1.0, 0
        for i in range(offsets[page], offsets[page + 1]):
            a = alpha[pairs[i]]
            conditional[i] = a * gamma[cell_of(kind, ranks[i], last, most)]
            if kind != 2:
                marginal[i], examined[i] = conditional[i], gamma[cell_of(kind, ranks[i], 0, most)]
                continue
            looked = 0.0
            for j in range(size):
                g = gamma[cell_of(kind, ranks[i], where[j], most)]
                looked += mass[j] * g
                mass[j] *= 1.0 - a * g
            mass[size], where[size] = a * looked, ranks[i]
            size += 1
            marginal[i], examined[i] = a * looked, looked
            if clicks[i]:
                last = ranks[i]


@compiled
def _draw(
    pairs: Int32s,
    ranks: Int32s,
    offsets: Ints,
    alpha: Array,
    gamma: Array,
    kind: int,
    most: int,
    uniform: Array,
    clicks: Bytes,
) -> None:
    for page in range(len(offsets) - 1):
        last = 0
        for i in range(offsets[page], offsets[page + 1]):
            if uniform[i] < alpha[pairs[i]] * gamma[cell_of(kind, ranks[i], last, most)]:
                clicks[i] = 1
                last = ranks[i]
