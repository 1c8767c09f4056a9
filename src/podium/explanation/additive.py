"""Additive form of a model: scores as a sum of functions of single features, read from its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints, dense
from podium.scorers.forms import Form, LinearForm, StumpsForm, TreesForm
from podium.scorers.trees.exact_splits import split_exactly
from podium.scorers.trees.forest import Forest, build
from podium.scorers.trees.lightgbm_text import read_forest

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.model import Model
    from podium.transforms import Affine


@dataclass(frozen=True, eq=False)
class Steps:
    """Step function: levels[k] if k cuts are below x, and so for x equal to cut k."""

    cuts: Array  # (m,) rising
    levels: Array  # (m+1,)
    missing: float  # the level of NaN

    def __call__(self, x: Array) -> Array:
        return np.where(np.isnan(x), self.missing, self.levels[np.searchsorted(self.cuts, x, side="left")])


@dataclass(frozen=True, eq=False)
class Line:
    """Line through 0; a missing value counts as 0."""

    slope: float

    def __call__(self, x: Array) -> Array:
        return self.slope * np.nan_to_num(x)


@dataclass(frozen=True, eq=False)
class Additive:
    """A model's scores: base + Σ_l f_l(x_l), each f_l with mean 0 over the data that it was read with."""

    model: Model
    functions: dict[int, Steps | Line]  # of the transformed features that matter
    sources: Ints  # (d',)
    affine: Affine
    means: Array  # (d,) of the functions, over the data
    base: float
    steps: bool  # whether the functions are steps, or else lines

    def parts(self, data: Dataset) -> Array:
        """Each feature's part of each score."""  # (N, d)
        return _parts(self.model, self.functions, self.sources, self.model.align_features(data)) - self.means

    def over(self, l: int, low: float, high: float) -> tuple[Array, Array]:
        """Feature l's values from `low` to `high` at which its function steps, with its values up to there."""
        cuts = np.concatenate([np.empty(0), *(self._raw(k, f.cuts) for k, f in self._of(l) if isinstance(f, Steps))])
        at = np.concatenate([[low], np.unique(cuts[(cuts > low) & (cuts < high)]), [high] if high > low else []])
        if not self.steps:
            return at, self.at(l, at)
        middle = np.concatenate([[low], (at[1:] + at[:-1]) / 2])  # between two steps, whatever rounding does to them
        return at, self.at(l, middle)

    def missing(self, l: int) -> float:
        """Feature l's part if its value is missing."""
        return float(self.at(l, np.array([np.nan]))[0])

    def at(self, l: int, x: Array) -> Array:
        """Feature l's part at each of its values."""
        total = np.full(len(x), -self.means[l])
        for k, function in self._of(l):
            moved = (x - self.affine.centre[k]) * self.affine.scale[k]
            total += function(np.where(np.isnan(x), self.affine.missing[k], moved))
        return total

    def _of(self, l: int) -> list[tuple[int, Steps | Line]]:
        return [(k, function) for k, function in self.functions.items() if self.sources[k] == l]

    def _raw(self, k: int, x: Array) -> Array:
        """Values of the source feature of transformed feature k."""
        return x / self.affine.scale[k] + self.affine.centre[k] if self.affine.scale[k] > 0 else np.empty(0)


def additive(model: Model, data: Dataset) -> Additive | None:
    """The model as a sum of functions of its features; None if it is none, or features depend on the query."""
    transform = model.learner.transform
    if transform.mixes or model.learner.per_query:
        return None
    affine, functions = transform.affine(model.state, data), _functions(model.form())
    if affine is None or functions is None or (affine.scale < 0).any():
        return None
    sources = transform.sources(model.state, model.n_features)
    means = _parts(model, functions, sources, data).mean(axis=0)
    base = float(means.sum() + _offset(model.form()))
    steps = not isinstance(model.form(), LinearForm)
    return Additive(model, functions, sources, affine, means, base, steps)


def _parts(model: Model, functions: dict[int, Steps | Line], sources: Ints, data: Dataset) -> Array:
    X = dense(model.learner.transform.apply(model.state, data).features)
    parts = np.zeros((data.n_documents, model.n_features))
    for k, function in functions.items():
        parts[:, sources[k]] += function(X[:, k].astype(np.float64))
    return parts


def _functions(form: Form | None) -> dict[int, Steps | Line] | None:
    match form:
        case LinearForm(weights):
            return {k: Line(float(w)) for k, w in enumerate(weights) if w != 0}
        case StumpsForm():
            return {int(k): _of_stumps(form, int(k)) for k in np.unique(form.feature)}
        case TreesForm(text, n_features, exact):
            return _of_trees(read_forest(text, n_features, exact=exact))
    return None


def _of_stumps(form: StumpsForm, k: int) -> Steps:
    own = form.feature == k
    order = np.argsort(form.threshold[own], kind="stable")
    cuts, alpha = form.threshold[own][order], form.alpha[own][order]
    levels = np.append(0.0, np.cumsum(alpha))
    return Steps(cuts, levels, float((form.alpha * form.missing)[own].sum()))


def _of_trees(forest: Forest) -> dict[int, Steps | Line] | None:
    """The sum of the trees of each feature as steps; None if a tree has several features."""
    forest = split_exactly(forest)
    trees: dict[int, list[int]] = {}
    for t in range(forest.n_trees):
        features = np.unique(forest.feature[forest.first_split[t] : forest.first_split[t + 1]])
        if len(features) > 1:
            return None
        for k in features.tolist():
            trees.setdefault(k, []).append(t)
    return {k: _summed(forest, own) for k, own in sorted(trees.items())}


def _summed(forest: Forest, trees: list[int]) -> Steps:
    splits = np.concatenate([np.arange(forest.first_split[t], forest.first_split[t + 1]) for t in trees])
    cuts = np.unique(forest.threshold[splits])
    x = np.append(cuts, [np.inf, np.nan])

    def split(k: int, left: Array, right: Array) -> Array:
        return np.where(np.where(np.isnan(x), forest.missing_left[k], x <= forest.threshold[k]), left, right)

    total = np.zeros(len(x))
    for t in trees:
        total += build(forest, t, leaf=lambda k: np.full(len(x), forest.values[k]), split=split)
    return Steps(cuts, total[:-1], float(total[-1]))


def _offset(form: Form | None) -> float:
    """The part of the score that is the same for every document: of a linear form, and of trees that do not split."""
    if isinstance(form, LinearForm):
        return form.offset
    if isinstance(form, TreesForm):
        forest = read_forest(form.text, form.n_features, exact=form.exact)
        alone = np.diff(forest.first_split) == 0
        return float(forest.values[forest.first_leaf[:-1][alone]].sum())
    return 0.0
