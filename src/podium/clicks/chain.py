"""Chain models: a person reads from the top, goes on with probability κ after no click and λ after a click.

The first document is looked at; what is looked at and attractive (α) is clicked. For a page of n documents with the
last click at l (0 if none), b_{n+1} = 1 and for r = n … l+1:

    b_r = (1−α_r)(1−κ+κ b_{r+1})                     P(no click from r on | r is looked at)
    D   = 1−λ_l+λ_l b_{l+1}                          after the last click
    P(page) = Π_{r<l, clicked} α_r λ_r · Π_{r<l, not} (1−α_r)κ · α_l · D;   without clicks b_1
    e_r = P(r is looked at | page): 1 for r ≤ max(l, 1);  e_{l+1} = λ_l b_{l+1}/D;
          then e_{r+1} = e_r · κ b_{r+1}/(1−κ+κ b_{r+1})

The EM step adds expected successes and trials of every parameter. Of α: a click 1 of 1, no click above l 0 of 1, no
click below l (1−e_r)α_r of 1. The rest is in `_step`. Transitions out of the last document are not observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from podium.clicks.base import Array, ClickModel, Params, Predicted, prior_term, tally
from podium.clicks.browsing import run_blocks
from podium.clicks.em import IteratedModel
from podium.compiled import compiled
from podium.data.click_log import ClickLog
from podium.progress import Progress, quiet

NONE, BY_RANK, SATISFIED, RELEVANT = 0, 1, 2, 3
_BLOCK = 100_000  # impressions
_TINY = 1e-200  # products are turned into logarithms before they underflow


@dataclass(frozen=True)
class Chain:
    """A person's habits: λ of an impression is `by_pair` of its pair times `by_rank` of its rank."""

    alpha: Array  # (U+1,) the last of unknown pairs
    kappa: float
    by_pair: Array  # (U+1,)
    by_rank: Array  # (R,) the last also for ranks beyond
    satisfied: Array | None = None  # (U+1,) σ where by_pair = κ(1−σ)
    tau: tuple[float, float] = (0.0, 0.0)  # τ₂, τ₃ where by_pair = τ₂(1−α) + τ₃α


@dataclass(frozen=True)
class Counts:
    """Expected successes and trials."""

    log_likelihood: float
    attracted: Array  # (U,) of as many impressions
    satisfied: Array  # (U,) of as many clicks: left satisfied, or, for `RELEVANT`, found relevant
    shared: Array  # (S, 2) of the parameters that all pairs share: successes, trials


@dataclass(frozen=True, repr=False)
class ChainModel(ClickModel):
    """A click model in which a person reads from the top and may leave at any document."""

    after_click: ClassVar[int] = NONE
    """What is estimated of the decision after a click."""

    def chain(self, params: Params) -> Chain:
        """The habits that the parameters mean."""
        raise NotImplementedError

    def predict(self, params: Params, pairs: NDArray[Any], log: ClickLog) -> Predicted:
        c = self.chain(params)
        made = [np.empty(log.n_impressions) for _ in range(3)]
        _predict(pairs, log.clicks, log.ranks(), log.offsets, c.alpha, c.kappa, c.by_pair, c.by_rank, *made)
        return Predicted(*made)

    def draw(self, params: Params, pairs: NDArray[Any], log: ClickLog, uniform: Array) -> NDArray[np.uint8]:
        c = self.chain(params)
        clicks = np.zeros(log.n_impressions, np.uint8)
        _draw(pairs, log.ranks(), log.offsets, c.alpha, c.kappa, c.by_pair, c.by_rank, uniform, clicks)
        return clicks

    def relevance(self, params: Params) -> Array:
        return params["attractiveness"]

    def attractiveness(self, params: Params) -> Array:
        return params["attractiveness"]

    def objective(self, params: Params, pages: Pages) -> float:
        """The log-likelihood with its prior."""
        value = pages.expect(self.chain(params), NONE).log_likelihood
        return value + sum(prior_term(self.prior, values) for values in params.values())


@dataclass(frozen=True, repr=False)
class IteratedChain(ChainModel, IteratedModel):
    """A chain model that is fitted by EM."""

    def start(self, log: ClickLog) -> Params:
        """Where EM starts: every parameter at ½."""
        raise NotImplementedError

    def maximise(self, params: Params, counts: Counts, pages: Pages) -> Params:
        """The parameters that the expected counts give."""
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
        """J of the parameters, and the next ones."""
        counts = pages.expect(self.chain(params), self.after_click)
        prior = sum(prior_term(self.prior, values) for values in params.values())
        after = self.maximise(params, counts, pages)
        return counts.log_likelihood + prior, {name: after[name] for name in params}


