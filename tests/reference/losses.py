"""Losses, slow and obvious: double sums and enumeration, one function per registered name."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.integrate import simpson
from scipy.special import log_ndtr
from scipy.stats import norm


def regression(loss: Any, s: Any, y: Any) -> float:
    targets = [y_i if loss.target == "label" else 2**y_i - 1 for y_i in y]
    targets = gain_shares(y) if loss.target == "gain-share" else targets
    return sum((s_i - g_i) ** 2 for s_i, g_i in zip(s, targets, strict=True))


def gain_shares(y: Any) -> list[float]:
    """Gains over the ideal DCG."""
    gains = [2**y_i - 1 for y_i in y]
    ideal = sum(g / math.log2(r + 1) for r, g in enumerate(sorted(gains, reverse=True), 1))
    return [g / ideal if ideal > 0 else 0.0 for g in gains]


def svr(loss: Any, s: Any, y: Any) -> float:
    return sum(max(0.0, abs(s_i - y_i) - loss.epsilon) for s_i, y_i in zip(s, y, strict=True))


def subset_regression(loss: Any, s: Any, y: Any) -> float:
    targets = [y_i if loss.target == "label" else 2**y_i - 1 for y_i in y]
    places = sorted(range(len(y)), key=lambda i: -y[i])
    least = min((targets[i] for i in places[: loss.top]), default=0.0)
    total = 0.0
    for s_i, g_i, y_i in zip(s, targets, y, strict=True):
        inside = np.mean([p < loss.top for p, i in enumerate(places) if y[i] == y_i])
        error = max(s_i - least, 0.0) if loss.others == "ceiling" else s_i - g_i
        total += inside * (s_i - g_i) ** 2 + (1 - inside) * loss.rest * error**2
    return total


def logistic(loss: Any, s: Any, y: Any) -> float:
    highest = loss.highest or max(1.0, *y, 0.0)
    targets = [y_i / highest for y_i in y]
    return sum(t * np.logaddexp(0, -s_i) + (1 - t) * np.logaddexp(0, s_i) for t, s_i in zip(targets, s, strict=True))


def query_cross_entropy(loss: Any, s: Any, y: Any) -> float:
    """With the constant by bisection."""
    highest = loss.highest or max(1.0, *y, 0.0)
    total = math.fsum(y) / highest
    plain = logistic(loss, s, y)
    if total == 0 or total == len(s):
        return (1 - loss.alpha) * plain
    low, high = -max(s) - 60.0, -min(s) + 60.0
    for _ in range(200):
        c = (low + high) / 2
        low, high = (low, c) if np.exp(-np.logaddexp(0, -(np.asarray(s) + c))).sum() > total else (c, high)
    return (1 - loss.alpha) * plain + loss.alpha * logistic(loss, np.asarray(s) + c, y)


def query_rmse(loss: Any, s: Any, y: Any) -> float:
    return float(len(s) * np.var(np.asarray(y) - np.asarray(s)))


def rank_cosine(loss: Any, s: Any, y: Any) -> float:
    if not any(y):
        return 0.0
    return 0.5 - 0.5 * float(np.dot(s, y) / np.linalg.norm(s) / np.linalg.norm(y)) if any(s) else 0.5


def unique_softmax(loss: Any, s: Any, y: Any) -> float:
    lists = [[s[i], *(s[j] for j in range(len(s)) if y[j] < y[i])] for i in range(len(s))]
    return math.fsum((2**grade - 1) * (np.logaddexp.reduce(row) - row[0]) for grade, row in zip(y, lists, strict=True))


def pair_regression(loss: Any, s: Any, y: Any) -> float:
    errors = [(y[i] - y[j]) - (s[i] - s[j]) for i, j in edges(y)]
    terms = [(loss.tau if e > 0 else 1 - loss.tau) * (e * e if loss.squared else abs(e)) for e in errors]
    return math.fsum(terms) / (len(terms) if loss.normalise and terms else 1)


def soft_zero_one(loss: Any, s: Any, y: Any) -> float:
    return over_pairs(lambda delta: float(np.exp(-np.logaddexp(0, delta))), loss, s, y)


def ranknet(loss: Any, s: Any, y: Any) -> float:
    if not loss.ties:
        return over_pairs(lambda delta: float(np.logaddexp(0, -loss.sigma * delta)), loss, s, y)
    terms = []
    for i, j in itertools.combinations(range(len(y)), 2):
        target, delta = 0.5 + 0.5 * np.sign(y[i] - y[j]), loss.sigma * (s[i] - s[j])
        terms.append(-target * delta + np.logaddexp(0, delta))
    return math.fsum(terms) / (len(terms) if loss.normalise and terms else 1)


def rank_regress(loss: Any, s: Any, y: Any) -> float:
    return over_pairs(lambda delta: (1 - delta) ** 2, loss, s, y)


def frank(loss: Any, s: Any, y: Any) -> float:
    return over_pairs(lambda delta: 1 - math.sqrt(1 / (1 + math.exp(min(-delta, 700)))), loss, s, y)


def ir_svm(loss: Any, s: Any, y: Any) -> float:
    """τ is what a swap from the top of this one query's perfect ranking costs NDCG@1, relative to the dearest swap."""
    terms = []
    for i, j in edges(y):
        drop = (2.0 ** y[i] - 2.0 ** y[j]) / (2.0 ** max(y) - 2.0 ** min(y)) if y[i] == max(y) else 0.0
        terms.append(drop * max(0.0, 1 - s[i] + s[j]))
    return math.fsum(terms) / (len(terms) if loss.normalise and terms else 1)


