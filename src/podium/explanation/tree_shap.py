"""SHAP values and SHAP interaction values of a forest, exactly, leaf by leaf.

A leaf's part of the score is a product game of the features on its path: with S the known features, its value is
v·Π_{k∈S} o_k·Π_{k∉S} z_k, where o_k is 1 if the document passes all splits on feature k of the path, else 0, and z_k is
the share of training documents that do, a product over those splits. Weights of Shapley values are integrals,
s!(m − s − 1)!/m! = ∫ t^s (1 − t)^{m−s−1} dt over 0…1, so that the sum over sets factors:

    φ_k  = v (o_k − z_k) ∫ Π_{j≠k} (o_j t + z_j (1 − t)) dt
    Φ_kl = ½ v (o_k − z_k)(o_l − z_l) ∫ Π_{j≠k,l} (o_j t + z_j (1 − t)) dt,      Φ_kk = φ_k − Σ_{l≠k} Φ_kl

The integrands are polynomials of degree below m, which m/2 nodes of Gauss and Legendre integrate without error.
Cost: O(leaves × m²) per document, m features on a path; for interactions O(leaves × m³).
Reference: Lundberg et al., From local explanations to global understanding with explainable AI for trees, Nature
Machine Intelligence 2, 2020; the integral: Owen, Multilinear extensions of games, Management Science 18, 1972.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array, Flags, Int32s, Ints, Singles
from podium.base.threads import map_blocks
from podium.jit.compiled import compiled
from podium.scorers.trees.forest import Forest, build
from podium.scorers.trees.quickscorer import lay_out

_CELLS = 2**22  # decisions of a block of documents


@dataclass(frozen=True, eq=False)
class LeafPaths:
    """The path to each leaf: its steps, each a split and a side, and its slots, the features that they are on."""

    values: Array  # (L,)
    first_step: Ints  # (L+1,)
    split: Ints  # (steps,)
    to_left: Flags  # (steps,)
    slot: Ints  # (steps,) within the leaf
    first_slot: Ints  # (L+1,)
    feature: Ints  # (slots,)
    share: Array  # (slots,) z, of the training documents that pass

    @property
    def base(self) -> float:
        """The mean score of the training documents."""
        shares = [self.share[a:b].prod() for a, b in zip(self.first_slot[:-1], self.first_slot[1:], strict=True)]
        return float(self.values @ np.array(shares))

    def largest(self) -> int:
        """The largest number of features on a path."""
        return int(np.diff(self.first_slot).max(initial=0))


def leaf_paths(forest: Forest) -> LeafPaths:
    """The paths to all leaves. Without counts of documents, every leaf is taken to hold as many."""
    cover = np.ones(len(forest.values)) if forest.cover is None else forest.cover

    def alone(leaf: int) -> list[_Leaf]:
        return [(leaf, float(cover[leaf]), [])]

    leaves = list[int]()
    paths = list[list[tuple[int, bool, float]]]()  # of each leaf: split, side and share, from the leaf up
    for t in range(forest.n_trees):
        whole = build(forest, t, leaf=alone, split=_joined)
        leaves += [k for k, _, _ in whole]
        paths += [path for _, _, path in whole]
    steps = [step for path in paths for step in path]
    own = [_slots(path, forest.feature) for path in paths]
    return LeafPaths(
        values=forest.values[leaves],
        first_step=np.cumsum([0, *map(len, paths)]),
        split=np.array([split for split, _, _ in steps], np.int64),
        to_left=np.array([left for _, left, _ in steps], np.bool_),
        slot=np.array([slot for slots, _ in own for slot in slots], np.int64),
        first_slot=np.cumsum([0, *(len(shares) for _, shares in own)]),
        feature=np.array([l for _, shares in own for l in shares], np.int64),
        share=np.array([share for _, shares in own for share in shares.values()], np.float64),
    )


_Leaf = tuple[int, float, list[tuple[int, bool, float]]]
"""A leaf's index, its number of training documents, and its path so far."""


def _joined(split: int, left: list[_Leaf], right: list[_Leaf]) -> list[_Leaf]:
    counts = [sum(count for _, count, _ in side) for side in (left, right)]
    total = sum(counts) or 1.0
    for side, count, to_left in ((left, counts[0], True), (right, counts[1], False)):
        for _, _, path in side:
            path.append((split, to_left, count / total))
    return left + right