class Pages:
    """The pages of a folded log with what chain models read of them, cut into blocks between queries."""

    def __init__(self, log: ClickLog) -> None:
        self.log, self.ranks, self.counts = log, log.ranks(), log.page_counts
        self.impressions, self.clicks = tally(log)
        starts = np.flatnonzero(np.diff(log.page_query, prepend=-1))  # the first page of each query
        wanted = np.searchsorted(log.offsets[starts], np.arange(0, log.n_impressions, _BLOCK))
        self.cuts = np.append(np.unique(starts[np.minimum(wanted, len(starts) - 1)]), log.n_pages)
        self.cuts[0] = 0

    def expect(self, chain: Chain, after_click: int) -> Counts:
        """The expected counts under a person's habits."""
        log, n = self.log, self.log.n_pairs
        attracted, satisfied = np.zeros(n), np.zeros(n)
        n_shared = {NONE: 1, BY_RANK: len(chain.by_rank), SATISFIED: 1, RELEVANT: 3}[after_click]
        shared = np.zeros((len(self.cuts) - 1, n_shared, 2))
        sigma = np.zeros(1) if chain.satisfied is None else chain.satisfied

        def work(block: int) -> float:
            return float(
                _step(
                    log.pairs, log.clicks, self.ranks, log.offsets, self.counts, self.cuts[block],
                    self.cuts[block + 1], chain.alpha, chain.kappa, chain.by_pair, chain.by_rank, sigma, chain.tau,
                    after_click, attracted, satisfied, shared[block],
                )
            )  # fmt: skip

        value = sum(run_blocks(work, len(self.cuts) - 1))
        return Counts(value, attracted, satisfied, shared.sum(axis=0))


@compiled
def _step(
    pairs: Any, clicks: Any, ranks: Any, offsets: Any, counts: Any, first: int, end: int, alpha: Any, kappa: float,
    by_pair: Any, by_rank: Any, sigma: Any, tau: Any, mode: int, attracted: Any, satisfied: Any, shared: Any,
) -> float:  # fmt: skip
    """Add the expected counts of the pages first … end − 1; returns their log-likelihood."""
    tails, value, n_ranks = np.empty(1), 0.0, len(by_rank)
    for page in range(first, end):
        a, z, w, p = offsets[page], offsets[page + 1], counts[page], 1.0
        passed = 0.0
        if len(tails) < z - a + 1:
            tails = np.empty(2 * (z - a) + 1)
        last = z - 1
        while last >= a and clicks[last] == 0:
            last -= 1
        for i in range(a, last):  # above the last click everything was looked at
            u = pairs[i]
            if clicks[i]:
                go = by_pair[u] * by_rank[min(ranks[i], n_ranks) - 1]
                p *= alpha[u] * go
                attracted[u] += w
                _went_on(mode, u, min(ranks[i], n_ranks) - 1, alpha[u], go, tau, w, satisfied, shared)
            else:
                p *= (1.0 - alpha[u]) * kappa
            if mode == 2 or clicks[i] == 0:
                passed += w
            if p < _TINY:
                value += w * np.log(p)
                p = 1.0
        after = 1.0  # b of the place below
        for i in range(z - 1, last, -1):
            tails[i - a + 1] = after
            after = (1.0 - alpha[pairs[i]]) * (1.0 - kappa + kappa * after)
        looked, went_on, could = 1.0, passed, passed
        if last < a:
            p *= after
        else:
            u = pairs[last]
            rank = min(ranks[last], n_ranks) - 1
            go = by_pair[u] * by_rank[rank]
            down = 1.0 - go + go * after
            p *= alpha[u] * down
            attracted[u] += w
            looked = go * after / down if down > 0.0 else 0.0
            s = sigma[u] if mode == 2 else 0.0
            _last_click(mode, u, rank, alpha[u], go, s, down, looked, last == z - 1, tau, w, satisfied, shared)
        value += w * np.log(p)
        for i in range(last + 1, z):
            u = pairs[i]
            attracted[u] += w * (1.0 - looked) * alpha[u]
            if i < z - 1 and kappa < 1.0:  # else whoever looked at this one looks at the next
                b = tails[i - a + 1]
                could += w * looked
                looked *= kappa * b / (1.0 - kappa + kappa * b)
                went_on += w * looked
        if mode >= 2:
            shared[0, 0] += went_on
            shared[0, 1] += could
    return value