def pairties_rk(loss: Any, s: Any, y: Any) -> float:
    theta = 1 + math.exp(loss.alpha)

    def log_win(i: int, j: int) -> float:
        return float(-np.logaddexp(0, math.log(theta) + s[j] - s[i]))

    def log_tie(i: int, j: int) -> float:
        return math.log(theta**2 - 1) + log_win(i, j) + log_win(j, i)

    return over_all_pairs(log_win, log_tie, loss, y)


def pairties_d(loss: Any, s: Any, y: Any) -> float:
    def log_z(i: int, j: int) -> float:
        return float(np.logaddexp.reduce([s[i], s[j], loss.beta + (s[i] + s[j]) / 2]))

    return over_all_pairs(
        lambda i, j: s[i] - log_z(i, j), lambda i, j: loss.beta + (s[i] + s[j]) / 2 - log_z(i, j), loss, y
    )


def over_all_pairs(log_win: Callable[..., float], log_tie: Callable[..., float], loss: Any, y: Any) -> float:
    """−Σ of log P(i ≻ j) over y_i > y_j and of log P(i ≈ j) over tied pairs, or their mean."""
    terms = [-log_win(i, j) for i, j in edges(y)]
    terms += [-log_tie(i, j) for i, j in itertools.combinations(range(len(y)), 2) if y[i] == y[j]]
    return math.fsum(terms) / (len(terms) if loss.normalise and terms else 1)


def hinge(loss: Any, s: Any, y: Any) -> float:
    return over_pairs(lambda delta: max(0.0, getattr(loss, "margin", 1.0) - delta), loss, s, y)


def squared_hinge(loss: Any, s: Any, y: Any) -> float:
    return over_pairs(lambda delta: max(0.0, 1 - delta) ** 2, loss, s, y)


def exponential(loss: Any, s: Any, y: Any) -> float:
    """Its quadratic continuation beyond 300, as the docstring says."""

    def phi(delta: float) -> float:
        beyond = max(-delta - 300, 0)
        return math.exp(min(-delta, 300)) * (1 + beyond + beyond**2 / 2)

    return over_pairs(phi, loss, s, y)


def over_pairs(phi: Callable[[float], float], loss: Any, s: Any, y: Any) -> float:
    """Σ φ(s_i − s_j) over y_i > y_j, or their mean."""
    terms = [phi(s[i] - s[j]) for i, j in edges(y)]
    return math.fsum(terms) / (len(terms) if loss.normalise and terms else 1)


def edges(y: Any) -> list[tuple[int, int]]:
    """The pairs (i, j) with y_i > y_j."""
    return [(i, j) for i, j in itertools.product(range(len(y)), repeat=2) if y[i] > y[j]]


def listnet(loss: Any, s: Any, y: Any) -> float:
    """Over all sequences of k documents; from k = 4 on over the very ones that the seed draws."""
    return 0.0 if len(set(y)) <= 1 else over_noise(loss, s, y, lambda noisy: top_k_entropy(loss, noisy, y))


def top_k_entropy(loss: Any, s: Any, y: Any) -> float:
    """Cross entropy of the first k documents."""
    k = min(loss.k, len(s))
    if k > 3:
        return float(np.mean([minus_log_plackett_luce(s, way, k) for way in drawn_by_labels(s, y, k, loss)]))
    ways = [[*way, *(set(range(len(s))) - set(way))] for way in itertools.permutations(range(len(s)), k)]
    return math.fsum(math.exp(-minus_log_plackett_luce(y, way, k)) * minus_log_plackett_luce(s, way, k) for way in ways)


def softmax(loss: Any, s: Any, y: Any) -> float:
    y = gain_shares(y) if loss.target == "gain-share" else y
    s, y = ([*s, 0.0], [*y, loss.anchor]) if loss.anchor is not None else (s, y)
    whole, total = np.logaddexp.reduce(s), math.fsum(y)
    hits = math.fsum(y_i / total * math.exp(s_i - whole) for s_i, y_i in zip(s, y, strict=True)) if total else 1.0
    return math.fsum(y_i * (whole - s_i) for s_i, y_i in zip(s, y, strict=True)) + loss.poly * (1 - hits)


def xe_ndcg(loss: Any, s: Any, y: Any) -> float:
    """With the very γ that the seed draws, one per document from the best grade and score."""
    if len(set(y)) <= 1:
        return 0.0
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    gains = dict(zip(order, uniforms(started(loss.seed, [y[i] for i in order])), strict=False))
    gains = {i: 2 ** y[i] - gamma for i, gamma in gains.items()}
    whole, total = np.logaddexp.reduce(s), math.fsum(gains.values())
    return math.fsum(gains[i] / total * (whole - s[i]) for i in order)


def weighted_sum(loss: Any, s: Any, y: Any) -> float:
    weights = loss.weights or [1.0] * len(loss.of)
    return math.fsum(w * REFERENCES[part.name](part, s, y) for w, part in zip(weights, loss.of, strict=True))


