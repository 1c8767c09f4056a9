"""Bounds: how much the rounding of leaves, weights and sums can change a score."""

from __future__ import annotations

import numpy as np

from podium.data.dataset import Dataset
from podium.export.affine import UNIT32, UNIT64, Affine
from podium.export.affine import bound as linear_bound
from podium.export.base import Target
from podium.export.handover import Handover
from podium.export.net import Net
from podium.export.transformed_trees import TransformedTrees
from podium.float32 import Singles
from podium.forms import LinearForm
from podium.scorers.trees.forest import Forest


def bound_of(given: Handover, target: Target, X: Singles) -> float:
    """The most that rounding can change scores: of any finite rows for trees, of the rows X for others."""
    form = given.form
    if isinstance(form, Forest | TransformedTrees):
        return _tree_bound(form if isinstance(form, Forest) else form.forest, target, target.constant(given))
    X = X[~(np.isnan(X) & np.isnan(form.missing if isinstance(form, Affine) else form.front.filling)).any(axis=1)]
    if isinstance(form, Net):
        return form.bound(X)
    own = given.model.form()
    affine = given.model.learner.transform.affine(given.model.state, Dataset(X[:0], None, np.zeros(1, np.int64)))
    assert isinstance(own, LinearForm)
    assert affine is not None
    return linear_bound(own, affine, form, X, single=target.single)


def _tree_bound(forest: Forest, target: Target, constant: float) -> float:
    """Σ_t max|v|·u + γ_T·Σ_t max|v|, u = 2⁻²⁴ for sums in float32; nothing for the same sums in float64."""
    largest = float(np.maximum.reduceat(np.abs(forest.values), forest.first_leaf[:-1]).sum()) + abs(constant)
    if target.single:
        n = forest.n_trees + bool(constant)
        gamma, tiny = n * UNIT32 / (1 - n * UNIT32), n * float(np.finfo(np.float32).smallest_subnormal)
        return largest * UNIT32 + gamma * largest * (1 + UNIT32) + n * UNIT64 * largest + tiny
    return largest * UNIT32 if target.rounds_score else 0.0
