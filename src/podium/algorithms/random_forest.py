"""Random forest: the mean of trees that are each grown on a bootstrap sample of the queries.

>>> from podium.algorithms import RandomForest
>>> RandomForest(trees=100)
random-forest(trees=100)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.algorithms.requirements import needs_grades, needs_pairs
from podium.base.arrays import Array, Flags
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.learner import Learned, Learner
from podium.losses import Loss, Regression, sweep
from podium.scorers import Params, Prepared, Trees
from podium.scorers.forms import TreesForm
from podium.scorers.trees.grower import Bins, Grower
from podium.scorers.trees.lightgbm_text import read_forest, with_values
from podium.solvers import Watch, mean_metric
from podium.solvers.boosting import for_leaves, weighted
from podium.transforms import Identity, Transform

if TYPE_CHECKING:
    from podium.metrics import Metric


@register
class RandomForest(Learner):
    """The mean of large trees, each grown on a bootstrap sample of the queries with a share of the features.

    Formula: s = (1/T) Σ_t tree_t(x). Each tree fits −gradient/curvature of the loss `of` at equal scores: with
        regression, the mean grade of the sampled documents in each leaf. Trees do not see each other.
    Ties: those of the loss `of`.
    Cost: O(documents × features) per tree and level; scoring walks every tree.
    Use it for: few queries and noisy grades, with nothing to tune; a forest whose parts were not fitted to each other.
        The record has its metric on the queries that each tree did not see (out of bag), without validation data.
    Reference: Breiman, Random forests, 2001; Mohan, Chen and Weinberger, Web-search ranking with initialized gradient
        boosted regression trees, 2011.
    """

    trees: int = param(default=300, least=1)
    """Number of trees."""
    num_leaves: int = param(default=100, least=2, most=131072, search=(10, 300, "log"))
    """Most leaves of a tree."""
    min_data_in_leaf: int = param(default=5, least=1, search=(1, 50, "log"))
    """Minimum number of documents in a leaf, sampled or not."""
    feature_fraction: float = param(default=0.3, above=0, most=1, search=(0.1, 1.0))
    """Fraction of features that each tree may use."""
    of: Loss = Regression()
    """The loss whose gradient at equal scores is fitted."""
    transform: Transform = Identity()
    name = "random-forest"

    @property
    def takes_row_weights(self) -> bool:
        return True

    @property
    def takes_categories(self) -> bool:
        return self.transform.categories != "refused"

    def check(self, data: Dataset) -> None:
        self.of.check(data)
        if self.of.shift_invariant:
            needs_pairs(data, self.name)
        else:
            needs_grades(data, self.name)
        self.of.check_labels(data)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        plain = replace(data, base_scores=None)
        loss = self.of.fitted_to(plain)
        got = sweep(loss, np.zeros(data.n_documents), plain)
        gradient, curvature = weighted(got, data)
        grower = Grower(
            Bins(
                data, None, num_leaves=self.num_leaves, min_data_in_leaf=self.min_data_in_leaf, learning_rate=1.0,
                feature_fraction=self.feature_fraction, seed=int(rng.integers(2**31)),
            )
        )  # fmt: skip
        unseen = _OutOfBag(data)
        rounds, reason = 0, f"{self.trees} trees were allowed"
        for rounds in range(1, self.trees + 1):
            counts = rng.multinomial(data.n_queries, np.full(data.n_queries, 1.0 / data.n_queries))
            times = np.repeat(counts, data.sizes)
            sampled = for_leaves(gradient * times, curvature * times, None)
            if not grower.grow(lambda _, sampled=sampled: sampled):  # type: ignore[misc]
                rounds, reason = rounds - 1, f"no split found after {rounds - 1} trees"
                break
            unseen.add(grower.outputs(), times == 0)
            watch.record(rounds, self.trees, got.value / data.n_queries, scores=_none, state=None, patience=None)
        text = grower.text(rounds)
        values = read_forest(text, data.n_features).values / max(rounds, 1)
        record: dict[str, Any] = {"stopped": reason, "iterations": rounds}
        if watch.metric is not None and data.labels is not None:
            record |= unseen.record(watch.metric)
        return Learned(replace(self, of=loss), {"trees": with_values(text, values)}, record)

    def score(self, params: Params, data: Dataset) -> Array:
        return Trees().score(params, data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        return Trees().prepare(params, n_features)

    def form(self, params: Params, n_features: int) -> TreesForm:
        return TreesForm(params["trees"], n_features)


def _none(_: Dataset) -> Array:
    raise AssertionError("not called without patience")


class _OutOfBag:
    """Mean of the trees that did not see a document's query."""

    def __init__(self, data: Dataset) -> None:
        self.data, self.before = data, np.zeros(data.n_documents)
        self.sums, self.counts = np.zeros(data.n_documents), np.zeros(data.n_documents)

    def add(self, outputs: Array, unseen: Flags) -> None:
        """Take in a tree, by the sum of all up to it."""
        self.sums += np.where(unseen, outputs - self.before, 0.0)
        self.counts += unseen
        self.before = outputs

    def record(self, metric: Metric) -> dict[str, Any]:
        """The metric on the queries that some tree did not see, if there are any."""
        seen_by_all = self.counts[self.data.offsets[:-1].clip(max=len(self.counts) - 1)] == 0
        queries = np.flatnonzero(~seen_by_all & (self.data.sizes > 0))
        if not len(queries):
            return {}
        scores = replace(self.data, base_scores=self.sums / np.maximum(self.counts, 1)).select(queries)
        part = replace(scores, base_scores=None)
        assert scores.base_scores is not None
        value = mean_metric(metric, scores.base_scores, part)
        return {} if np.isnan(value) else {"out_of_bag": value}