def _slots(path: list[tuple[int, bool, float]], feature: Int32s) -> tuple[list[int], dict[int, float]]:
    """The slot of each step, and the share of each slot's feature."""
    shares = dict[int, float]()
    for split, _, share in path:
        l = int(feature[split])
        shares[l] = shares.get(l, 1.0) * share
    places = {l: slot for slot, l in enumerate(shares)}
    return [places[int(feature[split])] for split, _, _ in path], shares


def tree_shap(forest: Forest, X: Singles) -> tuple[Array, float]:
    """SHAP values of each row of features, and their base, the mean score of the training documents."""  # (N, d), 1
    paths = leaf_paths(forest)
    values = np.zeros(X.shape)
    _in_blocks(forest, paths, X, values, values.reshape(*values.shape, 1)[:, :, :0])
    return values, paths.base


def tree_interactions(forest: Forest, X: Singles) -> tuple[Array, float]:
    """SHAP interaction values of each row of features, and their base; they add up to SHAP values."""  # (N, d, d), 1
    paths = leaf_paths(forest)
    values, pairs = np.zeros(X.shape), np.zeros((*X.shape, X.shape[1]))
    _in_blocks(forest, paths, X, values, pairs)
    diagonal = np.arange(X.shape[1])
    pairs[:, diagonal, diagonal] = values - pairs.sum(axis=2)
    return pairs, paths.base


def _in_blocks(forest: Forest, paths: LeafPaths, X: Singles, values: Array, pairs: Array) -> None:
    """Add up the leaves' parts, block by block of the rows."""
    masks, most = lay_out(forest), max(paths.largest(), 1)
    nodes, weights = np.zeros((most // 2 + 2, most // 2 + 1)), np.zeros((most // 2 + 2, most // 2 + 1))
    for n in range(1, most // 2 + 2):
        x, w = np.polynomial.legendre.leggauss(n)
        nodes[n, :n], weights[n, :n] = (x + 1) / 2, w / 2
    step = max(1, _CELLS // max(len(forest.feature), 1))

    def work(a: int, b: int) -> None:
        for first in range(a, b, step):
            rows = slice(first, min(first + step, b))
            add_leaves(
                masks.decisions(X[rows]), paths.values, paths.first_step, paths.split, paths.to_left, paths.slot,
                paths.first_slot, paths.feature, paths.share, nodes, weights, values[rows], pairs[rows],
            )  # fmt: skip

    map_blocks(work, len(X))


@compiled
def add_leaves(
    left: Flags, leaf_values: Array, first_step: Ints, split: Ints, to_left: Flags, slot: Ints,
    first_slot: Ints, feature: Ints, share: Array, nodes: Array, weights: Array, values: Array, pairs: Array,
) -> None:  # fmt: skip
    """Add each leaf's Shapley values of each document, and its interactions if `pairs` has room for them."""
    passes, factor, gap = np.empty(nodes.shape[1] * 2), np.empty(nodes.shape[1] * 2), np.empty(nodes.shape[1] * 2)
    with_pairs = pairs.shape[2] > 0
    for i in range(left.shape[0]):
        for leaf in range(len(leaf_values)):
            a = first_slot[leaf]
            m = first_slot[leaf + 1] - a
            passes[:m] = 1.0
            for s in range(first_step[leaf], first_step[leaf + 1]):
                if left[i, split[s]] != to_left[s]:
                    passes[slot[s]] = 0.0
            empty = m == 0
            for k in range(m):
                gap[k] = passes[k] - share[a + k]
                if passes[k] == 0.0 and share[a + k] == 0.0:  # no document reaches it, known or not
                    empty = True
            if empty:
                continue
            n = m // 2 + 1
            for node in range(n):
                t = nodes[n, node]
                product = leaf_values[leaf] * weights[n, node]
                for k in range(m):
                    factor[k] = passes[k] * t + share[a + k] * (1.0 - t)
                    product *= factor[k]
                for k in range(m):
                    part = product * gap[k] / factor[k]
                    values[i, feature[a + k]] += part
                    if with_pairs:
                        for j in range(k):
                            both = 0.5 * part * gap[j] / factor[j]
                            pairs[i, feature[a + k], feature[a + j]] += both
                            pairs[i, feature[a + j], feature[a + k]] += both
