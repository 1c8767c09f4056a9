"""Proving: compare a file, as its target reads and scores it, with the model that it was made of."""

from __future__ import annotations

import hashlib
import itertools
from contextlib import suppress
from typing import Any

import numpy as np

from podium.base.arrays import Array, Singles, dense, is_sparse
from podium.base.errors import DataError, ModelFileError, PodiumError, counted
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.export.base import Target
from podium.export.exported_forms import ExportedForm
from podium.export.proof import Orders, Proof
from podium.export.replay_vectors import scores_of, vectors
from podium.export.supported_form import Handover
from podium.imports.foreign_file import REFUSED
from podium.metrics import NDCG, evaluate_all

_AS_LEAST = "as the least value of its query, as in podium"


def prove(given: Handover, raw: bytes, target: Target, *, data: Table | None = None) -> Proof:
    """Compare a file, as the target reads it, with the model. `data` are documents to compare on as well."""
    known = None if data is None else given.model.align_features(data).grouped()
    if known is not None and not target.takes_infinite:
        _refuse_infinite(known, target)
    target.check_file(given, raw)
    theirs = _read(given, raw, target)
    X = vectors(given, data=known)
    look = Comparison(given, theirs, raw, target)
    bound = max(given.form.bound(part, target.adding(given)) for part in _parts(given.form, X, known))
    orders, seen, scores = None, np.inf, np.full(len(X), np.nan)
    if all(one.kind not in ("shape", "feature") for one in look.differences):  # other trees may have no end
        seen, scores = _errors(look, X)
        if known is not None:
            orders, error = _orders(look, known, bound=bound)
            seen = max(seen, error)
    form = given.form
    return Proof(
        target=str(target),
        form=form.words,
        n_splits=0 if form.forest is None else len(form.forest.threshold),
        differences=tuple(look.differences),
        missing=look.missing(),
        inputs="all float32 inputs" if target.takes_infinite else "all finite float32 inputs",
        bound=bound,
        seen=seen,
        engine=look.engine,
        rows=X,
        scores=scores,
        orders=orders,
        names=given.names if form.front is None or form.forest is None else form.front.names(given.names),
        sha256=hashlib.sha256(raw).hexdigest(),
    )


class Comparison:
    """Scores of rows by the model and by the target: the real engine where it is installed, else as it computes."""

    def __init__(self, given: Handover, theirs: ExportedForm, raw: bytes, target: Target) -> None:
        self.given, self.theirs, self.raw, self.target = given, theirs, raw, target
        self.engine, self.constant = "emulated", target.constant(given)
        found = given.form.differences(theirs, single=target.single, infinite=target.takes_infinite)
        self.differences = [one for one in found if one.kind != "missing" or not target.no_missing]

    def __call__(self, X: Singles) -> tuple[Array, Array]:
        ran = self.target.run(self.raw, X, self.given.names)
        if ran is not None:
            self.engine = f"ran in {ran.engine}"
        others = self._emulated(X) if ran is None else ran.scores
        own = np.full(len(X), np.nan)
        kept = ~self.given.form.refused(X)
        own[kept] = scores_of(self.given.model, X[kept])
        return own, others

    def of_data(self, data: Dataset) -> tuple[Array, Array]:
        """The same for the documents of queries. Where the scores depend on the query, the target's are emulated."""
        X = np.asarray(dense(data.features), np.float32)
        if not self.theirs.within_query:
            return self(X)
        parts = [self._emulated(X[a:b]) for a, b in itertools.pairwise(data.offsets)]
        return self.given.model.score(data), np.concatenate([np.zeros(0), *parts])

    def _emulated(self, X: Singles) -> Array:
        scores = self.theirs.scores(X, single=self.target.single)
        rounds = self.target.rounds_score and self.theirs.forest is not None
        return scores.astype(np.float32).astype(np.float64) if rounds else scores

    def as_podium(self, X: Singles) -> Any:
        """Rows whose missing values the target takes as podium does; all if splits have a side for them."""
        ours, theirs = self.given.form.filling, self.theirs.filling
        if ours is None or theirs is None:
            return ~np.isnan(X).any(axis=1) if self.target.no_missing else np.ones(len(X), bool)
        return ~(np.isnan(X) & ~(ours == theirs)).any(axis=1)

    def touched(self, X: Singles, offsets: Any) -> Any:
        """Documents of queries with a value for which a decision differs."""
        seen, found = self.given.form.seen(X, offsets), np.zeros(len(X), bool)
        for one in self.differences:
            found |= one.rows(seen)
        return found

    def missing(self) -> str:
        """What becomes of missing values, in words."""
        ours, theirs = self.given.form.filling, self.theirs.filling
        if ours is None and self.target.no_missing:
            return "counts as 0, which the model does not: fill missing values before scoring"
        if ours is None:
            wrong = sum(one.kind == "missing" for one in self.differences)
            found = f"another side at {counted(wrong, 'split')}" if wrong else "the same side at every split"
            return f"{found}; scaled, {_AS_LEAST}" if self.given.form.within_query else found
        if np.isnan(ours).all():
            return "refused by podium: fill missing values before scoring"
        if self.given.form.within_query:
            front = self.given.form.front
            beside = front is not None and bool(len(front.added))
            return f"counts {'as 0; scaled, ' if beside else ''}{_AS_LEAST}"
        if theirs is not None and np.array_equal(ours, theirs):
            return f"counts as {'the training mean' if ours.any() else '0'}, as in podium"
        return "podium takes the training mean, the engine 0: fill missing values before scoring"