def drawn_by_labels(s: Any, y: Any, k: int, loss: Any) -> Iterator[list[int]]:
    """Orders whose first k documents are drawn one after another, P ∝ e^y, from documents by grade and score."""
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    draws = uniforms(started(loss.seed, [y[i] for i in order]))
    for _ in range(loss.samples):
        ranked = list(order)
        for p in range(k):
            weights = np.exp([y[i] - max(y) for i in ranked[p:]])
            q = p + min(int(np.searchsorted(np.cumsum(weights), next(draws) * weights.sum(), "right")), len(s) - p - 1)
            ranked[p], ranked[q] = ranked[q], ranked[p]
        yield ranked


def listmle(loss: Any, s: Any, y: Any) -> float:
    """The mean over the very tie-breaks that the seed draws."""
    if len(set(y)) <= 1:
        return 0.0
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    draws, value, first = split_mix(started(loss.seed, [y[i] for i in order])), 0.0, 0
    for _, documents in itertools.groupby(order, key=lambda i: y[i]):
        block = list(documents)
        end, left = first + len(block), max((loss.k or len(s)) - first, 0)
        ways = rotated(block, loss.samples, draws) if left > 0 else [block]
        w = [rank_weight(loss, first + r, len(s)) if r < left else 0.0 for r in range(len(block))]
        value += np.mean([minus_log_plackett_luce(s, [*way, *order[end:]], len(block), w) for way in ways])
        first = end
    return float(value)


