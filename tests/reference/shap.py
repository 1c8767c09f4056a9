"""SHAP values of trees from their definition: Shapley values of the expected score over all sets of features."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray


def tree_shap(booster: Any, x: NDArray[Any]) -> NDArray[np.float64]:
    """φ_l = Σ_S |S|!(d − |S| − 1)!/d! · (v(S ∪ l) − v(S)); v(S) follows the splits on S and averages over others."""
    return shapley(tree_game(booster, x), len(x))


def tree_game(booster: Any, x: NDArray[Any]) -> Callable[[frozenset[int]], float]:
    """The expected score of a forest if some features are known."""
    trees = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    return lambda known: sum(_expected(tree, x, known) for tree in trees)


def shapley(v: Callable[[frozenset[int]], float], d: int) -> NDArray[np.float64]:
    """Shapley values of a game of d players."""
    value = {frozenset(s): v(frozenset(s)) for k in range(d + 1) for s in itertools.combinations(range(d), k)}
    found = np.zeros(d)
    for l in range(d):
        for known in value:
            if l not in known:
                weight = factorial(len(known)) * factorial(d - len(known) - 1) / factorial(d)
                found[l] += weight * (value[known | {l}] - value[known])
    return found


def _expected(node: dict[str, Any], x: NDArray[Any], known: frozenset[int]) -> float:
    if "leaf_value" in node:
        return float(node["leaf_value"])
    left, right = node["left_child"], node["right_child"]
    if node["split_feature"] in known:
        return _expected(left if x[node["split_feature"]] <= node["threshold"] else right, x, known)
    sizes = [_size(left), _size(right)]
    both = [_expected(left, x, known), _expected(right, x, known)]
    return (sizes[0] * both[0] + sizes[1] * both[1]) / sum(sizes)


def _size(node: dict[str, Any]) -> int:
    return int(node["leaf_count"] if "leaf_value" in node else node["internal_count"])


def tree_interactions(booster: Any, x: NDArray[Any]) -> NDArray[np.float64]:
    """Φ_lr = Σ_S |S|!(d − |S| − 2)!/(2(d − 1)!)·(v(S ∪ lr) − v(S ∪ l) − v(S ∪ r) + v(S)); Φ_ll = φ_l − Σ_{r≠l} Φ_lr."""
    trees = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    d = len(x)
    sets = [frozenset(s) for k in range(d + 1) for s in itertools.combinations(range(d), k)]
    value = {known: sum(_expected(tree, x, known) for tree in trees) for known in sets}
    pairs = np.zeros((d, d))
    for l, r in itertools.permutations(range(d), 2):
        for known in sets:
            if l not in known and r not in known:
                weight = factorial(len(known)) * factorial(d - len(known) - 2) / (2 * factorial(d - 1))
                both = value[known | {l, r}] - value[known | {l}] - value[known | {r}] + value[known]
                pairs[l, r] += weight * both
    return pairs + np.diag(tree_shap(booster, x) - pairs.sum(axis=1))
