"""Grow symmetric trees: all nodes of a level are split alike, on one feature at one threshold.

A tree of depth D is a table of 2^D cells, so it fits noise less than one whose leaves are split one by one, and finds
products of features of which none says anything alone: its second split is chosen for all nodes of the first together.
Reference: Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, NeurIPS 2018.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from podium.base.arrays import Array, Bytes, Ints, is_sparse
from podium.base.threads import map_ranges
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.scorers.trees import lightgbm_text
from podium.scorers.trees.forest import NAN, NEVER, TINY, Forest

DEEPEST = 6
"""Largest depth: QuickScorer takes trees of up to 64 leaves."""
MOST_BINS = 255
_WORTH_THREADS = 2**20  # values of a level's histograms from which on features are shared out


class Binned:
    """Features of training and validation data as numbers of bins.

    A missing value is in bin 0 if the training data has some of the feature, and counts as 0 if it has none.
    """

    def __init__(self, data: Dataset, valid: Dataset | None, *, max_bin: int) -> None:
        self.n_features = data.n_features
        columns = _columns(data)
        self.edges = [_edges(column(), min(max_bin, MOST_BINS)) for column in columns]
        self.missing = np.array([np.isnan(column()).any() for column in columns], np.bool_)  # (d,)
        self.train = self._bins(columns, data.n_documents)  # (d, N)
        self.valid = None if valid is None else self._bins(_columns(valid), valid.n_documents)
        self.counts = np.array([len(edges) + 1 for edges in self.edges], np.int64)

    def _bins(self, columns: list[Callable[[], Array]], n_documents: int) -> Bytes:
        bins = np.empty((len(columns), n_documents), np.uint8)
        for column, edges, missing, out in zip(columns, self.edges, self.missing, bins, strict=True):
            values = column()
            out[:] = np.searchsorted(edges, np.where(np.isnan(values), -np.inf if missing else 0.0, values))
        return bins


def _columns(data: Dataset) -> list[Callable[[], Array]]:
    """For each feature, a function that gives its values; tiny ones are 0, as where trees are scored."""
    features: Any = data.features.tocsc() if is_sparse(data.features) else data.features

    def column(feature: int) -> Array:
        part = features[:, [feature]]
        values = np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), np.float32).astype(np.float64)
        return np.where(np.abs(values) <= TINY, 0.0, values).ravel()

    return [functools.partial(column, feature) for feature in range(data.n_features)]


def _edges(values: Array, most: int) -> Array:
    """Thresholds between bins, with about equal numbers of documents; −∞ first if values are missing."""
    present = np.sort(values[~np.isnan(values)])
    distinct = np.unique(present)
    last = np.arange(len(distinct) - 1)  # the last value of each bin
    if len(distinct) > most:
        cuts = present[len(present) * np.arange(1, most) // most]
        last = np.unique(np.minimum(np.searchsorted(distinct, cuts), len(distinct) - 2))
    low, high = distinct[last], distinct[last + 1]
    with np.errstate(invalid="ignore"):
        middle = low + (high - low) / 2
    edges = np.where(np.isfinite(middle) & (middle < high), middle, low)
    missing = len(present) < len(values) and len(present) > 0
    return np.concatenate([[-np.inf], edges[edges > -np.inf]]) if missing else edges


class Split(NamedTuple):
    """A level of a tree."""

    feature: int
    bin: int  # the last on the left
    gain: float  # of all nodes together


@dataclass(frozen=True, eq=False)
class SymmetricTree:
    """Splits from the root on; bit l of a cell's number says that it is on the right of split l."""

    splits: list[Split]
    counts: Ints  # (2^depth,) training documents in each cell
    values: Array  # (2^depth,); an empty cell has the value of the leaf that stands for it


