"""Comparison: a file beside the model that it was made of. Where the two decide otherwise, and what both score."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from podium.arrays import Array, dense
from podium.data.dataset import Dataset
from podium.errors import counted
from podium.export.affine import Affine
from podium.export.base import Target
from podium.export.decisions import Difference, differences
from podium.export.handover import Handed, Handover, filling_of, forest_of, front_of
from podium.export.net import Net
from podium.export.transformed_trees import TransformedTrees
from podium.export.vectors import scores_of
from podium.float32 import Singles
from podium.scorers.trees.exact_splits import sums
from podium.scorers.trees.forest import Forest


class Comparison:
    """Scores of rows by the model and by the target: the real engine where it is installed, else as it computes."""

    def __init__(self, given: Handover, theirs: Handed, raw: bytes, target: Target) -> None:
        self.given, self.theirs, self.raw, self.target = given, theirs, raw, target
        self.engine, self.constant = "emulated", target.constant(given)
        self.differences = _differences(given, theirs, target)

    def __call__(self, X: Singles) -> tuple[Array, Array]:
        ran = self.target.run(self.raw, X, self.given.names)
        if ran is not None:
            self.engine = f"ran in {ran.engine}"
        others = self._emulated(X) if ran is None else ran.scores
        own = np.full(len(X), np.nan)
        kept = ~self._refused(X)
        own[kept] = scores_of(self.given.model, X[kept])
        return own, others

    def of_data(self, data: Dataset) -> tuple[Array, Array]:
        """The same for the documents of queries. Where the scores depend on the query, the target's are emulated."""
        X = np.asarray(dense(data.features), np.float32)
        if not within_query(self.theirs):
            return self(X)
        parts = [self._emulated(X[a:b]) for a, b in itertools.pairwise(data.offsets)]
        return self.given.model.score(data), np.concatenate([np.zeros(0), *parts])

    def _emulated(self, X: Singles) -> Array:
        single = self.target.single
        if isinstance(self.theirs, Affine):
            return self.theirs.scores(X, single=single)
        if isinstance(self.theirs, Net):
            return self.theirs.scores(X)
        trees = self.theirs
        found = sums(trees, X, single=single) if isinstance(trees, Forest) else trees.scores(X, single=single)
        return found.astype(np.float32).astype(np.float64) if self.target.rounds_score else found

    def _refused(self, X: Singles) -> Any:
        """Rows whose missing values podium itself refuses."""
        filling = filling_of(self.given.form)
        return np.zeros(len(X), bool) if filling is None else (np.isnan(X) & np.isnan(filling)).any(axis=1)

    def as_podium(self, X: Singles) -> Any:
        """Rows whose missing values the target takes as podium does; all where splits say it one by one."""
        ours, theirs = filling_of(self.given.form), filling_of(self.theirs)
        if ours is None or theirs is None:
            return ~np.isnan(X).any(axis=1) if self.target.no_missing else np.ones(len(X), bool)
        return ~(np.isnan(X) & ~(ours == theirs)).any(axis=1)

    def touched(self, X: Singles, offsets: Any) -> Any:
        """Documents of queries with a value for which a decision differs."""
        seen, found = _seen(self.given.form, X, offsets), np.zeros(len(X), bool)
        for one in self.differences:
            found |= one.rows(seen)
        return found

    def missing(self) -> str:
        """What becomes of missing values, in words."""
        ours, theirs = filling_of(self.given.form), filling_of(self.theirs)
        if ours is None and self.target.no_missing:
            return "counts as 0, which the model does not: fill missing values before scoring"
        if ours is None:
            wrong = sum(one.kind == "missing" for one in self.differences)
            found = f"another side at {counted(wrong, 'split')}" if wrong else "the same side at every split"
            return f"{found}; scaled, {_AS_LEAST}" if within_query(self.given.form) else found
        if np.isnan(ours).all():
            return "refused by podium: fill missing values before scoring"
        if within_query(self.given.form):
            front = front_of(self.given.form)
            beside = front is not None and bool(len(front.added))
            return f"counts {'as 0; scaled, ' if beside else ''}{_AS_LEAST}"
        if theirs is not None and np.array_equal(ours, theirs):
            return f"counts as {'the training mean' if ours.any() else '0'}, as in podium"
        return "podium takes the training mean, the engine 0: fill missing values before scoring"


_AS_LEAST = "as the least value of its query, as in podium"


def within_query(form: Handed) -> bool:
    """Whether a document's score depends on the other documents of its query."""
    front = front_of(form)
    return front is not None and front.within_query


def _differences(given: Handover, theirs: Handed, target: Target) -> list[Difference]:
    ours = given.form
    if isinstance(ours, Affine) and isinstance(theirs, Affine):
        kind = np.float32 if target.single else np.float64
        same = np.array_equal(ours.weights.astype(kind), theirs.weights.astype(kind))
        return [] if same else [Difference("value", 0)]
    if type(theirs) is not type(ours):
        return [Difference("shape", 0)]
    if isinstance(ours, TransformedTrees | Net) and isinstance(theirs, TransformedTrees | Net):
        if ours.widths != theirs.widths or ours.front.shape != theirs.front.shape:
            return [Difference("shape", 0)]  # the program's arrays may be too short for it
        if not ours.front.same(theirs.front):
            return [Difference("value", 0)]
    if isinstance(ours, Net) and isinstance(theirs, Net):
        return [] if _same_layers(ours, theirs) else [Difference("value", 0)]
    mine, other = forest_of(ours), forest_of(theirs)
    assert mine is not None
    assert other is not None
    found = differences(mine, other, single=target.single, infinite=target.takes_infinite)
    return [one for one in found if one.kind != "missing" or not target.no_missing]


def _same_layers(ours: Net, theirs: Net) -> bool:
    both = zip(ours.layers, theirs.layers, strict=True)
    pairs = [(a, b) for mine, other in both for a, b in zip(mine, other, strict=True)]
    return ours.activation == theirs.activation and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def _seen(form: Handed, X: Singles, offsets: Any) -> Singles:
    """The features that splits see, of documents of queries."""
    if not isinstance(form, TransformedTrees):
        return X
    parts = itertools.pairwise(offsets) if form.front.within_query else [(0, len(X))]
    made = [form.front.transformed(X[a:b]).astype(np.float32) for a, b in parts]
    return np.concatenate([np.zeros((0, form.widths[-1]), np.float32), *made])
