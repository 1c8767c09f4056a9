"""Prove an exported file: compare it, as its target reads and scores it, with the model."""

from __future__ import annotations

import hashlib
import itertools
from contextlib import suppress

import numpy as np

from podium.base.arrays import Array, Flags, Ints, Singles, dense, is_sparse
from podium.base.errors import DataError, ModelFileError, PodiumError, counted
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.export.base import Target
from podium.export.exported_forms import ExportedForm
from podium.export.proof import Orders, Proof
from podium.export.replay_vectors import scores_of, vectors
from podium.export.supported_form import Exportable
from podium.export.transforms import Quantiles
from podium.imports.foreign_file import REFUSED
from podium.metrics import NDCG, evaluate_all

_AS_LEAST = "as the least value of its query, as in podium"


def prove(exportable: Exportable, raw: bytes, target: Target, *, data: Table | None = None) -> Proof:
    """Prove a file for a target; with `data`, also compare the rankings of its documents."""
    queries = None if data is None else exportable.model.align_features(data).grouped()
    if queries is not None and not target.takes_infinite:
        _refuse_infinite(queries, target)
    target.check_file(exportable, raw)
    theirs = _read(exportable, raw, target)
    X = vectors(exportable, data=queries)
    comparison = Comparison(exportable, theirs, raw, target)
    form, summation = exportable.form, target.summation(exportable)
    bound = max(form.bound(part, summation) for part in _parts(form, X, queries))
    orders, seen, scores = None, np.inf, np.full(len(X), np.nan)
    if all(d.kind not in ("shape", "feature") for d in comparison.differences):  # other trees may have no end
        seen, scores = _errors(comparison, X)
        if queries is not None:
            orders, error = _orders(comparison, queries, bound=bound)
            seen = max(seen, error)
    return Proof(
        target=str(target),
        form=form.words,
        n_splits=0 if form.forest is None else len(form.forest.threshold),
        differences=tuple(comparison.differences),
        missing=comparison.missing(),
        inputs="all float32 inputs" if target.takes_infinite else "all finite float32 inputs",
        bound=bound,
        seen=seen,
        engine=comparison.engine,
        rows=X,
        scores=scores,
        orders=orders,
        names=exportable.names if form.front is None or form.forest is None else form.front.names(exportable.names),
        sha256=hashlib.sha256(raw).hexdigest(),
    )


class Comparison:
    """Scores of rows by the model and by the target: by the real engine if it is installed, else emulated."""

    def __init__(self, exportable: Exportable, theirs: ExportedForm, raw: bytes, target: Target) -> None:
        self.exportable, self.theirs, self.raw, self.target = exportable, theirs, raw, target
        self.engine, self.constant = "emulated", target.constant(exportable)
        differences = exportable.form.differences(theirs, single=target.single, infinite=target.takes_infinite)
        self.differences = [d for d in differences if d.kind != "missing" or not target.no_missing]

    def __call__(self, X: Singles) -> tuple[Array, Array]:
        ran = self.target.run(self.raw, X, self.exportable.names)
        if ran is not None:
            self.engine = f"ran in {ran.engine}"
        others = self._emulated(X) if ran is None else ran.scores
        own = np.full(len(X), np.nan)
        kept = ~self.exportable.form.refused(X)
        own[kept] = scores_of(self.exportable.model, X[kept])
        return own, others

    def of_data(self, data: Dataset) -> tuple[Array, Array]:
        """The same for a dataset. If scores depend on the query, the target's are emulated."""
        X = np.asarray(dense(data.features), np.float32)
        if not self.theirs.within_query:
            return self(X)
        parts = [self._emulated(X[a:b]) for a, b in itertools.pairwise(data.offsets)]
        return self.exportable.model.score(data), np.concatenate([np.zeros(0), *parts])

    def _emulated(self, X: Singles) -> Array:
        scores = self.theirs.scores(X, single=self.target.single)
        rounds = self.target.rounds_score and self.theirs.forest is not None
        return scores.astype(np.float32).astype(np.float64) if rounds else scores

    def as_podium(self, X: Singles) -> Flags:
        """Rows whose missing values the target treats as podium does; all if splits have a side for them."""
        ours, theirs = self.exportable.form.filling, self.theirs.filling
        if ours is None or theirs is None:
            return np.asarray(~np.isnan(X).any(axis=1)) if self.target.no_missing else np.ones(len(X), bool)
        return np.asarray(~(np.isnan(X) & ~(ours == theirs)).any(axis=1))

    def touched(self, X: Singles, offsets: Ints) -> Flags:
        """Documents with a value for which a decision differs."""
        seen, rows = self.exportable.form.seen(X, offsets), np.zeros(len(X), bool)
        for difference in self.differences:
            rows |= difference.rows(seen)
        return rows

    def missing(self) -> str:
        """Treatment of missing values, in words."""
        if self.exportable.form.missing_words:
            return self.exportable.form.missing_words
        ours, theirs = self.exportable.form.filling, self.theirs.filling
        if ours is None and self.target.no_missing:
            return "counts as 0, which the model does not: fill missing values before scoring"
        if ours is None:
            wrong = sum(difference.kind == "missing" for difference in self.differences)
            sides = f"another side at {counted(wrong, 'split')}" if wrong else "the same side at every split"
            return f"{sides}; scaled, {_AS_LEAST}" if self.exportable.form.within_query else sides
        if np.isnan(ours).all():
            return "refused by podium: fill missing values before scoring"
        front = self.exportable.form.front
        if self.exportable.form.within_query:
            beside = front is not None and bool(len(front.added))
            return f"counts {'as 0; scaled, ' if beside else ''}{_AS_LEAST}"
        if theirs is not None and np.array_equal(ours, theirs):
            if front is not None and isinstance(front.curve, Quantiles):
                return "counts as the middle of the training values, as in podium"
            return f"counts as {'the training mean' if ours.any() else '0'}, as in podium"
        return "podium takes the training mean, the engine 0: fill missing values before scoring"