def _errors(look: Comparison, X: Singles) -> tuple[float, Array]:
    """The largest error in the vectors that no difference explains, and podium's scores of them all."""
    scores, others = look(X)
    clean = look.as_podium(X) & ~look.touched(X, np.array([0, len(X)]))
    return float(np.max(np.abs(others[clean] - look.constant - scores[clean]), initial=0.0)), scores


def _refuse_infinite(data: Dataset, target: Target) -> None:
    values = data.features.data if is_sparse(data.features) else data.features
    if np.isinf(values).any():
        raise DataError(
            f"there are infinite features, and {target.name} is proven for finite ones. Replace them, or leave those "
            "documents out.",
            where=data.source,
        )


def _read(given: Handover, raw: bytes, target: Target) -> ExportedForm:
    try:
        return target.read(raw, given.names)
    except ModelFileError as error:
        raise ModelFileError(
            f"This is no file that podium exports to {target.name} ({str(error).removeprefix(REFUSED)}). "
            "Name its target (--to), or export the model again."
        ) from error
    except PodiumError:
        raise
    except Exception as error:  # whatever goes wrong in a file of unknown origin is the file's fault
        raise ModelFileError(
            f"The file is not what {target.name} reads, or damaged ({type(error).__name__}: {str(error)[:80]}). "
            "Export the model again."
        ) from error


def _parts(form: ExportedForm, X: Singles, data: Dataset | None) -> list[Singles]:
    """The vectors and the documents of the data, query by query where that matters."""
    if data is None:
        return [X]
    rows = np.asarray(dense(data.features), np.float32)
    if not form.within_query:
        return [X, rows]
    return [X, *(rows[a:b] for a, b in itertools.pairwise(data.offsets))]


def _orders(look: Comparison, data: Dataset, *, bound: float) -> tuple[Orders, float]:
    """How the rankings of the data changed, and the largest error there."""
    X = np.asarray(dense(data.features), np.float32)
    ours, theirs = look.of_data(data)
    touched, taken = look.touched(X, data.offsets), look.as_podium(X)
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
    error = float(np.max(np.abs(theirs[clean] - look.constant - ours[clean]), initial=0.0))
    counts = Orders(
        queries=data.n_queries, documents=len(X), changed=changed, tied=tied, near=near, ndcg=ndcg,
        touched=int(touched.sum()), refused=int((~taken).sum()),
    )  # fmt: skip
    return counts, error


def _ndcg(scores: Array, data: Dataset) -> float:
    assert data.labels is not None, "checked before"
    metric = NDCG(10)
    return metric.average(evaluate_all((metric,), scores, data.labels, data.offsets)[0]).value