class SymmetricGrower:
    """A sum of symmetric trees that grows by one tree at a time; used as `Grower`."""

    def __init__(
        self, bins: Binned, *, depth: int, documents: int, learning_rate: float, penalty: float,
        feature_fraction: float, seed: int, start: tuple[Array, Array | None],
    ) -> None:  # fmt: skip
        """Begin with the scores of `start`; `documents` of mean curvature and no gradient count in every leaf."""
        self._bins, self._depth, self._documents = bins, depth, documents
        self._rate, self._penalty = learning_rate, penalty
        self._fraction, self._rng = feature_fraction, np.random.default_rng(seed)
        self._outputs, self._valid = start
        self._trees: list[SymmetricTree] = []

    def grow(self, derivatives: Callable[[Array], tuple[Array, Array]]) -> bool:
        """Add learning rate × a tree whose leaves are −Σ gradient / (Σ curvature + λ); False if no split helps."""
        if len(self._outputs) < 2 * self._documents:
            return False
        gradient, curvature = derivatives(self._outputs)
        total = float(curvature.sum())
        pull = self._penalty + self._documents * total / max(int(np.count_nonzero(curvature)), 1)
        leaf = np.zeros(len(gradient), np.uint8)
        splits: list[Split] = []
        features, best = self._features(), float(gradient.sum()) ** 2 / (total + pull) if total + pull > 0 else 0.0
        while len(splits) < self._depth:
            gains, cuts = self._gains(features, leaf, 2 ** len(splits), gradient, curvature, pull)
            place = int(gains.argmax()) if len(gains) else 0
            if not len(gains) or not gains[place] > best * (1 + 1e-9) + 1e-300:
                break
            split = Split(int(features[place]), int(cuts[place]), float(gains[place]) - best)
            best = float(gains[place])
            leaf += (self._bins.train[split.feature] > split.bin).astype(np.uint8) << np.uint8(len(splits))
            splits.append(split)
        if not splits:
            return False
        tree = _finished(splits, leaf, gradient, curvature, pull, self._rate)
        self._trees.append(tree)
        self._outputs = self._outputs + tree.values[leaf]
        if self._bins.valid is not None and self._valid is not None:
            self._valid = self._valid + tree.values[cells(splits, self._bins.valid)]
        return True

    def outputs(self) -> Array:
        """Current sum of the trees for each training document."""  # (N,)
        return self._outputs

    def valid_outputs(self) -> Array:
        """Current sum of the trees for each validation document."""
        assert self._valid is not None
        return self._valid

    def text(self, rounds: int) -> Bytes:
        """LightGBM's text of the first `rounds` trees, the parameter of `Trees`."""
        if rounds == 0 or not self._trees:
            return np.frombuffer(lightgbm_text.constant(self._bins.n_features), np.uint8)
        return np.frombuffer(lightgbm_text.write_forest(self._forest(self._trees[:rounds])), np.uint8)

    def _features(self) -> Ints:
        """The features that the next tree may use."""
        usable = np.flatnonzero(self._bins.counts > 1)
        if self._fraction == 1.0 or len(usable) == 0:
            return usable
        size = max(round(self._fraction * len(usable)), 1)
        return np.sort(self._rng.choice(usable, size, replace=False))

    def _gains(
        self, features: Ints, leaf: Bytes, nodes: int, gradient: Array, curvature: Array, pull: float
    ) -> tuple[Array, Ints]:
        """For each feature, the score of its best split and the last bin on its left."""
        gains, cuts = np.full(len(features), -np.inf), np.zeros(len(features), np.int64)
        bins, counts = self._bins.train, self._bins.counts

        def work(first: int, last: int) -> None:
            best_cuts(
                bins, counts, features[first:last], leaf, nodes, gradient, curvature, pull, gains[first:last],
                cuts[first:last],
            )  # fmt: skip

        step = max(1, -(-_WORTH_THREADS // max(len(leaf), 1)))
        map_ranges(work, [(a, min(a + step, len(features))) for a in range(0, len(features), step)])
        return gains, cuts

    def _forest(self, trees: list[SymmetricTree]) -> Forest:
        parts = [_unfolded(tree) for tree in trees]
        level = np.concatenate([part.level for part in parts])
        of = np.repeat(np.arange(len(trees)), [len(part.level) for part in parts])
        splits = [trees[t].splits[k] for t, k in zip(of.tolist(), level.tolist(), strict=True)]
        missing = self._bins.missing[[split.feature for split in splits]]
        return Forest(
            n_features=self._bins.n_features,
            first_split=np.cumsum([0, *(len(part.level) for part in parts)]),
            first_leaf=np.cumsum([0, *(len(part.values) for part in parts)]),
            feature=np.array([split.feature for split in splits], np.int32),
            threshold=np.array([self._bins.edges[split.feature][split.bin] for split in splits]),
            left=np.concatenate([part.left for part in parts]).astype(np.int32),
            right=np.concatenate([part.right for part in parts]).astype(np.int32),
            missing=np.where(missing, NAN, NEVER).astype(np.uint8),
            missing_left=missing,
            values=np.concatenate([part.values for part in parts]),
            gain=np.concatenate([part.gains for part in parts]),
            cover=np.concatenate([part.counts for part in parts]).astype(np.float64),
        )


def cells(splits: list[Split], bins: Bytes) -> Ints:
    """The cell of each document."""  # (N,)
    cell = np.zeros(bins.shape[1], np.int64)
    for level, split in enumerate(splits):
        cell += (bins[split.feature] > split.bin).astype(np.int64) << level
    return cell


def _finished(
    splits: list[Split], leaf: Bytes, gradient: Array, curvature: Array, pull: float, rate: float
) -> SymmetricTree:
    size = 2 ** len(splits)
    slope, bend = (np.bincount(leaf, sums, minlength=size) for sums in (gradient, curvature))
    counts = np.bincount(leaf, minlength=size)
    values = np.where(bend + pull > 0, -rate * slope / np.where(bend + pull > 0, bend + pull, 1.0), 0.0)
    return SymmetricTree(splits, counts, values[_standing_for(counts)])


def _standing_for(counts: Ints) -> Ints:
    """For each cell, the one that documents reach in its stead if no split has an empty side."""
    number = np.arange(len(counts))
    path = np.zeros_like(number)
    for level in range(len(counts).bit_length() - 1):
        nodes = np.bincount(number % (2 << level), counts, minlength=2 << level)
        right = path + (1 << level)
        asked = (number >> level & 1).astype(bool)
        path = np.where((nodes[path] == 0) | (asked & (nodes[right] > 0)), right, path)
    return path


class _Unfolded(NamedTuple):
    """A tree without empty leaves, node by node."""

    level: list[int]
    left: list[int]
    right: list[int]
    values: list[float]
    counts: list[int]
    gains: list[float]  # of its level, in shares by documents


def _unfolded(tree: SymmetricTree) -> _Unfolded:
    depth = len(tree.splits)
    nodes = [tree.counts]  # documents of the nodes of each level, the last first
    for level in range(depth - 1, -1, -1):
        nodes.append(nodes[-1][: 1 << level] + nodes[-1][1 << level :])
    whole = _Unfolded([], [], [], [], [], [])
    halves = [(below[: 1 << level], below[1 << level :]) for level, below in enumerate(nodes[depth - 1 :: -1])]
    parted = [int((left + right)[(left > 0) & (right > 0)].sum()) for left, right in halves]  # documents

    def add(level: int, node: int) -> int:
        while level < depth:
            below, right = nodes[depth - level - 1], node + (1 << level)
            if below[node] and below[right]:
                place = len(whole.level)
                whole.level.append(level)
                whole.left.append(0)
                whole.right.append(0)
                whole.gains.append(tree.splits[level].gain * int(nodes[depth - level][node]) / parted[level])
                whole.left[place], whole.right[place] = add(level + 1, node), add(level + 1, right)
                return place
            level, node = level + 1, node if below[node] else right
        whole.values.append(float(tree.values[node]))
        whole.counts.append(int(tree.counts[node]))
        return -len(whole.values)

    add(0, 0)
    return whole


@compiled
def best_cuts(
    bins: Bytes, counts: Ints, features: Ints, leaf: Bytes, nodes: int, gradient: Array, curvature: Array, pull: float,
    gains: Array, cuts: Ints,
) -> None:  # fmt: skip
    """Score Σ G²/(H + λ) over both sides of all nodes, of each feature's best split, and the last bin on its left."""
    sums = np.empty((nodes, 256, 2))
    scores = np.empty(256)
    for place in range(len(features)):
        feature = features[place]
        n_bins = counts[feature]
        column = bins[feature]
        sums[:, :n_bins] = 0.0
        for i in range(len(leaf)):
            sums[leaf[i], column[i], 0] += gradient[i]
            sums[leaf[i], column[i], 1] += curvature[i]
        scores[:n_bins] = 0.0
        for node in range(nodes):
            slope, bend = 0.0, 0.0
            for b in range(n_bins):
                slope += sums[node, b, 0]
                bend += sums[node, b, 1]
            if bend > 0.0:
                left, weight = 0.0, 0.0
                for b in range(n_bins - 1):
                    left += sums[node, b, 0]
                    weight += sums[node, b, 1]
                    right, other = slope - left, max(bend - weight, 0.0)
                    scores[b] += left * left / (weight + pull) + right * right / (other + pull)
        for b in range(n_bins - 1):
            if scores[b] > gains[place]:
                gains[place], cuts[place] = scores[b], b