def rotated(block: list[int], samples: int, draws: Iterator[int]) -> list[list[int]]:
    """Shuffle a block again and again (Fisher–Yates), and begin it at places that lie evenly around it."""
    m, ways = len(block), []
    turns = min(m, samples)
    for _ in range(1 if m <= 3 else max(samples // m, 1)):
        for p in range(m - 1, 0, -1):
            q = ((next(draws) >> 32) * (p + 1)) >> 32
            block[p], block[q] = block[q], block[p]
        ways += [block[int(t * (m / turns)) :] + block[: int(t * (m / turns))] for t in range(turns)]
    return ways


def listmle_over_all_ties(s: Any, y: Any) -> float:
    """The mean over every way to break the ties."""
    blocks = [[i for i in range(len(y)) if y[i] == grade] for grade in sorted(set(y), reverse=True)]
    ways = itertools.product(*(itertools.permutations(block) for block in blocks))
    return float(np.mean([minus_log_plackett_luce(s, [i for block in way for i in block]) for way in ways]))


def minus_log_plackett_luce(s: Any, order: Sequence[int], k: int | None = None, weights: Any = None) -> float:
    ranked, w = np.asarray(s)[list(order)], np.ones(len(order)) if weights is None else weights
    return float(sum(w[r] * (np.logaddexp.reduce(ranked[r:]) - ranked[r]) for r in range(len(ranked))[:k]))


def rank_weight(loss: Any, place: int, n: int) -> float:
    return {"none": 1.0, "log2": 1 / math.log2(2 + place), "exp2": 2.0 ** (n - place) - 1}[loss.weights]


def shuffles(s: Any, y: Any, seed: int) -> Iterator[list[int]]:
    """Orders of grade, blocks sorted by score and then shuffled again and again (Fisher–Yates)."""
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    ends = ends_of_blocks([y[i] for i in order])
    draws = split_mix(started(seed, [y[i] for i in order]))
    while True:
        start = 0
        while start < len(order):
            for p in range(ends[start] - 1, start, -1):
                q = start + (((next(draws) >> 32) * (p - start + 1)) >> 32)
                order[p], order[q] = order[q], order[p]
            start = ends[start]
        yield list(order)


def ends_of_blocks(descending: Sequence[float]) -> list[int]:
    return [max(p for p, other in enumerate(descending) if other == grade) + 1 for grade in descending]


def started(seed: int, descending: Sequence[float]) -> int:
    """The state of the generator at a query with these grades."""
    for end in ends_of_blocks(descending):
        seed = mixed(seed) ^ end
    return seed


def split_mix(state: int) -> Iterator[int]:
    """The generator SplitMix64."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        yield mixed(state)


def uniforms(state: int) -> Iterator[float]:
    return ((bits >> 11) * 2.0**-53 for bits in split_mix(state))


def mixed(state: int) -> int:
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
    return z ^ (z >> 31)


def pmop_fd(loss: Any, s: Any, y: Any) -> float:
    s, y = (-s, -y) if loss.backward else (s, y)
    total = 0.0
    for grade in set(y):
        inside, rest = s[y == grade], s[y <= grade]
        total += np.logaddexp.reduce(rest) - np.logaddexp.reduce(inside)
    return float(total)


def pmop_exact(loss: Any, s: Any, y: Any) -> float:
    """All subsets of what remains listed."""
    s, y = (-s, -y) if loss.backward else (s, y)
    return math.fsum(log_subsets(s[y <= grade]) - s[y == grade].mean() for grade in set(y))


def log_subsets(s: Any) -> float:
    """log Σ e^{mean of s over S} over the subsets that are not empty."""
    subsets = (itertools.combinations(s, m) for m in range(1, len(s) + 1))
    return float(np.logaddexp.reduce([np.mean(subset) for subset in itertools.chain.from_iterable(subsets)]))


def log_subsets_by_recursion(s: Any) -> float:
    """The same in O(N³): e_m of z = e^{s/m} document by document, in logarithms."""
    sizes = []
    for m in range(1, len(s) + 1):
        e = np.append(0.0, np.full(m, -np.inf))
        for x in np.asarray(s) / m:
            e[1:] = np.logaddexp(e[1:], e[:-1] + x)
        sizes.append(e[m])
    return float(np.logaddexp.reduce(sizes))


def pmop_gibbs(loss: Any, s: Any, y: Any) -> float:
    return contrast(gibbs_move, loss, s, y)


def pmop_mh(loss: Any, s: Any, y: Any) -> float:
    return contrast(metropolis_hastings_move, loss, s, y)


def contrast(move: Callable[[Any, set[int], Any], set[int]], loss: Any, s: Any, y: Any) -> float:
    """Σ_k mean of s over the subsets that the chain visits − mean of s over X_k."""
    s, y = (-s, -y) if loss.backward else (s, y)
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    draws, total = uniforms(started(loss.seed, [y[i] for i in order])), 0.0
    for grade in sorted(set(y), reverse=True):
        f = np.array([s[i] for i in order if y[i] <= grade])
        observed = set(range(int((y == grade).sum())))
        inside = observed
        for _ in range(loss.samples):
            inside = move(f, inside, draws)
            total += (f[sorted(inside)].mean() - f[sorted(observed)].mean()) / loss.samples
    return total


def gibbs_move(f: Any, inside: set[int], draws: Iterator[float]) -> set[int]:
    for i in range(len(f)):
        without = inside - {i}
        if without:
            gain = f[sorted(inside | {i})].mean() - f[sorted(without)].mean()
            chance = np.exp(-np.logaddexp(0, -gain))
        else:
            chance = 1.0
        inside = inside | {i} if next(draws) < chance else without
    return inside


def metropolis_hastings_move(f: Any, inside: set[int], draws: Iterator[float], *, as_printed: bool = False) -> set[int]:
    """A size evenly, then a subset of it evenly; the paper's rule leaves the binomials out of the ratio."""
    n = len(f)
    size = 1 + int(next(draws) * n)
    proposed: set[int] = set()
    for i in range(n):
        if next(draws) * (n - i) < size - len(proposed):
            proposed.add(i)
    log_ratio = f[sorted(proposed)].mean() - f[sorted(inside)].mean()
    if not as_printed:
        log_ratio += math.log(math.comb(n, len(proposed)) / math.comb(n, len(inside)))
    return proposed if next(draws) < math.exp(min(log_ratio, 0)) else inside


def energy_ndcg(loss: Any, s: Any, y: Any) -> float:
    """−Σ_i log P(r_i | mb(i)) over the ranks of an optimal ranking; without a window, the mean over all of them."""
    if len(set(y)) <= 1:
        return 0.0
    if loss.metric.name != "ndcg":
        return mean_over_ties(energy_of_metric, loss, s, y)
    if loss.window is not None and loss.window < len(s):
        return mean_over_ties(energy_of_order, loss, s, y)
    return energy_of_order(loss, s, y, sorted(range(len(s)), key=lambda i: -y[i]))


def mean_over_ties(energy: Callable[..., float], loss: Any, s: Any, y: Any) -> float:
    """The mean over the very tie-breaks that the seed draws."""
    return float(
        np.mean([energy(loss, s, y, way) for way in itertools.islice(shuffles(s, y, loss.seed), loss.samples)])
    )


def energy_of_order(loss: Any, s: Any, y: Any, order: Sequence[int]) -> float:
    windowed, value = loss.window is not None and loss.window < len(s), 0.0
    for p, i in enumerate(order):
        near = [j for q, j in enumerate(order) if not windowed or abs(p - q) <= loss.window]
        logs = rank_energies(s, y, i, near, loss.metric.cutoff, energy=loss.energy)
        same = [q for q, j in enumerate(order) if y[j] == y[i]]
        value += np.logaddexp.reduce(logs) - (logs[p] if windowed else np.mean([logs[q] for q in same]))
    return float(value)


def rank_energies(
    s: Any, y: Any, i: int, blanket: Sequence[int], cutoff: int | None = None, *, energy: str = "ndcg"
) -> list[float]:
    """log P(r_i = r | mb(i)) up to a constant, for all r."""
    n = len(s)
    if energy == "rank":
        return [-2 / (n * (n - 1)) * sum(s[i] - s[j] for j in blanket) * r for r in range(1, n + 1)]
    pull = sum(abs(2 ** y[i] - 2 ** y[j]) * (s[i] - s[j]) for j in blanket) / n
    return [pull / math.log2(r + 1) if cutoff is None or r <= cutoff else 0.0 for r in range(1, n + 1)]


def energy_of_metric(loss: Any, s: Any, y: Any, order: Sequence[int]) -> float:
    """Documents really moved to every place, then swapped with every other, and the metric computed each time."""

    def measured(way: Sequence[int]) -> float:
        return of_grades(tuple(y[list(way)]))

    @functools.cache
    def of_grades(grades: tuple[float, ...]) -> float:
        return float(np.nan_to_num(loss.metric(-np.arange(len(grades), dtype=float), grades, [0, len(grades)])[0]))

    def exchanged(way: Sequence[int], a: int, b: int) -> list[int]:
        way = list(way)
        way[a], way[b] = way[b], way[a]
        return way

    n = len(s)
    window, value = loss.window or n, 0.0
    for p, i in enumerate(order):
        logs = []
        for r in range(n):
            way = exchanged(order, p, r)
            near = [q for q in range(n) if abs(q - r) <= window]
            change = [np.sign(q - r) * abs(measured(exchanged(way, r, q)) - measured(way)) for q in near]
            logs.append(sum(c * (s[i] - s[way[q]]) for c, q in zip(change, near, strict=True)))
        value += np.logaddexp.reduce(logs) - logs[p]
    return float(value)


def pair_energy(s: Any, y: Any, ranks: Any, *, as_printed: bool = False) -> float:
    """Σ over r_u > r_v of c (s_u − s_v), times 2/m(m − 1), c = |ΔNDCG| up to the ideal DCG, or signed as printed."""
    m, total = len(s), 0.0
    for u, v in itertools.permutations(range(m), 2):
        if ranks[u] > ranks[v]:
            c = (2 ** y[u] - 2 ** y[v]) * (1 / math.log2(ranks[u] + 1) - 1 / math.log2(ranks[v] + 1))
            total += (c if as_printed else abs(c)) * (s[u] - s[v])
    return 2 * total / (m * (m - 1))


def boltzrank(loss: Any, s: Any, y: Any) -> float:
    """Minus the mean measure of the very rankings that the seed draws."""
    if len(set(y)) <= 1:
        return 0.0
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    c, state = 2 * loss.alpha / (len(s) - 1), started(loss.seed, [y[i] for i in order])
    ways = (swapped if loss.proposals == "chain" else raced)(s[order], c, state)
    places = [np.argsort(way) for way in itertools.islice(ways, loss.samples)]
    values = [np.nan_to_num(loss.metric(-place, y[order], [0, len(s)])[0]) for place in places]
    logs = np.zeros(len(places))
    if loss.proposals == "plackett-luce":
        scaled = c * (len(s) + 1) / 3 * s[order]
        energies = np.array([c * float((place + 1) @ s[order]) for place in places])
        logs = np.array([minus_log_plackett_luce(scaled, np.argsort(place)) for place in places]) - energies
    return -float(np.average(values, weights=np.exp(logs - logs.max())))


def yeti_rank(loss: Any, s: Any, y: Any) -> float:
    """Over the very rankings that the seed draws; with a metric, documents really swapped."""
    if len(set(y)) <= 1:
        return 0.0
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    draws, terms = uniforms(started(loss.seed, [y[i] for i in order])), []
    for _ in range(loss.samples):
        keys = {i: s[i] + drawn_noise(loss.noise, draws) for i in order}
        ranked = sorted(order, key=lambda i: -keys[i])
        for p, q in itertools.combinations(range(len(s)), 2):
            i, j = sorted((ranked[p], ranked[q]), key=lambda i: -y[i])
            if q - p <= loss.neighbours and y[i] > y[j]:
                w = (
                    0.15 * loss.decay**p * (y[i] - y[j])
                    if loss.metric is None
                    else swapped_metric(loss, y, ranked, p, q)
                )
                terms.append(w * np.logaddexp(0, s[j] - s[i]))
    return math.fsum(terms) / loss.samples


def drawn_noise(kind: str, draws: Iterator[float]) -> float:
    """A standard Gumbel, logistic or normal number (Box & Muller)."""
    u = next(draws)
    if kind == "normal":
        return math.sqrt(-2 * math.log1p(-u)) * math.cos(2 * math.pi * next(draws))
    return math.log(u / (1 - u)) if kind == "logistic" else -math.log(-math.log1p(-u))


def swapped_metric(loss: Any, y: Any, ranked: Sequence[int], p: int, q: int) -> float:
    """|ΔM| if the documents at places p and q are swapped."""
    other = list(ranked)
    other[p], other[q] = other[q], other[p]
    values = [loss.metric(-np.arange(len(y), dtype=float), y[list(way)], [0, len(y)])[0] for way in (ranked, other)]
    return float(abs(np.diff(np.nan_to_num(values))[0]))


def pl_rank(loss: Any, s: Any, y: Any) -> float:
    """1 − Σ_r E(what rank r adds | the ranks above), mean over the very rankings that the seed draws."""
    if len(set(y)) <= 1 or np.isclose(added(loss, y, max(y), 0), added(loss, y, min(y), 0)):
        return 0.0
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    draws, total = uniforms(started(loss.seed, [y[i] for i in order])), 0.0
    for _ in range(loss.samples):
        keys = {i: s[i] + drawn_noise("gumbel", draws) for i in order}
        ranked = sorted(order, key=lambda i: -keys[i])
        for r in range(len(s)):
            left = ranked[r:]
            log_sum = np.logaddexp.reduce([s[i] for i in left])
            total += math.fsum(math.exp(s[i] - log_sum) * added(loss, y, y[i], r) for i in left)
    return 1 - total / loss.samples


def added(loss: Any, y: Any, grade: float, r: int) -> float:
    """What a document of this grade alone adds to a metric of judged documents y, at place r."""
    alone = np.zeros(len(y))
    alone[r] = grade
    judged = {"judged": y, "judged_offsets": [0, len(y)]}
    return float(np.nan_to_num(loss.metric(-np.arange(len(y), dtype=float), alone, [0, len(y)], **judged)[0]))


def stochastic_rank(loss: Any, s: Any, y: Any) -> float:
    """1 − the mean metric of the very scores that the seed draws."""
    if len(set(y)) <= 1:
        return 0.0
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    draws, values = uniforms(started(loss.seed, [y[i] for i in order])), []
    for _ in range(loss.samples):
        z = np.empty(len(s))
        for i in order:
            z[i] = s[i] + loss.sigma * (drawn_noise("normal", draws) - loss.mu * y[i])
        values.append(loss.metric(z, y, [0, len(s)])[0])
    return 0.0 if np.isnan(values).any() else 1 - float(np.mean(values))


def raced(s: Any, c: float, state: int) -> Iterator[list[int]]:
    """Rankings, best first, of Plackett–Luce with scores c(n + 1)/3·s: each document arrives at e^{−score}·Exp(1)."""
    draws = uniforms(state)
    while True:
        keys = [c * (len(s) + 1) / 3 * one - math.log(-math.log1p(-next(draws))) for one in s]
        yield sorted(range(len(s)), key=lambda i: -keys[i])


def swapped(s: Any, c: float, state: int) -> Iterator[list[int]]:
    """Rankings, best first, that Metropolis steps visit: any two places, then two neighbours, and so on."""
    n, ranked, draws = len(s), sorted(range(len(s)), key=lambda i: -s[i]), split_mix(state)

    def energy() -> float:
        return c * sum((p + 1) * s[i] for p, i in enumerate(ranked))

    steps = 10 * n
    while True:
        for step in range(steps):
            p = ((next(draws) >> 32) * n) >> 32
            q = min(p + 1, n - 1) if step % 2 else ((next(draws) >> 32) * n) >> 32
            before = energy()
            ranked[p], ranked[q] = ranked[q], ranked[p]
            if (next(draws) >> 11) * 2.0**-53 >= math.exp(min(before - energy(), 0)):
                ranked[p], ranked[q] = ranked[q], ranked[p]
        steps = 2 * n
        yield list(ranked)


def lambdarank(loss: Any, s: Any, y: Any) -> float:
    """Documents really swapped, and the metric computed before and after."""

    def measured(places: Any) -> float:
        return float(np.nan_to_num(loss.metric(-places.astype(float), y, [0, len(y)])[0]))

    places = np.empty(len(s), int)
    places[sorted(range(len(s)), key=lambda i: (-s[i], y[i]))] = np.arange(len(s))
    terms, forces, pairs = [], np.zeros(len(s)), []
    for i, j, times in weighted_pairs(loss, s, y):
        swapped = places.copy()
        swapped[i], swapped[j] = places[j], places[i]
        seen = min(places[i], places[j]) < (loss.metric.cutoff or len(s))
        pairs.append((i, j, times * abs(measured(swapped) - measured(places)), times * (y[i] - y[j]) * seen))
    share, change, apart = loss.by_grade, sum(pair[2] for pair in pairs), sum(pair[3] for pair in pairs)
    for i, j, delta, grades in pairs:
        delta = (1 - share) * delta + share * grades * change / (apart or 1)
        delta /= 0.01 + abs(s[i] - s[j]) if loss.distance and len(set(s)) > 1 else 1.0
        terms.append(delta * np.logaddexp(0, loss.sigma * (s[j] - s[i])))
        force = delta * loss.sigma * math.exp(-np.logaddexp(0, loss.sigma * (s[i] - s[j])))
        forces[i] += force
        forces[j] -= force
    total = abs(forces).sum()
    damping = math.log2(1 + total) / total if loss.damped and total else 1.0
    count = len(terms) if loss.pairs is None else len(s)
    return damping * float(sum(terms)) / (count if loss.normalise and terms else 1)


def weighted_pairs(loss: Any, s: Any, y: Any) -> list[tuple[int, int, float]]:
    """All pairs (better, worse), or those that the seed draws for each document, with their weights."""
    if loss.pairs is None or len(set(y)) <= 1:
        return [(i, j, 1.0) for i, j in edges(y)]
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    draws, pairs = uniforms(started(loss.seed, [y[i] for i in order])), []
    for i in order:
        others = [j for j in order if y[j] != y[i]]
        for _ in range(loss.pairs):
            j = others[int(next(draws) * len(others))]
            pairs.append((*((i, j) if y[i] > y[j] else (j, i)), 1 / loss.pairs))
    return pairs


def lambda_loss(loss: Any, s: Any, y: Any) -> float:
    """The weights of the papers, pair by pair, at the ranks of these scores."""
    rank = {i: r for r, i in enumerate(sorted(range(len(s)), key=lambda i: -s[i]), 1)}
    k, terms = loss.k or len(s), []
    gains = [2.0**grade - 1 for grade in y]
    ideal = math.fsum(g / math.log2(r + 1) for r, g in enumerate(sorted(gains, reverse=True)[:k], 1)) or 1.0

    def cut(r: int) -> float:
        return 1 / math.log2(1 + r) if r <= k else 0.0

    def weight(i: int, j: int) -> float:
        if loss.scheme in ("ndcg1", "arp1"):
            return y[i] if loss.scheme == "arp1" else gains[i] / ideal * cut(rank[i])
        if loss.scheme in ("arp2", "label-diff", "label-diff2"):
            return y[i] ** 2 - y[j] ** 2 if loss.scheme == "label-diff2" else y[i] - y[j]
        apart, lower, gap = abs(rank[i] - rank[j]), max(rank[i], rank[j]), (gains[i] - gains[j]) / ideal
        two = gap * (1 / math.log2(1 + apart) - 1 / math.log2(2 + apart))
        two /= 1 - 1 / math.log2(1 + lower) if lower > k else 1.0
        return two if loss.scheme == "ndcg2" else loss.mu * two + gap * abs(cut(rank[i]) - cut(rank[j]))

    for i, j in itertools.permutations(range(len(y)), 2):
        if loss.scheme in ("ndcg1", "arp1") or y[i] > y[j]:
            terms.append(weight(i, j) * np.logaddexp(0, loss.sigma * (s[j] - s[i])))
    return math.fsum(terms) / (len(terms) if loss.normalise and terms else 1)


def over_noise(loss: Any, s: Any, y: Any, plain: Callable[[Any], float]) -> float:
    """Mean of a loss over the very scores with Gumbel noise that the seed draws."""
    if loss.noise == "none":
        return plain(s)
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    draws, values = uniforms(started(loss.seed, [y[i] for i in order])), []
    for _ in range(loss.samples):
        noise = {i: loss.beta * drawn_noise("gumbel", draws) for i in order}
        values.append(plain(np.array([s[i] + noise[i] for i in range(len(s))])))
    return math.fsum(values) / loss.samples


def apprank(loss: Any, s: Any, y: Any) -> float:
    """The measure, at ranks that are sums of sigmoids."""
    return 0.0 if len(set(y)) <= 1 else over_noise(loss, s, y, lambda noisy: smooth_measure(loss, noisy, y))


def smooth_measure(loss: Any, s: Any, y: Any) -> float:
    """1 − a measure at smooth ranks."""

    def ahead(i: int, others: Any) -> float:
        return 1 + math.fsum(math.exp(-np.logaddexp(0, loss.alpha * (s[i] - s[j]))) for j in others if j != i)

    everyone = range(len(s))
    if loss.measure == "p":
        places = [loss.k + 0.5 - ahead(i, everyone) for i in everyone if y[i] >= 1]
        return 1 - math.fsum(1 / (1 + math.exp(-min(place, 700))) for place in places) / loss.k
    if loss.measure == "err":
        stops = [(2**grade - 1) / 2 ** max(y) for grade in y]
        passed = [
            math.prod(1 - stops[j] * math.exp(-np.logaddexp(0, loss.alpha * (s[i] - s[j]))) for j in everyone if j != i)
            for i in everyone
        ]
        return 1 - math.fsum(stops[i] / ahead(i, everyone) * passed[i] for i in everyone)
    if loss.measure == "mrr":
        return 1 - math.fsum(y[i] / ahead(i, everyone) for i in everyone) / math.fsum(y)
    if loss.measure == "ap":
        relevant = [i for i in everyone if y[i] >= 1]
        return 1 - math.fsum(ahead(i, relevant) / ahead(i, everyone) for i in relevant) / len(relevant)
    ideal = math.fsum((2**grade - 1) / math.log2(r + 2) for r, grade in enumerate(sorted(y, reverse=True)))
    return 1 - math.fsum((2 ** y[i] - 1) / math.log2(1 + ahead(i, everyone)) for i in everyone) / ideal


def neural_ndcg(loss: Any, s: Any, y: Any) -> float:
    """Whole matrices, with the very noise that the seed draws."""
    if len(set(y)) <= 1:
        return 0.0
    n, order, values = len(s), sorted(range(len(s)), key=lambda i: (-y[i], -s[i])), []
    draws = uniforms(started(loss.seed, [y[i] for i in order]))
    discounts = [1 / math.log2(r + 2) if loss.k is None or r < loss.k else 0.0 for r in range(n)]
    gains, ideal = (
        2.0**y - 1,
        math.fsum((2**g - 1) * d for g, d in zip(sorted(y, reverse=True), discounts, strict=True)),
    )
    for _ in range(max(loss.samples, 1)):
        noise = {i: loss.beta * drawn_noise("gumbel", draws) if loss.samples else 0.0 for i in order}
        z = np.array([s[i] + noise[i] for i in range(n)])
        far = np.abs(z[:, None] - z).sum(axis=1)
        logits = ((n - 1 - 2 * np.arange(n))[:, None] * z - far) / loss.tau
        P = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
        for _ in range(loss.scale):
            P = P / P.sum(axis=0)
            P = P / P.sum(axis=1, keepdims=True)
        values.append(float(discounts @ P @ gains) / ideal)
    return 1 - float(np.mean(values))


def softrank(loss: Any, s: Any, y: Any) -> float:
    """Every subset of the others that might beat a document listed, for the distribution of its rank."""
    if len(set(y)) <= 1:
        return 0.0
    n = len(s)
    discounts = [1 / math.log2(r + 2) if loss.k is None or r < loss.k else 0.0 for r in range(n)]
    ideal = math.fsum((2**grade - 1) * d for grade, d in zip(sorted(y, reverse=True), discounts, strict=True))
    total = 0.0
    for j in range(n):
        beats = [0.5 * math.erfc((s[j] - s[i]) / (2 * loss.sigma)) for i in range(n) if i != j]
        for way in itertools.product([0, 1], repeat=n - 1):
            chance = math.prod(p if above else 1 - p for p, above in zip(beats, way, strict=True))
            total += (2 ** y[j] - 1) * chance * discounts[sum(way)]
    return 1 - total / ideal


def thurstone(loss: Any, s: Any, y: Any) -> float:
    """Cut by cut the integral of −d/dx Π Φ(s_i − x) times Π Φ(x − s_j), on a fine grid."""
    z, total = np.asarray(s) / loss.sigma, 0.0
    x = np.linspace(z.min() - 12, z.max() + 12, 60_001)
    for grade in sorted(set(y), reverse=True)[:-1]:
        best, rest = z[y >= grade], z[y < grade]
        above = np.array([log_ndtr(one - x) for one in best])
        log_density = np.logaddexp.reduce(norm.logpdf(x, best[:, None]) - above, axis=0)
        log_integrand = log_density + above.sum(axis=0) + sum(log_ndtr(x - one) for one in rest)
        total -= float(np.logaddexp.reduce(log_integrand) + np.log(x[1] - x[0]))
    return total


def mallows(loss: Any, s: Any, y: Any) -> float:
    """θ times the expected number of contradicted pairs, and normalisers that sum over inversion numbers."""
    if len(set(y)) <= 1:
        return 0.0

    def log_psi(n: int) -> float:
        return math.fsum(math.log(math.fsum(math.exp(-v * theta) for v in range(i))) for i in range(1, n + 1))

    theta, pairs = math.exp(loss.log_theta), edges(y)
    distance = math.fsum(1 / (1 + math.exp(min(s[i] - s[j], 700))) for i, j in pairs)
    value = theta * distance + log_psi(len(y)) - math.fsum(log_psi(list(y).count(grade)) for grade in set(y))
    return value / (len(pairs) if loss.normalise else 1)


def structrank(loss: Any, s: Any, y: Any) -> float:
    """Every function of the networks, one by one."""
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    r = [s[i] - s[j] for i, j in itertools.product(order, repeat=2) if y[i] > y[j]]
    pairs = list(itertools.permutations(range(len(r)), 2))
    if loss.topology == "random":
        draws = split_mix(started(loss.seed, [y[i] for i in order]))
        drawn = [(e, ((next(draws) >> 32) * (len(r) - 1)) >> 32) for e in range(len(r)) for _ in range(loss.partners)]
        pairs = [(e, f + (f >= e)) for e, f in drawn]
    terms, gaussian = [], loss.function == "gaussian"
    for w1, w2 in np.exp(cdn_weights(loss)):
        if loss.topology == "plackett-luce":
            beaten = [[w1 * (s[j] - s[i]) for j in range(len(s)) if y[i] > y[j]] for i in range(len(s))]
            terms += [float(np.logaddexp.reduce([0.0, *mine])) for mine in beaten if mine]
        elif loss.topology == "disconnected" or len(r) == 1:
            terms += [-(log_ndtr(w1 * r_e) if gaussian else log_cdf(w1 * r_e)) for r_e in r]
        else:
            terms += [
                -(log_cdf_of_two(w1 * r[e], w2 * r[f], loss.correlation) if gaussian else log_cdf(w1 * r[e], w2 * r[f]))
                for e, f in pairs
            ]
    return math.fsum(terms) / (len(terms) if loss.normalise and terms else 1)


def log_cdf_of_two(u: float, v: float, rho: float) -> float:
    """log Φ₂(u, v; ρ) as the integral of φ(x) Φ((v − ρx)/√(1 − ρ²)) over x ≤ u, in units of its largest value."""

    def log_height(x: Any) -> Any:
        return -0.5 * x**2 - 0.5 * math.log(2 * math.pi) + log_ndtr((v - rho * x) / math.sqrt(1 - rho**2))

    peak = u
    for width, points in ((u - min(u, v, 0.0) + 12.0, 8001), (0.5, 401)):
        x = np.linspace(peak - width, min(peak + width, u), points)
        peak = x[np.argmax(log_height(x))]
    ends = sorted({min(u, peak + sign * far) for sign in (-1, 1) for far in (0.0, 0.1, 1.0, 3.0, 8.0, 40.0)})
    parts = [np.linspace(low, high, 801) for low, high in itertools.pairwise(ends)]
    top = float(log_height(peak))
    return top + math.log(sum(float(simpson(np.exp(log_height(x) - top), x=x)) for x in parts))


def cdn_weights(loss: Any) -> list[tuple[float, float]]:
    """(log w₁, log w₂) of each function."""
    more = loss.more or [
        x for k in range(2, loss.functions + 1) for x in (loss.log_w1 + math.log(k), loss.log_w2 - math.log(k))
    ]
    logs = [loss.log_w1, loss.log_w2, *more]
    return list(zip(logs[::2], logs[1::2], strict=True))


def log_cdf(*z: float) -> float:
    return -float(np.logaddexp.reduce([0.0, *(-x for x in z)]))


REFERENCES: dict[str, Callable[[Any, Any, Any], float]] = {
    name.replace("_", "-"): function for name, function in list(globals().items()) if callable(function)
}
REFERENCES["sum"] = weighted_sum
"""By the loss's name: the function of that name."""
