"""Forests that are hard to hand over, as models: every kind of missing value, odd thresholds, few and many leaves."""

import functools

import lightgbm
import numpy as np

from podium.imports import as_model, import_model
from podium.imports.foreign_file import ForeignModel
from podium.imports.foreign_trees import Leaf, Split, forest_of, grow

D = 6
TINY, LARGEST = float(np.float32(1e-35)), float(np.finfo(np.float32).max)
DENORMAL = 1e-45
THRESHOLDS = {
    "zero": 0.0, "minus zero": -0.0, "tiny": TINY, "minus tiny": -TINY, "largest": LARGEST, "smallest": -LARGEST,
    "infinite": np.inf, "denormal": DENORMAL, "minus denormal": -DENORMAL, "ordinary": float(np.float32(0.1)),
}  # fmt: skip
FLUSHED = [f"threshold {name}" for name in ("zero", "minus zero", "minus tiny", "denormal", "minus denormal")]
"""Models with thresholds that LightGBM takes for 0."""
KINDS = {"nan": {}, "zero": {"zero_as_missing": True}, "none": {"use_missing": False}}


@functools.cache
def grown(leaves: int, kind: str, trees: int = 5):
    """A model of LightGBM's, imported: values with many zeros and gaps."""
    rng = np.random.default_rng(leaves)
    X = rng.standard_normal((400, D)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = 0.0
    if kind != "none":
        X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X) @ rng.standard_normal(D) + np.isnan(X[:, 0]) * 3 - (X[:, 1] == 0) * 2
    settings = {
        "num_leaves": leaves,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0,
        "verbosity": -1,
        "num_threads": 1,
        **KINDS[kind],
    }
    booster = lightgbm.train({"objective": "regression", **settings}, lightgbm.Dataset(X, y), num_boost_round=trees)
    return import_model(booster.model_to_string().encode())


@functools.cache
def odd(name: str, nan_left: bool = True):
    """Two splits at a threshold, one on each side of another; values that float32 does not hold."""
    at = THRESHOLDS[name]
    nodes = {
        0: Split(1, 0.5, nan_left, 1, 2), 1: Split(0, at, not nan_left, 3, 4), 2: Split(0, at, nan_left, 5, 6),
        3: Leaf(0.1), 4: Leaf(-0.3), 5: Leaf(1 / 3), 6: Leaf(7.0),
    }  # fmt: skip
    tree = grow(0, nodes.__getitem__, n_features=D)
    return as_model(ForeignModel("made", forest_of([tree, tree], D)), sha256="")


@functools.cache
def one_leaf():
    return as_model(ForeignModel("made", forest_of([grow(0, lambda _: Leaf(0.7), n_features=D)], D)), sha256="")


def leaves_of(forest, X):
    """The leaf of each row in each tree, of splits that are EXACT: (N, T), places in `values`."""
    out = np.empty((len(X), forest.n_trees), int)
    for i, x in enumerate(X):
        for t, a in enumerate(forest.first_split[:-1]):
            node = 0 if forest.first_split[t + 1] > a else -1
            while node >= 0:
                value = x[forest.feature[a + node]]
                missing, below = np.isnan(value), value <= forest.threshold[a + node]
                goes_left = forest.missing_left[a + node] if missing else below
                node = int((forest.left if goes_left else forest.right)[a + node])
            out[i, t] = forest.first_leaf[t] - 1 - node
    return out


MODELS = {
    "one leaf": one_leaf,
    **{
        f"{leaves} leaves, {kind} missing": functools.partial(grown, leaves, kind, trees)
        for leaves, trees in ((2, 5), (31, 3), (255, 1))
        for kind in KINDS
    },
    **{f"threshold {name}": functools.partial(odd, name) for name in THRESHOLDS},
}
