"""GBRank: gradient-boosted regression on pairs in the wrong order, averaged over the rounds (Zheng et al., 2007).

>>> from podium.algorithms import GBRank
>>> GBRank(num_leaves=15)
gbrank(num_leaves=15)
"""

from __future__ import annotations

import numpy as np

from podium.algorithms.requirements import needs_pairs
from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.learner import Learned, Learner
from podium.scorers import Params, Prepared, Trees
from podium.scorers.forms import TreesForm
from podium.scorers.trees.grower import Bins, Grower
from podium.solvers import Watch
from podium.transforms import Identity, Transform

MARGIN = 1.0
"""τ."""


@register
class GBRank(Learner):
    """Boosted regression on targets that would correct the pairs in the wrong order, averaged over the rounds.

    Formula: L = ½ Σ_{y_i > y_j} [τ − (f_i − f_j)]²_+. Round k takes the pairs with f_i − f_j < τ, sets the targets
        f_j + τ for i and f_i − τ for j, fits a function g_k to them (each document's mean target, weighted by its
        pairs) and sets f_k = (k·f_{k−1} + β·g_k)/(k + 1), f_0 = 0; so f_k = β Σ_{m ≤ k} g_m/(k + 1), and the score is
        β Σ g. g_k is a sum of `trees` boosted regression trees, each times `shrinkage`: it must fit f as well as the
        step beyond it, which one tree does badly. τ = 1: it only scales f. With `normalise` a pair weighs 1 over
        the number of its query's pairs.
    Ties: documents of equal grade are not compared.
    Cost: O(documents × features) per tree, and O(n²) additions per query and round to find its pairs.
    Use it for: non-linear ranking by pairs; explicit preferences. `lambdamart` does as well in a fraction of the time.
    Reference: Zheng, Chen, Sun and Zha, A regression framework for learning ranking functions using relative relevance
        judgments, SIGIR 2007.
    """

    learning_rate: float = param(default=1.0, above=0, most=1, search=(0.05, 1.0, "log"))
    """β; above 1 the targets would diverge."""
    rounds: int = param(default=100, least=1)
    """Most rounds, each of which adds a function."""
    trees: int = param(default=30, least=1)
    """Number of trees per round."""
    shrinkage: float = param(default=0.1, above=0, most=1, search=(0.03, 1.0, "log"))
    """Factor of each tree of a round's function."""
    num_leaves: int = param(default=7, least=2, search=(4, 64, "log"))
    """Most leaves of a tree."""
    min_data_in_leaf: int = param(default=20, least=1, search=(5, 100, "log"))
    """Minimum number of documents in a leaf."""
    normalise: bool = False
    """Whether a query's sum is divided by its number of pairs, so that long queries count like short ones."""
    patience: int | None = param(default=25, least=1)
    """Early stopping: end after this many rounds without a better validation metric."""
    transform: Transform = Identity()
    name = "gbrank"

    def check(self, data: Dataset) -> None:
        needs_pairs(data, self.name)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        bins = Bins(
            data, watch.valid, num_leaves=self.num_leaves, min_data_in_leaf=self.min_data_in_leaf,
            learning_rate=self.learning_rate * self.shrinkage, min_sum_hessian_in_leaf=0.0,
            seed=int(rng.integers(2**31)),
        )  # fmt: skip
        grower = Grower(bins)
        grown = [0]  # trees after each round
        value, reason = np.inf, f"{self.rounds} rounds were allowed"
        for rounds in range(1, self.rounds + 1):
            sums = grower.outputs()
            value, target, weight = _targets(sums / rounds, data, self.normalise)
            if not weight.any():
                reason = "every pair is in order by the margin"
                break
            trees = self._regress(grower, sums, target, weight)
            if trees == 0:
                reason = f"no further split found after {rounds - 1} rounds"
                break
            grown.append(grown[-1] + trees)
            if watch.record(
                rounds,
                self.rounds,
                value,
                scores=lambda _: grower.valid_outputs(),
                state=rounds,
                patience=self.patience,
            ):
                reason = "no better validation measure"
                break
        keep = len(grown) - 1 if watch.best is None else watch.best.iteration
        record = {"stopped": reason, "iterations": len(grown) - 1, "kept": keep, "objective": value}
        return Learned(self, {"trees": grower.text(grown[keep])}, record)

    def _regress(self, grower: Grower, sums: Array, target: Array, weight: Array) -> int:
        """Add g_k, boosted towards target/weight; returns the number of its trees, fewer if no split is left."""
        for trees in range(self.trees):
            g = (grower.outputs() - sums) / self.learning_rate
            gradient = weight * g - target
            if not grower.grow(lambda _, gradient=gradient: (gradient, weight)):  # type: ignore[misc]
                return trees
        return self.trees

    def score(self, params: Params, data: Dataset) -> Array:
        return Trees().score(params, data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        return Trees().prepare(params, n_features)

    def form(self, params: Params, n_features: int) -> TreesForm:
        return Trees().form(params, n_features)


def _targets(f: Array, data: Dataset, normalise: bool) -> tuple[float, Array, Array]:
    """The loss over the pairs; for each document the sum of its weighted targets, and that of the weights."""
    target, weight, values = np.zeros(len(f)), np.zeros(len(f)), np.zeros(data.n_queries)
    if data.preferences is not None:
        edges, offsets = data.preferences.edges, data.preferences.offsets
        _over_edges(f, edges, offsets, data.offsets, normalise, target, weight, values)
    else:
        assert data.labels is not None
        _over_grades(f, data.labels, data.offsets, normalise, target, weight, values)
    if data.query_weights is not None:
        values, weights = values * data.query_weights, data.query_weights_of_rows()
        target, weight = target * weights, weight * weights
    return float(values.sum()), target, weight


@compiled
def _over_grades(
    f: Array, labels: Array, offsets: Ints, normalise: bool,
    target: Array, weight: Array, values: Array,
) -> None:  # fmt: skip
    for q in range(len(values)):
        a, b = offsets[q], offsets[q + 1]
        s, y, t, w = f[a:b], labels[a:b], target[a:b], weight[a:b]
        pairs = 0
        for i in range(len(s)):
            for j in range(len(s)):
                if y[i] > y[j]:
                    pairs += 1
                    if s[i] - s[j] < MARGIN:
                        _add(s, i, j, 1.0, t, w)
                        values[q] += 0.5 * (MARGIN - s[i] + s[j]) ** 2
        if normalise and pairs > 0:
            _divide(t, w, values, q, pairs)


@compiled
def _over_edges(
    f: Array, edges: Array, edge_offsets: Ints, offsets: Ints, normalise: bool,
    target: Array, weight: Array, values: Array,
) -> None:  # fmt: skip
    for q in range(len(values)):
        a, b = offsets[q], offsets[q + 1]
        s, t, w = f[a:b], target[a:b], weight[a:b]
        part = edges[edge_offsets[q] : edge_offsets[q + 1]]
        total = 0.0
        for e in range(len(part)):
            i, j, p = int(part[e, 0]), int(part[e, 1]), part[e, 2]
            total += part[e, 3]
            for _ in range(2):
                if p > 0.0 and s[i] - s[j] < MARGIN:
                    _add(s, i, j, part[e, 3] * p, t, w)
                    values[q] += 0.5 * part[e, 3] * p * (MARGIN - s[i] + s[j]) ** 2
                i, j, p = j, i, 1.0 - p  # an edge of probability p says the reverse with 1 − p
        if normalise and total > 0.0:
            _divide(t, w, values, q, total)


@compiled
def _add(s: Array, i: int, j: int, p: float, t: Array, w: Array) -> None:
    t[i] += p * (s[j] + MARGIN)
    t[j] += p * (s[i] - MARGIN)
    w[i] += p
    w[j] += p


@compiled
def _divide(t: Array, w: Array, values: Array, q: int, pairs: float) -> None:
    t /= pairs
    w /= pairs
    values[q] /= pairs
