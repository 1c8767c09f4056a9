"""Shapes: what a model does with each feature.

    >>> from podium.data import make_letor_like
    >>> from podium.training import train
    >>> data, _ = make_letor_like(20, seed=1)
    >>> stumps = train(data, "lambdamart(num_leaves=2,rounds=10)")
    >>> drawn = shapes(stumps, data)
    >>> drawn.exact, bool(abs(drawn.base + drawn.parts(data).sum(axis=1) - stumps.score(data)).max() < 1e-12)
    (True, True)

A score that is a sum of functions of single features, f(x) = b + Σ_l f_l(x_l), is shown by these functions: linear
models, stumps, and trees whose paths use one feature each. Each has mean 0 over the data, so that b is the mean score.
For any other model the shape is its partial dependence within queries: of a sample of documents, one feature of one
document moves over the feature's quantiles while everything else stays, and the mean change of its score, and of its
rank in its query, is drawn.
Reference: Hastie and Tibshirani, Generalized additive models, 1986; Friedman, Greedy function approximation, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, column
from podium.base.errors import DataError
from podium.base.shown import Shown, ShownTable, Value
from podium.explanation.additive import Additive, additive
from podium.explanation.explain import feature_name
from podium.explanation.partial_dependence import QUANTILES, partial_dependence

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.model import Model


class Shape(NamedTuple):
    """What one feature does: exact steps or a line, or the mean change of score and rank at quantiles."""

    feature: str
    at: Array  # (P,) values of the feature, rising, within those of the data
    score: Array  # (P,) change of the score; of steps, that of values up to this one and above the one before
    rank: Array | None  # (P,) mean change of the rank: −1 is a rank higher; None of exact shapes
    steps: bool
    missing: float | None  # change of the score if the value is missing; None if the data misses none, or not exact
    categories: tuple[str, ...] | None = None  # names of the values of a feature of categories

    @property
    def size(self) -> float:
        """The largest difference of scores that it makes."""
        return float(self.score.max() - self.score.min()) if len(self.score) else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Shapes(Shown):
    """The shapes of all features, in their order."""

    shapes: tuple[Shape, ...]
    base: float  # the mean score of the data
    how: str
    _form: Additive | None  # of an exact shape

    @property
    def exact(self) -> bool:
        """Whether scores are the base plus the sum of the shapes."""
        return self._form is not None

    def parts(self, data: Dataset) -> Array:
        """Each feature's part of the scores of data with the model's features; only of exact shapes."""  # (N, d)
        if self._form is None:
            raise DataError("the model's scores are not a sum over features: shapes are means, and have no parts.")
        return self._form.parts(data)

    @property
    def by_size(self) -> list[Shape]:
        """The shapes that are not flat, those with the largest differences of scores first."""
        return sorted((shape for shape in self.shapes if shape.size > 0), key=lambda shape: -shape.size)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return {
            "how": self.how, "exact": self.exact, "base": self.base,
            "features": [
                {"feature": shape.feature, "steps": shape.steps, "at": shape.at.tolist(), "score": shape.score.tolist(),
                 "rank": None if shape.rank is None else shape.rank.tolist(), "missing": shape.missing,
                 "categories": shape.categories}
                for shape in self.by_size
            ],
        }  # fmt: skip

    def _shown(self) -> ShownTable:
        heads = ["feature", "lowest", "at", "highest", "at"]
        ranked = any(shape.rank is not None for shape in self.shapes)
        rows = [_row(shape, ranked=ranked) for shape in self.by_size]
        names = ["feature", "lowest", "lowest_at", "highest", "highest_at"]
        return ShownTable(
            "What each feature does to the score",
            [*heads, *(["ranks up", "ranks down"] if ranked else [])],
            rows,
            notes=[f"mean score {self.base:.6g}; {self.how}"],
            columns=[*names, *(["ranks_up", "ranks_down"] if ranked else [])],
        )


def _row(shape: Shape, *, ranked: bool) -> list[Value]:
    low, high = int(shape.score.argmin()), int(shape.score.argmax())
    places = [float(shape.at[k]) if shape.categories is None else shape.categories[k] for k in (low, high)]
    cells: list[Value] = [shape.feature, float(shape.score[low]), places[0], float(shape.score[high]), places[1]]
    if ranked and shape.rank is not None:
        cells += [float(max(-shape.rank.min(), 0.0)), float(max(shape.rank.max(), 0.0))]
    return cells


def shapes(model: Model, data: Any, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> Shapes:
    """The shape of each feature over the values of the data: exact if scores are a sum over features.

    The data is as for `Model.score`.

    `model`: a fitted model.
    `qid`: a query id per row, or `group` the sizes of consecutive queries, if `data` is features alone.
    """
    table = model.table(data, qid=qid, group=group).grouped()
    if not table.n_documents:
        raise DataError("there is no document whose features could be drawn.", where=table.source)
    form = additive(model, table)
    names = [feature_name(model, table, l) for l in range(model.n_features)]
    kinds = model.categories or {}
    if form is not None:
        drawn = [_exact(form, table, l, name, kinds.get(l)) for l, name in enumerate(names)]
        return Shapes(tuple(drawn), form.base, "exact: a score is the mean score plus the shapes", form)
    moved = partial_dependence(model, table)
    drawn = [
        Shape(name, *moved.of(l), steps=False, missing=None, categories=kinds.get(l)) for l, name in enumerate(names)
    ]
    how = (
        f"partial dependence: the mean change when the feature of one of {moved.documents} documents moves over its "
        f"{QUANTILES} quantiles"
    )
    return Shapes(tuple(drawn), moved.base, how, None)


def _exact(form: Additive, data: Dataset, l: int, name: str, kinds: tuple[str, ...] | None) -> Shape:
    values = column(data.features, l).astype(np.float64)
    finite = values[np.isfinite(values)]
    missing = form.missing(l) if np.isnan(values).any() else None
    if not len(finite):
        return Shape(name, np.empty(0), np.empty(0), None, form.steps, missing)
    if kinds is not None:
        codes = np.arange(len(kinds), dtype=np.float64)
        return Shape(name, codes, form.at(l, codes), None, steps=False, missing=missing, categories=kinds)
    at, score = form.over(l, float(finite.min()), float(finite.max()))
    return Shape(name, at, score, None, form.steps, missing)