@compiled
def _went_on(
    mode: int, u: int, rank: int, a: float, go: float, tau: Any, w: float, satisfied: Any, shared: Any
) -> None:
    """After a click above the last one: the person went on.

    BY_RANK: λ_r 1 of 1. RELEVANT: the document was relevant with q = τ₃α/λ: τ₃ q of q, τ₂ 1−q of 1−q.
    """
    if mode == 1:
        shared[rank, 0] += w
        shared[rank, 1] += w
    elif mode == 3:
        q = tau[1] * a / go if go > 0.0 else 0.0
        satisfied[u] += w * q
        for k, part in ((2, q), (1, 1.0 - q)):
            shared[k, 0] += w * part
            shared[k, 1] += w * part


@compiled
def _last_click(
    mode: int, u: int, rank: int, a: float, go: float, sigma: float, down: float, e: float, bottom: bool, tau: Any,
    w: float, satisfied: Any, shared: Any,
) -> None:  # fmt: skip
    """After the last click, with e = P(the next document was looked at | page).

    BY_RANK: λ_r e of 1. SATISFIED: σ s = σ/D of 1, and the wish to go on e of 1−s. RELEVANT, with q = τ₃α/λ and
    s = e·q + (1−e)(1−τ₃)α/(1−λ): relevant s of 1, τ₃ e·q of s, τ₂ e(1−q) of 1−s. At the bottom of the page only
    σ or α remain, as e is not observed.
    """
    if mode == 1 and not bottom:
        shared[rank, 0] += w * e
        shared[rank, 1] += w
    elif mode == 2:
        s = min(sigma / down, 1.0) if down > 0.0 else 1.0
        satisfied[u] += w * s
        if not bottom:
            shared[0, 0] += w * e
            shared[0, 1] += w * (1.0 - s)
    elif mode == 3:
        if bottom:
            satisfied[u] += w * a
            return
        q = tau[1] * a / go if go > 0.0 else 0.0
        stopped = (1.0 - tau[1]) * a / (1.0 - go) if go < 1.0 else 0.0
        s = e * q + (1.0 - e) * stopped
        satisfied[u] += w * s
        shared[2, 0] += w * e * q
        shared[2, 1] += w * s
        shared[1, 0] += w * e * (1.0 - q)
        shared[1, 1] += w * (1.0 - s)


@compiled
def _predict(
    pairs: Any, clicks: Any, ranks: Any, offsets: Any, alpha: Any, kappa: float, by_pair: Any, by_rank: Any,
    conditional: Any, marginal: Any, examined: Any,
) -> None:  # fmt: skip
    n_ranks = len(by_rank)
    for page in range(len(offsets) - 1):
        given, looked = 1.0, 1.0
        for i in range(offsets[page], offsets[page + 1]):
            u = pairs[i]
            a, go = alpha[u], by_pair[u] * by_rank[min(ranks[i], n_ranks) - 1]
            conditional[i], marginal[i], examined[i] = given * a, looked * a, looked
            missed = 1.0 - given * a
            if clicks[i]:
                given = go
            else:
                given = given * (1.0 - a) * kappa / missed if missed > 0.0 else 0.0
            looked *= (1.0 - a) * kappa + a * go


@compiled
def _draw(
    pairs: Any, ranks: Any, offsets: Any, alpha: Any, kappa: float, by_pair: Any, by_rank: Any, uniform: Any,
    clicks: Any,
) -> None:  # fmt: skip
    """A click where the uniform number is below P(click | the clicks above)."""
    n_ranks = len(by_rank)
    for page in range(len(offsets) - 1):
        given = 1.0
        for i in range(offsets[page], offsets[page + 1]):
            u = pairs[i]
            a = alpha[u]
            if uniform[i] < given * a:
                clicks[i] = 1
                given = by_pair[u] * by_rank[min(ranks[i], n_ranks) - 1]
            else:
                missed = 1.0 - given * a
                given = given * (1.0 - a) * kappa / missed if missed > 0.0 else 0.0
