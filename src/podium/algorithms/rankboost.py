"""RankBoost: boosting of feature thresholds on pairs of documents (Freund, Iyer, Schapire and Singer, 2003).

>>> from podium.algorithms import RankBoost
>>> RankBoost(rounds=100)
rankboost(rounds=100)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from podium.algorithms.requirements import needs_pairs
from podium.base.arrays import Array, Bytes, Ints, Singles, column
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.learner import Learned, Learner, fitted
from podium.losses import Exponential, sweep
from podium.scorers import Params
from podium.scorers.forms import StumpsForm
from podium.solvers import Watch
from podium.transforms import Identity, Transform

MOST_BINS = 255
NEARLY_ONE = 1.0 - 1e-6
"""A perfect weak ranker gets the weight of this r, since that of r = 1 is infinite."""


@register
class RankBoost(Learner):
    """Boosting that adds, in each round, the feature threshold that best orders the pairs still in the wrong order.

    Formula: f = Σ_t α_t h_t with h(x) = 1 for x_l > θ, 0 for x_l ≤ θ, and 0 or 1, whichever is better, for a missing
        x_l. The weight of a pair y_i > y_j is D_ij ∝ e^{−(f_i − f_j)}; a document's potential is
        π_i = Σ_j D_ij − Σ_j D_ji. The h with the largest |r|, r = Σ_i π_i h(x_i), gets α = ½ ln((1 + r)/(1 − r)). Each
        round multiplies the loss Σ e^{−(f_i − f_j)} by at most √(1 − r²). With `normalise` each query weighs the same.
    Ties: documents of equal grade are not compared; those with all features on the same sides of all thresholds tie.
    Cost: O(documents × features) per round: the weights factor, and thresholds are found on histograms.
    Use it for: features on any scale, missing values; a readable sum of thresholds. Takes explicit preferences.
    Reference: Freund et al., An efficient boosting algorithm for combining preferences, JMLR 2003.
    """

    rounds: int = param(default=300, least=1)
    """Most rounds, each of which adds a threshold."""
    max_bin: int = param(default=MOST_BINS, least=2, most=MOST_BINS)
    """Maximum number of distinct values of a feature; more are binned at quantiles."""
    normalise: bool = False
    """Whether each query weighs the same, however many pairs it has."""
    patience: int | None = param(default=100, least=1)
    """Early stopping: end after this many rounds without a better validation metric."""
    transform: Transform = Identity()
    name = "rankboost"

    def check(self, data: Dataset) -> None:
        needs_pairs(data, self.name)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        binned, edges = _binned(data, self.max_bin)
        loss = Exponential(normalise=self.normalise)
        scores, valid_scores = (
            np.zeros(data.n_documents),
            np.zeros(0 if watch.valid is None else watch.valid.n_documents),
        )
        weak: list[_Weak] = []
        now = sweep(loss, scores, data)
        start, reason = now.value, f"{self.rounds} rounds were allowed"
        for rounds in range(1, self.rounds + 1):
            h = _best(binned, edges, -now.gradient / now.value)
            if abs(h.r) <= _NOTHING:
                reason = "no threshold orders the remaining pairs better than chance"
                break
            weak.append(h)
            scores += h.alpha * h(column(data.features, h.feature))
            if watch.valid is not None:
                valid_scores = valid_scores + h.alpha * h(column(watch.valid.features, h.feature))
            now = sweep(loss, scores, data)
            if watch.record(
                rounds, self.rounds, now.value / start, scores=lambda _, s=valid_scores: s,  # type: ignore[misc]
                state=rounds, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
            if abs(h.r) >= NEARLY_ONE or now.value / start < _NOTHING:
                reason = "every pair is in order"
                break
        keep = len(weak) if watch.best is None else watch.best.iteration
        record = {"stopped": reason, "iterations": len(weak), "kept": keep, "objective": now.value / start}
        return Learned(self, _as_params(weak[:keep]), record)

    def score(self, params: Params, data: Dataset) -> Array:
        stumps, total = self.form(params, data.n_features), np.zeros(data.n_documents)
        for l in np.unique(stumps.feature):
            rows = np.flatnonzero(stumps.feature == l)
            rows = rows[np.argsort(stumps.threshold[rows], kind="stable")]
            steps = np.append(0.0, np.cumsum(stumps.alpha[rows]))  # the sum of α over the thresholds that x passes
            x, missing = column(data.features, int(l)), stumps.alpha[rows] @ stumps.missing[rows]
            total += np.where(np.isnan(x), missing, steps[np.searchsorted(stumps.threshold[rows], x)])
        return total

    def form(self, params: Params, n_features: int) -> StumpsForm:
        n_weak = len(fitted(params, "feature", (None,)))
        feature, threshold, alpha, missing = (
            fitted(params, key, (n_weak,)) for key in ("feature", "threshold", "alpha", "missing")
        )
        return StumpsForm(feature.astype(np.int64), threshold, alpha, missing)


class _Weak(NamedTuple):
    """Weak ranker: 1 if the feature is above the threshold, else 0."""

    feature: int
    threshold: float
    missing: float
    r: float

    @property
    def alpha(self) -> float:
        r = min(max(self.r, -NEARLY_ONE), NEARLY_ONE)
        return 0.5 * math.log((1 + r) / (1 - r))

    def __call__(self, x: Singles) -> Array:
        return np.where(np.isnan(x), self.missing, x > np.float64(self.threshold)).astype(np.float64)


def _as_params(weak: list[_Weak]) -> Params:
    return {
        "feature": np.array([h.feature for h in weak], np.int64),
        "threshold": np.array([h.threshold for h in weak], np.float64),
        "missing": np.array([h.missing for h in weak], np.float64),
        "alpha": np.array([h.alpha for h in weak], np.float64),
    }


def _binned(data: Dataset, most: int) -> tuple[Bytes, list[Array]]:
    """The bin of each value: the number of thresholds below it, 0 if missing (d, N); and the thresholds by feature."""
    binned = np.empty((data.n_features, data.n_documents), np.uint8)
    edges = []
    for l in range(data.n_features):
        x = column(data.features, l)
        values = np.unique(x[~np.isnan(x)])
        if len(values) > most:
            values = np.unique(np.quantile(x[~np.isnan(x)], np.linspace(0, 1, most), method="lower"))
        thresholds = np.append(_LOWEST, values.astype(np.float64))
        binned[l] = np.where(np.isnan(x), 0, np.searchsorted(thresholds, x))
        edges.append(thresholds)
    return binned, edges


def _best(binned: Bytes, edges: list[Array], potential: Array) -> _Weak:
    """The weak ranker with the largest |r|."""
    r, bins, missing = np.empty(len(edges)), np.empty(len(edges), np.int64), np.empty(len(edges))
    _search(binned, potential, np.array([len(thresholds) for thresholds in edges]), r, bins, missing)
    l = int(np.argmax(np.abs(r)))
    return _Weak(l, float(edges[l][bins[l]]), float(missing[l]), float(r[l]))


@compiled
def _search(
    binned: Bytes, potential: Array, counts: Ints,
    r: Array, bins: Ints, missing: Array,
) -> None:  # fmt: skip
    """Find, for each feature, the threshold with the largest |Σ_{x > θ} π|, with missing values on the better side."""
    histogram: Any = np.empty(MOST_BINS + 2)
    for l in range(binned.shape[0]):
        row = binned[l]
        histogram[:] = 0.0
        for i in range(len(row)):
            histogram[row[i]] += potential[i]
        above, r[l], bins[l], missing[l] = 0.0, 0.0, 0, 0.0
        for at in range(counts[l], 0, -1):
            above += histogram[at]
            for default in (0.0, 1.0):
                value = above + default * histogram[0]
                if abs(value) > abs(r[l]):
                    r[l], bins[l], missing[l] = value, at - 1, default


_LOWEST = float(np.finfo(np.float64).min)  # all values but missing ones are above it
_NOTHING = 1e-12
