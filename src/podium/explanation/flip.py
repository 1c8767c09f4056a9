"""Counterfactual change: the smallest change of one feature of one document that puts another document above it.

Candidates come from the model: the point at which linear scores are equal, the values on either side of a threshold of
trees or stumps, and for other models the values that the feature has in the data. Every candidate is scored by the
whole model, so a transform that depends on all documents of the query is taken into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints, Singles, column
from podium.data.dataset import Dataset
from podium.explanation.attribution import deviations, thresholds
from podium.scorers.forms import LinearForm

if TYPE_CHECKING:
    from podium.model import Model
    from podium.transforms import Affine


@dataclass(frozen=True)
class Flip:
    """Change of feature number `feature` of the higher document that puts the lower one above."""

    feature: int
    value: float
    changed: float
    spreads: float  # the change in standard deviations of the feature

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """As plain values for JSON."""
        return {"feature": names[self.feature], "from": self.value, "to": self.changed, "spreads": self.spreads}


def smallest_flip(model: Model, part: Dataset, pair: tuple[int, int], data: Dataset) -> Flip | None:
    """The smallest change of one feature of row `pair[0]`, in standard deviations in `data`, that reverses the pair."""
    if not model.learner.per_query:
        part, pair = _only(part, list(pair)), (0, 1)
    affine = model.learner.transform.affine(model.state, part)
    if affine is None:
        return None
    spread, values = deviations(data.features), np.asarray(part.features)[pair[0]]
    candidates = _candidates(model, part, pair, affine, data, spread)
    feature = np.repeat(list(candidates), [len(points) for points in candidates.values()]).astype(np.int64)
    points = np.concatenate([*candidates.values(), np.empty(0, np.float32)])
    with np.errstate(divide="ignore", invalid="ignore"):  # constant features and missing values: not kept
        steps = np.abs(points - values[feature].astype(np.float64)) / spread[feature]
    nearest = np.argsort(steps, kind="stable")
    nearest = nearest[np.isfinite(steps[nearest])]
    k = _first_that_flips(model, part, pair, feature[nearest], points[nearest])
    if k is None:
        return None
    l, point, step = feature[nearest[k]], points[nearest[k]], steps[nearest[k]]
    return Flip(int(l), float(values[l]), float(point), float(step))


def _only(part: Dataset, rows: list[int]) -> Dataset:
    """Rows of a query as a query of their own."""
    return Dataset(part.features[rows], None, np.array([0, len(rows)]))


def _candidates(
    model: Model, part: Dataset, pair: tuple[int, int], affine: Affine, data: Dataset, spread: Array
) -> dict[int, Singles]:
    """The values to try, by feature."""
    sources = model.learner.transform.sources(model.state, model.n_features)
    (a, b), slope, centre, form = pair, affine.scale, affine.centre, model.form()
    cuts = thresholds(form)
    if isinstance(form, LinearForm):
        scores = model.score(part)
        steep = form.weights * slope
        strongest = np.argsort(-np.abs(steep) * spread[sources], kind="stable")[:_MOST_FEATURES]
        return {
            int(l): _beyond(float(part.features[a, l]), -(scores[a] - scores[b]) / steep[k], spread[l])
            for k, l in zip(strongest, sources[strongest], strict=True)
            if steep[k] != 0
        }
    if cuts is not None:
        values = part.features[a]
        return {
            int(sources[k]): _beside(points / slope[k] + centre[k], values[sources[k]])
            for k, points in cuts.items()
            if slope[k] > 0
        }
    return {int(l): _seen(data.features, int(l)) for l in sources[np.flatnonzero(slope)]}


def _beyond(value: float, change: float, spread: float) -> Singles:
    """The point at which linear scores are equal, and steps beyond it that exceed rounding."""
    point = value + change
    unit = max(float(np.spacing(np.float32(abs(point)))), 1e-7 * spread)
    steps = np.append(0.0, unit * 2.0 ** np.arange(12))
    return np.asarray(point + np.sign(change) * steps, np.float32)


def _beside(cuts: Array, value: np.float32) -> Singles:
    """The nearest float32 values on the other side of each cut, and a few beyond for the rounding of a transform."""
    near = cuts.astype(np.float32)
    unit = np.spacing(np.abs(near))
    away = np.where(near >= value, unit, -unit)
    return np.concatenate([near + k * away for k in (0, 1, 16)])


def _seen(X: Any, l: int) -> Singles:
    """The values of a feature, an even sample of at most _MOST."""
    values = column(X, l)
    values = np.unique(values[np.isfinite(values)])
    if len(values) <= _MOST:
        return values
    return values[np.linspace(0, len(values) - 1, _MOST).astype(np.int64)]


_MOST = 200
_MOST_FEATURES = 30
"""Largest number of features of a linear model to try, those that need the least change first."""


def _first_that_flips(model: Model, part: Dataset, pair: tuple[int, int], feature: Ints, points: Singles) -> int | None:
    """Index of the first change, of a feature to a point, after which row a of the query scores below row b."""
    (a, b), n = pair, part.n_documents
    start, step = 0, _FIRST
    while start < len(points):
        block = slice(start, start + max(1, step // n))
        changes = len(points[block])
        X = np.tile(np.asarray(part.features), (changes, 1))
        X[a + n * np.arange(changes), feature[block]] = points[block]
        changed = replace(Dataset.from_arrays(X, group=np.full(changes, n)), categories=model.categories)
        scores = model.score(changed).reshape(changes, n)
        flipped = np.flatnonzero(scores[:, a] < scores[:, b])
        if len(flipped):
            return start + int(flipped[0])
        start, step = block.stop, _ROWS
    return None


_FIRST, _ROWS = 500, 20_000
"""Documents scored at once: few in the first block, which often has one."""
