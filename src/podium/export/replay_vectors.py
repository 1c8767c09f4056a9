"""Vectors: rows of features that are hard to decide, to replay in an engine."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Singles, dense
from podium.base.float32 import LARGEST, from_place, next_down, next_up, to_place
from podium.data.dataset import Dataset
from podium.export.exported_forms import ExportedForm
from podium.export.supported_form import Handover
from podium.export.transform_arithmetic import Front, Products
from podium.model import Model
from podium.scorers.trees.forest import Forest

MOST = 4_000
_MIXED = 500
_HOSTILE = (0.0, -0.0, 1e-45, -1e-45, 1.18e-38, 1e-36, -1e-36, LARGEST, -LARGEST)


def vectors(given: Handover, *, data: Dataset | None = None) -> Singles:
    """Rows around every threshold (at most MOST, evenly chosen), hostile values by feature, and mixtures of both.

    Rows are otherwise those of `data`, or lie at thresholds and typical values. Always the same for the same model.
    """
    rng = np.random.default_rng(0)
    base = _base(given, data, rng)
    forest, front = given.form.forest, given.form.front
    if forest is None:
        return _smooth(given.form, base)
    if front is not None:
        plain = _smooth(given.form, base)
        ends = _ends(plain) if front.within_query else plain[:0]
        return np.concatenate([ends, plain, _crossings(forest, front, base, ends, rng)])
    cuts = _cuts(forest)
    f = cuts[1].astype(np.float32)
    column = np.tile(cuts[0].astype(np.int64), 3)
    value = np.concatenate([f, next_up(f), next_down(f)])
    kept = np.isfinite(value)
    used = np.unique(forest.feature)[: MOST // 10]
    hostile = np.array([*_HOSTILE, np.nan], np.float32)
    column = np.concatenate([column[kept], np.repeat(used, len(hostile))]).astype(np.int64)
    value = np.concatenate([value[kept], np.tile(hostile, len(used))])
    X = base[rng.integers(0, len(base), len(column))].copy()
    X[np.arange(len(column)), column] = value
    return np.concatenate([X, _mixed(forest, f, cuts[0].astype(np.int64), base, rng)])


def _cuts(forest: Forest) -> Array:
    """Features and thresholds, at most so many that three rows each are MOST, evenly chosen."""  # (2, n)
    cuts = np.unique(np.stack([forest.feature.astype(np.float64), forest.threshold]), axis=1)
    cuts = cuts[:, np.abs(cuts[1]) <= LARGEST]
    if 3 * cuts.shape[1] > MOST:
        cuts = cuts[:, np.linspace(0, cuts.shape[1] - 1, MOST // 3).astype(int)]
    return cuts


def _ends(X: Singles) -> Singles:
    """Two rows below and above all of X, by its width: they alone set the scale of a query that has them."""
    known = np.where(np.isnan(X), 0.0, X.astype(np.float64))
    low, high = known.min(axis=0), known.max(axis=0)
    wide = np.maximum(high - low, 1.0)
    return np.asarray(np.clip([low - wide, high + wide], -LARGEST, LARGEST), np.float32)


def _crossings(forest: Forest, front: Front, base: Singles, ends: Singles, rng: np.random.Generator) -> Singles:
    """Rows on either side of thresholds on transformed features, a raw feature one float32 apart, found by bisection.

    A quarter of the other features is missing in every other row. Within a query, which has the rows `ends`, values are
    between those.
    """
    cuts, source = _cuts(forest), np.append(np.arange(len(front.centre)), front.added)
    within = front.within_query
    for one in front.mixtures:
        assert isinstance(one, Products), "trees are on no others"
        source = np.append(source, source[one.first])
    column, bound = cuts[0].astype(np.int64), cuts[1]
    raw, at = source[column], np.arange(len(column))
    X = base[rng.integers(0, len(base), len(at))].copy()
    X[::2][rng.random(X[::2].shape) < 0.25] = np.nan
    X[at, raw] = np.nan_to_num(X[at, raw])

    def passes(places: NDArray[np.int64]) -> NDArray[np.bool_]:
        X[at, raw] = from_place(places)
        return np.asarray(front.transformed(np.concatenate([X, ends]))[at, column] <= bound)

    near = to_place(X[at, raw])
    side, last = passes(near), int(to_place(np.array([LARGEST], np.float32))[0])
    far = near.copy()
    filled = to_place(np.nan_to_num(front.filling[raw]).astype(np.float32))
    for end in to_place(ends[:, raw]) if within else (last, -last, filled):
        tried = np.broadcast_to(end, near.shape)
        far = np.where((far == near) & (passes(tried) != side), tried, far)
    found = far != near
    for _ in range(33):
        middle = (near + far) // 2
        same = passes(middle) == side
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    rows = [X.copy(), X]
    for part, places in zip(rows, (near, far), strict=True):
        part[at, raw] = from_place(places)
    return np.concatenate([part[found] for part in rows])


def _mixed(forest: Forest, f: Singles, feature: Array, base: Singles, rng: np.random.Generator) -> Singles:
    """Rows with all features at thresholds at once, a quarter missing."""
    X = base[rng.integers(0, len(base), _MIXED)].copy()
    for l in np.unique(feature):
        X[:, l] = rng.choice(f[feature == l], _MIXED)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


def _base(given: Handover, data: Dataset | None, rng: np.random.Generator) -> Singles:
    """Ordinary rows: some of the data, else of typical values."""
    d = given.model.n_features
    if data is not None and data.n_documents:
        rows = np.linspace(0, data.n_documents - 1, min(data.n_documents, 200)).astype(int)
        real = np.clip(np.asarray(dense(data.features[rows]), np.float32), -LARGEST, LARGEST)
        real = real[~given.form.refused(real)]
        if len(real):
            return real
    X = rng.standard_normal((64, d))
    state, front = given.model.state, given.form.front
    if front is not None:
        state = {"mean": np.nan_to_num(front.filling), "scale": front.scale}
    if "scale" in state:
        X = state["mean"] + X / np.where(state["scale"] > 0, state["scale"], 1.0)
    forest = given.form.forest
    if forest is not None and (front is None or len(front.added)):
        for l in np.unique(forest.feature[forest.feature < d]):
            mine = forest.threshold[forest.feature == l]
            X[:, l] = rng.choice(np.clip(mine, -LARGEST, LARGEST), 64)
    return X.astype(np.float32)


def _smooth(form: ExportedForm, base: Singles) -> Singles:
    """Rows where one feature at a time is 0, tiny, or missing where that is allowed."""
    filling, parts = form.filling, [base]
    filling = np.zeros(base.shape[1]) if filling is None else filling
    for value in (0.0, 1e-45, np.nan):
        columns = np.flatnonzero(~np.isnan(filling)) if np.isnan(value) else np.arange(len(filling))
        X = base[np.arange(len(columns)) % len(base)].copy()
        X[np.arange(len(columns)), columns] = value
        parts.append(X)
    return np.concatenate(parts)[:MOST]


def examples(given: Handover, *, most: int = 64) -> tuple[Singles, Array, float]:
    """Some vectors that podium can score, their scores, and how far those of another program may be from them."""
    X = vectors(given)
    X = X[np.linspace(0, len(X) - 1, most).astype(int)]
    if given.form.forest is not None:
        return X, scores_of(given.model, X), 0.0
    X = X[~given.form.refused(X)]
    return X, scores_of(given.model, X), given.form.bound(X)


def scores_of(model: Model, X: Singles) -> Array:
    """The model's scores of rows; they are one query where that matters."""
    return model.score(Dataset(X, None, np.array([0, len(X)])))


def lines(X: Singles, scores: Array) -> Iterator[str]:
    """A JSON object per row: the features, null where missing, and podium's score."""
    for row, score in zip(X.tolist(), scores.tolist(), strict=True):
        features = [None if x != x else x for x in row]
        yield json.dumps({"features": features, "score": score}) + "\n"