def _errors(comparison: Comparison, X: Singles) -> tuple[float, Array]:
    """The largest error in vectors without a difference of decisions, and podium's scores of all vectors."""
    scores, others = comparison(X)
    clean = comparison.as_podium(X) & ~comparison.touched(X, np.array([0, len(X)]))
    return float(np.max(np.abs(others[clean] - comparison.constant - scores[clean]), initial=0.0)), scores


def _refuse_infinite(data: Dataset, target: Target) -> None:
    values = data.features.data if is_sparse(data.features) else data.features
    if np.isinf(values).any():
        raise DataError(
            f"there are infinite features, and {target.name} is proven for finite ones. Replace them, or leave those "
            "documents out.",
            where=data.source,
        )


def _read(exportable: Exportable, raw: bytes, target: Target) -> ExportedForm:
    try:
        return target.read(raw, exportable.names)
    except ModelFileError as error:
        raise ModelFileError(
            f"This is no file that podium exports to {target.name} ({str(error).removeprefix(REFUSED)}). "
            "Name its target (--to), or export the model again."
        ) from error
    except PodiumError:
        raise
    except Exception as error:  # any failure on a file of unknown origin is the file's fault
        raise ModelFileError(
            f"The file is not what {target.name} reads, or damaged ({type(error).__name__}: {str(error)[:80]}). "
            "Export the model again."
        ) from error


def _parts(form: ExportedForm, X: Singles, data: Dataset | None) -> list[Singles]:
    """The vectors and the documents of the data, query by query if scores depend on the query."""
    if data is None:
        return [X]
    rows = np.asarray(dense(data.features), np.float32)
    if not form.within_query:
        return [X, rows]
    return [X, *(rows[a:b] for a, b in itertools.pairwise(data.offsets))]


def _orders(comparison: Comparison, data: Dataset, *, bound: float) -> tuple[Orders, float]:
    """Changes of the rankings of the data, and the largest error there."""
    X = np.asarray(dense(data.features), np.float32)
    ours, theirs = comparison.of_data(data)
    touched, taken = comparison.touched(X, data.offsets), comparison.as_podium(X)
    changed = tied = near = 0
    for a, b in itertools.pairwise(data.offsets):
        order = np.lexsort((-theirs[a:b], -ours[a:b]))  # podium's ties as the target orders them
        own, other = -np.diff(ours[a:b][order]), -np.diff(theirs[a:b][order])
        changed += bool(((own > 0) & (other < 0)).any())
        tied += int(((own > 0) & (other == 0)).sum())
        near += int(((own > 0) & (own < 2 * bound)).sum())
    ndcg = None
    if data.labels is not None and np.isfinite(ours).all():
        with suppress(DataError):  # labels that are no grades, say 1000
            ndcg = _ndcg(theirs, data) - _ndcg(ours, data)
    clean = ~touched & taken
    error = float(np.max(np.abs(theirs[clean] - comparison.constant - ours[clean]), initial=0.0))
    counts = Orders(
        queries=data.n_queries, documents=len(X), changed=changed, tied=tied, near=near, ndcg=ndcg,
        touched=int(touched.sum()), refused=int((~taken).sum()),
    )  # fmt: skip
    return counts, error


def _ndcg(scores: Array, data: Dataset) -> float:
    assert data.labels is not None, "checked before"
    metric = NDCG(10)
    return metric.average(evaluate_all((metric,), scores, data.labels, data.offsets)[0]).value
