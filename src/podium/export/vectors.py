"""Vectors: rows of features that are hard to decide, to replay in an engine."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from podium.arrays import Array, dense
from podium.data.dataset import Dataset
from podium.export.affine import Affine
from podium.export.handover import Handed, Handover
from podium.export.net import Net
from podium.float32 import LARGEST, Singles, next_down, next_up
from podium.model import Model
from podium.scorers.forest import Forest

MOST = 4_000
_MIXED = 500
_HOSTILE = (0.0, -0.0, 1e-45, -1e-45, 1.18e-38, 1e-36, -1e-36, LARGEST, -LARGEST)


def vectors(given: Handover, *, data: Dataset | None = None) -> Singles:
    """Rows around every threshold (at most MOST, evenly chosen), hostile values by feature, and mixtures of both.

    Rows are otherwise those of `data`, or lie at thresholds and typical values. Always the same for the same model.
    """
    rng = np.random.default_rng(0)
    base = _base(given, data, rng)
    if not isinstance(given.form, Forest):
        return _smooth(given.form, base)
    forest = given.form
    cuts = np.unique(np.stack([forest.feature.astype(np.float64), forest.threshold]), axis=1)
    cuts = cuts[:, np.abs(cuts[1]) <= LARGEST]
    if 3 * cuts.shape[1] > MOST:
        cuts = cuts[:, np.linspace(0, cuts.shape[1] - 1, MOST // 3).astype(int)]
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
        return np.clip(np.asarray(dense(data.features[rows]), np.float32), -LARGEST, LARGEST)
    X = rng.standard_normal((64, d))
    if "scale" in given.model.state:
        scale = given.model.state["scale"]
        X = given.model.state["mean"] + X / np.where(scale > 0, scale, 1.0)
    if isinstance(given.form, Forest):
        for l in np.unique(given.form.feature):
            mine = given.form.threshold[given.form.feature == l]
            X[:, l] = rng.choice(np.clip(mine, -LARGEST, LARGEST), 64)
    return X.astype(np.float32)


def _smooth(form: Handed, base: Singles) -> Singles:
    """Rows where one feature at a time is 0, tiny, or missing where that is allowed."""
    assert not isinstance(form, Forest)
    filling = form.missing if isinstance(form, Affine) else form.filling
    parts = [base]
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
    if isinstance(given.form, Forest):
        return X, scores_of(given.model, X), 0.0
    form = given.form
    assert isinstance(form, Net)
    X = X[~(np.isnan(X) & np.isnan(form.filling)).any(axis=1)]
    return X, scores_of(given.model, X), form.bound(X)


def scores_of(model: Model, X: Singles) -> Array:
    """The model's scores of rows; they are one query where that matters."""
    return model.score(Dataset(X, None, np.array([0, len(X)])))


def lines(X: Singles, scores: Array) -> Iterator[str]:
    """A JSON object per row: the features, null where missing, and podium's score."""
    for row, score in zip(X.tolist(), scores.tolist(), strict=True):
        features = [None if x != x else x for x in row]
        yield json.dumps({"features": features, "score": score}) + "\n"
