"""Test vectors: rows of features at and next to thresholds, to replay in an engine."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from podium.base.arrays import Array, Flags, Ints, Singles, dense
from podium.base.float32 import LARGEST, from_place, next_down, next_up, to_place
from podium.data.dataset import Dataset
from podium.export.exported_forms import ExportedForm
from podium.export.supported_form import Exportable
from podium.export.transforms import Front, Products
from podium.model import Model
from podium.scorers.trees.forest import Forest

MOST = 4_000
_MIXED = 500
_HOSTILE = (0.0, -0.0, 1e-45, -1e-45, 1.18e-38, 1e-36, -1e-36, LARGEST, -LARGEST)


def vectors(exportable: Exportable, *, data: Dataset | None = None) -> Singles:
    """Rows around every threshold (an even sample of at most MOST), extreme values by feature, and mixtures of both.

    Their other values are those of `data`, or thresholds and typical values. The same model has the same vectors.
    """
    rng = np.random.default_rng(0)
    base = _base(exportable, data, rng)
    forest, front = exportable.form.forest, exportable.form.front
    if forest is None:
        return _smooth(exportable.form, base)
    if front is not None:
        plain = _smooth(exportable.form, base)
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
    """An even sample of (feature, threshold) pairs, at most MOST // 3."""  # (2, n)
    cuts = np.unique(np.stack([forest.feature.astype(np.float64), forest.threshold]), axis=1)
    cuts = cuts[:, np.abs(cuts[1]) <= LARGEST]
    if 3 * cuts.shape[1] > MOST:
        cuts = cuts[:, np.linspace(0, cuts.shape[1] - 1, MOST // 3).astype(int)]
    return cuts


def _ends(X: Singles) -> Singles:
    """Two rows far below and above all of X: they alone set the min–max scale of a query that has them."""
    values = np.where(np.isnan(X), 0.0, X.astype(np.float64))
    low, high = values.min(axis=0), values.max(axis=0)
    wide = np.maximum(high - low, 1.0)
    return np.asarray(np.clip([low - wide, high + wide], -LARGEST, LARGEST), np.float32)


def _crossings(forest: Forest, front: Front, base: Singles, ends: Singles, rng: np.random.Generator) -> Singles:
    """Pairs of rows on both sides of thresholds on transformed features, one float32 apart in a raw feature.

    They are found by bisection. In every second row, a quarter of the other features is missing. If features are scaled
    within the query, it has the rows `ends`, and values are between those.
    """
    cuts, source = _cuts(forest), np.append(np.arange(len(front.centre)), front.added)
    within = front.within_query
    for mixture in front.mixtures:
        assert isinstance(mixture, Products), "trees are on no others"
        source = np.append(source, source[mixture.first])
    column, bound = cuts[0].astype(np.int64), cuts[1]
    raw, at = source[column], np.arange(len(column))
    X = base[rng.integers(0, len(base), len(at))].copy()
    X[::2][rng.random(X[::2].shape) < 0.25] = np.nan
    X[at, raw] = np.nan_to_num(X[at, raw])

    def passes(places: Ints) -> Flags:
        X[at, raw] = from_place(places)
        return np.asarray(front.transformed(np.concatenate([X, ends]))[at, column] <= bound)

    near = to_place(X[at, raw])
    side, last = passes(near), int(to_place(np.array([LARGEST], np.float32))[0])
    far = near.copy()
    filled = to_place(np.nan_to_num(front.filling[raw]).astype(np.float32))
    for end in to_place(ends[:, raw]) if within else (last, -last, filled):
        tried = np.broadcast_to(end, near.shape)
        far = np.where((far == near) & (passes(tried) != side), tried, far)
    crossed = far != near
    for _ in range(33):
        middle = (near + far) // 2
        same = passes(middle) == side
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    rows = [X.copy(), X]
    for part, places in zip(rows, (near, far), strict=True):
        part[at, raw] = from_place(places)
    return np.concatenate([part[crossed] for part in rows])


def _mixed(forest: Forest, f: Singles, feature: Array, base: Singles, rng: np.random.Generator) -> Singles:
    """Rows with all features at thresholds, a quarter of them missing."""
    X = base[rng.integers(0, len(base), _MIXED)].copy()
    for l in np.unique(feature):
        X[:, l] = rng.choice(f[feature == l], _MIXED)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


def _base(exportable: Exportable, data: Dataset | None, rng: np.random.Generator) -> Singles:
    """Ordinary rows: a sample of the data, else typical values."""
    d = exportable.model.n_features
    if data is not None and data.n_documents:
        rows = np.linspace(0, data.n_documents - 1, min(data.n_documents, 200)).astype(int)
        real = np.clip(np.asarray(dense(data.features[rows]), np.float32), -LARGEST, LARGEST)
        real = real[~exportable.form.refused(real)]
        if len(real):
            return real
    X = rng.standard_normal((64, d))
    state, front = exportable.model.state, exportable.form.front
    if front is not None and front.curve is not None:
        X, state = front.curve.typical(rng, len(X)), {}
    elif front is not None:
        state = {"mean": np.nan_to_num(front.filling), "scale": front.scale}
    if "scale" in state:
        X = state["mean"] + X / np.where(state["scale"] > 0, state["scale"], 1.0)
    forest = exportable.form.forest
    if forest is not None and (front is None or len(front.added)):
        for l in np.unique(forest.feature[forest.feature < d]):
            thresholds = forest.threshold[forest.feature == l]
            X[:, l] = rng.choice(np.clip(thresholds, -LARGEST, LARGEST), 64)
    return X.astype(np.float32)


def _smooth(form: ExportedForm, base: Singles) -> Singles:
    """Rows in which one feature is 0, tiny, or missing if that is allowed."""
    filling, parts = form.filling, [base]
    filling = np.zeros(base.shape[1]) if filling is None else filling
    for value in (0.0, 1e-45, np.nan):
        columns = np.flatnonzero(~np.isnan(filling)) if np.isnan(value) else np.arange(len(filling))
        X = base[np.arange(len(columns)) % len(base)].copy()
        X[np.arange(len(columns)), columns] = value
        parts.append(X)
    return np.concatenate(parts)[:MOST]


def examples(exportable: Exportable, *, most: int = 64) -> tuple[Singles, Array, float]:
    """A sample of vectors that podium can score, their scores, and the tolerance for scores of another program."""
    X = vectors(exportable)
    X = X[np.linspace(0, len(X) - 1, most).astype(int)]
    if exportable.form.forest is not None:
        return X, scores_of(exportable.model, X), 0.0
    X = X[~exportable.form.refused(X)]
    return X, scores_of(exportable.model, X), exportable.form.bound(X)


def scores_of(model: Model, X: Singles) -> Array:
    """The model's scores of rows, as one query; categories are codes."""
    return model.score(Dataset(X, None, np.array([0, len(X)]), categories=model.categories))


def lines(X: Singles, scores: Array) -> Iterator[str]:
    """A JSON object per row: the features, null if missing, and podium's score."""
    for row, score in zip(X.tolist(), scores.tolist(), strict=True):
        features = [None if x != x else x for x in row]
        yield json.dumps({"features": features, "score": score}) + "\n"
