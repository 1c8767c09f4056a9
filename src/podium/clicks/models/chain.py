"""Cascade-style click models: a user reads from the top, goes on with probability κ after no click and λ after a click.

The first document is examined; an examined document is clicked with probability α. For a page of n documents with the
last click at l (0 if none), b_{n+1} = 1 and for r = n … l+1:

    b_r = (1−α_r)(1−κ+κ b_{r+1})                     P(no click from r on | r is examined)
    D   = 1−λ_l+λ_l b_{l+1}                          after the last click
    P(page) = Π_{r<l, clicked} α_r λ_r · Π_{r<l, not} (1−α_r)κ · α_l · D;   without clicks b_1
    e_r = P(r is examined | page): 1 for r ≤ max(l, 1);  e_{l+1} = λ_l b_{l+1}/D;
          then e_{r+1} = e_r · κ b_{r+1}/(1−κ+κ b_{r+1})

The EM step adds expected successes and trials of every parameter. Of α: a click 1 of 1, no click above l 0 of 1, no
click below l (1−e_r)α_r of 1. The counts of decisions to go on depend on the model: `_count_by_rank`,
`_count_satisfied`, `_count_relevant`. Transitions out of the last document are not observed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from podium.base.arrays import AnyArray, Array, Bytes, Int32s, Ints
from podium.base.progress import Progress, quiet
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import ClickModel, Params, Predicted, prior_term, tally
from podium.clicks.models.em import IteratedModel
from podium.clicks.models.examination import run_blocks
from podium.jit.compiled import compiled

PageArrays = tuple[Int32s, Bytes, Int32s, Ints, Array]
"""Pairs, clicks, ranks, offsets and counts of a log."""
Habits = tuple[Array, float, Array, Array, Array, tuple[float, float]]
"""Fields of `Chain`."""
BY_RANK, SATISFIED, RELEVANT = "by rank", "satisfied", "relevant"
_BLOCK = 100_000  # impressions
_TINY = 1e-200  # products are turned into logarithms before they underflow


@dataclass(frozen=True)
class Chain:
    """Habits of users: λ of an impression is `by_pair` of its pair times `by_rank` of its rank."""

    alpha: Array  # (U+1,) the last of unknown pairs
    kappa: float
    by_pair: Array  # (U+1,)
    by_rank: Array  # (R,) the last also for ranks beyond
    satisfied: Array = field(default_factory=lambda: np.zeros(1))  # (U+1,) σ if by_pair = κ(1−σ)
    tau: tuple[float, float] = (0.0, 0.0)  # τ₂, τ₃ if by_pair = τ₂(1−α) + τ₃α


@dataclass(frozen=True)
class Counts:
    """Expected successes and trials of the E step."""

    log_likelihood: float
    attracted: Array  # (U,) of as many impressions
    satisfied: Array  # (U,) of as many clicks: left satisfied, or, for `RELEVANT`, found relevant
    shared: Array  # (S, 2) of the parameters that all pairs share: successes, trials


@dataclass(frozen=True, repr=False)
class ChainModel(ClickModel):
    """Click model in which a user reads from the top and may leave at any document."""

    after_click: ClassVar[str | None] = None
    """Model of the decision after a click: BY_RANK, SATISFIED, RELEVANT, or None if it has no parameters."""

    def chain(self, params: Params) -> Chain:
        """Habits of users with these parameters."""
        raise NotImplementedError

    def predict(self, params: Params, pairs: AnyArray, log: ClickLog) -> Predicted:
        c = self.chain(params)
        arrays = [np.empty(log.n_impressions) for _ in range(3)]
        _predict(pairs, log.clicks, log.ranks(), log.offsets, c.alpha, c.kappa, c.by_pair, c.by_rank, *arrays)
        return Predicted(*arrays)

    def draw(self, params: Params, pairs: AnyArray, log: ClickLog, uniform: Array) -> Bytes:
        c = self.chain(params)
        clicks = np.zeros(log.n_impressions, np.uint8)
        _draw(pairs, log.ranks(), log.offsets, c.alpha, c.kappa, c.by_pair, c.by_rank, uniform, clicks)
        return clicks

    def relevance(self, params: Params) -> Array:
        return params["attractiveness"]

    def attractiveness(self, params: Params) -> Array:
        return params["attractiveness"]

    def objective(self, params: Params, pages: Pages) -> float:
        """Log-likelihood with its prior.

        `params`: arrays of the model's probabilities, by name.
        `pages`: the pages of a folded log.
        """
        value = pages.expect(self.chain(params), None).log_likelihood
        return value + sum(prior_term(self.prior, values) for values in params.values())


@dataclass(frozen=True, repr=False)
class IteratedChain(ChainModel, IteratedModel):
    """Chain model that is fitted by EM."""

    def start(self, log: ClickLog) -> Params:
        """Start of EM: every parameter is ½."""
        raise NotImplementedError

    def maximise(self, params: Params, counts: Counts, pages: Pages) -> Params:
        """M step: the parameters from the expected counts."""
        raise NotImplementedError

    def estimate(self, log: ClickLog, *, progress: Progress = quiet) -> tuple[Params, list[float]]:
        pages, start = Pages(log), self.start(log)
        cuts = np.cumsum([len(values) for values in start.values()])[:-1]

        def unpacked(x: Array) -> Params:
            return dict(zip(start, np.split(x, cuts), strict=True))

        def step(x: Array) -> tuple[float, Array]:
            value, after = self.em_step(unpacked(x), pages)
            return value, np.concatenate(list(after.values()))

        x, history = self.climb(step, np.concatenate(list(start.values())), n_pages=log.n_page_views, progress=progress)
        return unpacked(x), history

    def em_step(self, params: Params, pages: Pages) -> tuple[float, Params]:
        """Make an EM step: J of the parameters, and the next ones.

        `params`: arrays of the model's probabilities, by name.
        `pages`: the pages of a folded log.
        """
        counts = pages.expect(self.chain(params), self.after_click)
        prior = sum(prior_term(self.prior, values) for values in params.values())
        after = self.maximise(params, counts, pages)
        return counts.log_likelihood + prior, {name: after[name] for name in params}


class Pages:
    """Pages of a folded log for chain models, cut into blocks between queries."""

    def __init__(self, log: ClickLog) -> None:
        self.log, self.ranks, self.counts = log, log.ranks(), log.page_counts
        self.impressions, self.clicks = tally(log)
        starts = np.flatnonzero(np.diff(log.page_query, prepend=-1))  # the first page of each query
        wanted = np.searchsorted(log.offsets[starts], np.arange(0, log.n_impressions, _BLOCK))
        self.cuts = np.append(np.unique(starts[np.minimum(wanted, len(starts) - 1)]), log.n_pages)
        self.cuts[0] = 0

    def expect(self, chain: Chain, after_click: str | None) -> Counts:
        """E step: the expected counts under the habits of users."""
        log, n_blocks = self.log, len(self.cuts) - 1
        pages: PageArrays = (log.pairs, log.clicks, self.ranks, log.offsets, self.counts)
        habits: Habits = (chain.alpha, chain.kappa, chain.by_pair, chain.by_rank, chain.satisfied, chain.tau)
        attracted, satisfied = np.zeros(log.n_pairs), np.zeros(log.n_pairs)
        n_shared = {SATISFIED: 1, RELEVANT: 3}.get(str(after_click), len(chain.by_rank))
        shared = np.zeros((n_blocks, n_shared, 2))

        def work(block: int) -> float:
            first, end = self.cuts[block], self.cuts[block + 1]
            examined, ends = np.empty(log.offsets[end] - log.offsets[first]), np.empty(end - first)
            value = _walk(pages, habits, first, end, attracted, examined, ends)
            if after_click is not None:
                count = {BY_RANK: _count_by_rank, SATISFIED: _count_satisfied, RELEVANT: _count_relevant}[after_click]
                count(pages, habits, first, end, examined, ends, satisfied, shared[block])
            return float(value)

        value = sum(run_blocks(work, n_blocks))
        return Counts(value, attracted, satisfied, shared.sum(axis=0))


@compiled
def _walk(
    pages: PageArrays, habits: Habits, first: int, end: int, attracted: Array, examined: Array, ends: Array
) -> float:
    """Log-likelihood of the pages first … end − 1.

    Adds the expected successes of α to `attracted`; fills `examined` with e of each impression and `ends` with D of
    each page that has clicks.
    """
    pairs, clicks, ranks, offsets, counts = pages
    alpha, kappa, by_pair, by_rank, _, _ = habits
    value, n_ranks, base = 0.0, len(by_rank), offsets[first]
    for page in range(first, end):
        a, z, w, p = offsets[page], offsets[page + 1], counts[page], 1.0
        last = _last_click(clicks, a, z)
        for i in range(a, last):  # above the last click everything was examined
            u = pairs[i]
            examined[i - base] = 1.0
            if clicks[i]:
                p *= alpha[u] * (by_pair[u] * by_rank[min(ranks[i], n_ranks) - 1])
                attracted[u] += w
            else:
                p *= (1.0 - alpha[u]) * kappa
            if p < _TINY:
                value += w * np.log(p)
                p = 1.0
        after = 1.0  # b of the place below
        for i in range(z - 1, last, -1):
            examined[i - base] = after
            after = (1.0 - alpha[pairs[i]]) * (1.0 - kappa + kappa * after)
        looked = 1.0
        if last < a:
            p *= after
        else:
            u = pairs[last]
            go = by_pair[u] * by_rank[min(ranks[last], n_ranks) - 1]
            down = 1.0 - go + go * after
            p *= alpha[u] * down
            attracted[u] += w
            looked = go * after / down if down > 0.0 else 0.0
            examined[last - base], ends[page - first] = 1.0, down
        value += w * np.log(p)
        for i in range(last + 1, z):
            u, b = pairs[i], examined[i - base]
            attracted[u] += w * (1.0 - looked) * alpha[u]
            examined[i - base] = looked
            if kappa < 1.0:  # else a user who examined this one examines the next
                looked *= kappa * b / (1.0 - kappa + kappa * b)
    return value


@compiled
def _count_by_rank(
    pages: PageArrays, habits: Habits, first: int, end: int, examined: Array, ends: Array, satisfied: Array,
    shared: Array,
) -> None:  # fmt: skip
    """λ_r: 1 of 1 after a click above the last one, e of 1 after the last one, if a document follows."""
    _, clicks, ranks, offsets, counts = pages
    n_ranks, base = len(habits[3]), offsets[first]
    for page in range(first, end):
        a, z, w = offsets[page], offsets[page + 1], counts[page]
        last = _last_click(clicks, a, z)
        for i in range(a, min(last + 1, z - 1)):
            if clicks[i]:
                rank = min(ranks[i], n_ranks) - 1
                shared[rank, 0] += w * examined[i + 1 - base]
                shared[rank, 1] += w


@compiled
def _count_satisfied(
    pages: PageArrays, habits: Habits, first: int, end: int, examined: Array, ends: Array, satisfied: Array,
    shared: Array,
) -> None:  # fmt: skip
    """σ: s = σ/D of 1 for the last click. κ: 1 of 1 above the last click, e of 1−s after it, if a document follows."""
    pairs, clicks, _, offsets, counts = pages
    _, kappa, _, _, sigma, _ = habits
    base = offsets[first]
    for page in range(first, end):
        a, z, w, passed = offsets[page], offsets[page + 1], counts[page], 0.0
        last = _last_click(clicks, a, z)
        for _ in range(a, last):
            passed += w
        if last >= a:
            u, down = pairs[last], ends[page - first]
            s = min(sigma[u] / down, 1.0) if down > 0.0 else 1.0
            satisfied[u] += w * s
            if last < z - 1:
                shared[0, 0] += w * examined[last + 1 - base]
                shared[0, 1] += w * (1.0 - s)
        _count_below(examined, last + 1 - base, z - base, kappa, w, passed, shared)


@compiled
def _count_relevant(
    pages: PageArrays, habits: Habits, first: int, end: int, examined: Array, ends: Array, satisfied: Array,
    shared: Array,
) -> None:  # fmt: skip
    """κ: 1 of 1 for documents without a click above the last one. After a click, with e of the next document,

        q = τ₃α/λ,  s = e·q + (1−e)(1−τ₃)α/(1−λ):  relevant s of 1,  τ₃ e·q of s,  τ₂ e(1−q) of 1−s.

    At the bottom of the page e is not observed, and only α remains: relevant α of 1.
    """
    pairs, clicks, ranks, offsets, counts = pages
    alpha, kappa, by_pair, by_rank, _, tau = habits
    base = offsets[first]
    for page in range(first, end):
        a, z, w, passed = offsets[page], offsets[page + 1], counts[page], 0.0
        last = _last_click(clicks, a, z)
        for i in range(a, last + 1):
            u = pairs[i]
            go = by_pair[u] * by_rank[min(ranks[i], len(by_rank)) - 1]
            q = tau[1] * alpha[u] / go if go > 0.0 else 0.0
            if clicks[i] == 0:
                passed += w
            elif i == z - 1:
                satisfied[u] += w * alpha[u]
            else:
                e = examined[i + 1 - base]
                stopped = (1.0 - tau[1]) * alpha[u] / (1.0 - go) if go < 1.0 else 0.0
                s = e * q + (1.0 - e) * stopped
                satisfied[u] += w * s
                shared[2, 0] += w * e * q
                shared[2, 1] += w * s
                shared[1, 0] += w * e * (1.0 - q)
                shared[1, 1] += w * (1.0 - s)
        _count_below(examined, last + 1 - base, z - base, kappa, w, passed, shared)


@compiled
def _count_below(examined: Array, first: int, end: int, kappa: float, w: float, passed: float, shared: Array) -> None:
    """κ below the last click: e of the next document of e of this one; plus `passed` of `passed` above it."""
    went_on, could = passed, passed
    if kappa < 1.0:
        for i in range(first, end - 1):
            could += w * examined[i]
            went_on += w * examined[i + 1]
    shared[0, 0] += went_on
    shared[0, 1] += could


@compiled
def _last_click(clicks: Bytes, first: int, end: int) -> int:
    """Last clicked impression; first − 1 if there is none."""
    last = end - 1
    while last >= first and clicks[last] == 0:
        last -= 1
    return last


@compiled
def _predict(
    pairs: Int32s, clicks: Bytes, ranks: Int32s, offsets: Ints, alpha: Array, kappa: float, by_pair: Array,
    by_rank: Array, conditional: Array, marginal: Array, examined: Array,
) -> None:  # fmt: skip
    n_ranks = len(by_rank)
    for page in range(len(offsets) - 1):
        posterior, looked = 1.0, 1.0  # examination probabilities, given the clicks above and not
        for i in range(offsets[page], offsets[page + 1]):
            u = pairs[i]
            a, go = alpha[u], by_pair[u] * by_rank[min(ranks[i], n_ranks) - 1]
            conditional[i], marginal[i], examined[i] = posterior * a, looked * a, looked
            missed = 1.0 - posterior * a
            if clicks[i]:
                posterior = go
            else:
                posterior = posterior * (1.0 - a) * kappa / missed if missed > 0.0 else 0.0
            looked *= (1.0 - a) * kappa + a * go


@compiled
def _draw(
    pairs: Int32s, ranks: Int32s, offsets: Ints, alpha: Array, kappa: float, by_pair: Array, by_rank: Array,
    uniform: Array, clicks: Bytes,
) -> None:  # fmt: skip
    """Draw clicks: the uniform number is below P(click | the clicks above)."""
    n_ranks = len(by_rank)
    for page in range(len(offsets) - 1):
        posterior = 1.0  # examination probability, given the clicks above
        for i in range(offsets[page], offsets[page + 1]):
            u = pairs[i]
            a = alpha[u]
            if uniform[i] < posterior * a:
                clicks[i] = 1
                posterior = by_pair[u] * by_rank[min(ranks[i], n_ranks) - 1]
            else:
                missed = 1.0 - posterior * a
                posterior = posterior * (1.0 - a) * kappa / missed if missed > 0.0 else 0.0
