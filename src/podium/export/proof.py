"""Proof: whether a target scores as the model does; made with every export, and for existing files on request.

1. Decisions: every split as the engine evaluates it against the model's, for all float32 inputs.
2. Sums: how much the rounding of leaves and sums can change a score, beside the largest change seen.
3. Orders: queries of given data that are ordered otherwise.
4. Vectors: rows at and beside thresholds, with podium's scores, to replay in the engine.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.arrays import Array, dense, is_sparse
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.errors import DataError, ModelFileError, PodiumError, counted
from podium.export.affine import Affine
from podium.export.base import Target
from podium.export.bounds import bound_of
from podium.export.comparison import Comparison, within_query
from podium.export.decisions import Difference
from podium.export.handover import Handed, Handover, forest_of, front_of
from podium.export.net import Net
from podium.export.transformed_trees import TransformedTrees
from podium.export.vectors import vectors
from podium.float32 import Singles
from podium.imports.growing import REFUSED
from podium.metrics import NDCG, evaluate_all
from podium.version import version

_SHOWN = 5


@dataclass(frozen=True)
class Orders:
    """How the rankings of some data changed."""

    queries: int
    documents: int
    changed: int  # queries with a pair of documents the other way round
    tied: int  # adjacent pairs whose different scores became equal
    near: int  # adjacent pairs whose scores differ by less than twice the bound
    ndcg: float | None  # ndcg@10 of the target minus podium's; None without grades
    touched: int  # documents with a value for which a decision differs
    refused: int  # documents with missing values, which the target does not take as podium does


@dataclass(frozen=True, eq=False)
class Proof:
    """What was proven of one exported file."""

    target: str
    form: str
    n_splits: int
    differences: tuple[Difference, ...]
    missing: str
    inputs: str
    bound: float  # on the score's error, for finite inputs (trees) or the rows looked at (others)
    seen: float  # the largest error there
    engine: str  # "emulated", or the engine that ran, with its version
    rows: Singles  # (n, d) the vectors
    scores: Array  # (n,) podium's scores of them
    orders: Orders | None
    names: tuple[str, ...]
    sha256: str  # of the file

    @property
    def holds(self) -> bool:
        """Whether sums keep to the bound, and decisions agree: for all inputs, or all that matter.

        What does not matter are values next to 0 that no document has unless data shows one (`Difference.is_tiny`),
        and values that no document of the data has.
        """
        if self.orders is not None and (self.orders.touched or self.orders.refused):
            return False
        tiny = all(one.is_tiny for one in self.differences)
        return self.seen <= self.bound and (tiny or (self.orders is not None and self._by_values))

    @property
    def state(self) -> str:
        """What is proven, in a few words: proven, proven except on some values, or nothing."""
        if not self.holds:
            return "NOT PROVEN"
        places = self._places()
        return f"proven except on {counted(len(places), 'interval')}, below" if places else "proven"

    @property
    def _by_values(self) -> bool:
        """Whether decisions differ for some values of features at most."""
        return {one.kind for one in self.differences} <= {"threshold", "missing"}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        seen = self.seen if np.isfinite(self.seen) else None
        return {
            "holds": self.holds,
            "state": self.state,
            "target": self.target,
            "podium": version(),
            "file_sha256": self.sha256,
            "form": self.form,
            "engine": self.engine,
            "decisions": {
                "splits": self.n_splits,
                "inputs": self.inputs,
                "missing": self.missing,
                "differences": [one.to_dict() for one in self.differences],
            },
            "sums": {
                "bound": self.bound,
                "seen": seen,
                "vectors": len(self.scores),
            },
            "orders": None if self.orders is None else vars(self.orders),
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        found = [f"{self.state}: {self.form} for {self.target}, {self.engine}"]
        if self.n_splits:
            splits, n = counted(self.n_splits, "split"), len(self.differences)
            found.append(
                f"decisions  {counted(n, 'difference')} in {splits}, for {self.inputs}"
                if n
                else f"decisions  {self.n_splits} of {splits} the same for {self.inputs}"
            )
        places, word = self._places(), "except " if self.holds else "differs"
        found += [f"  {word}  {place}, {counted(splits, 'split')}" for place, splits in places[:_SHOWN]]
        if len(places) > _SHOWN:
            found.append(f"  {word}  … and {len(places) - _SHOWN} more")
        found.append(f"missing    {self.missing}")
        found.append(
            f"scores     within {self.bound:.2g}; seen {self.seen:.2g} in {counted(len(self.scores), 'vector')}"
        )
        if self.orders is not None:
            found += self._of_orders(self.orders)
        elif self.holds and self.differences:
            found.append("next       nothing: numbers that near to 0 are 0 in any data; --data shows it of yours")
        elif self.differences and self._by_values:
            found.append("next       give data (--data) to see whether a document has such values")
        if not self._by_values:
            found.append("next       the file is of another model, or was changed: export the model again")
        return found

    def _places(self) -> list[tuple[str, int]]:
        """Where decisions differ, in words, and at how many splits; the most frequent first."""
        return Counter(map(self._words, self.differences)).most_common()

    def _words(self, one: Difference) -> str:
        name = self.names[one.feature] if one.feature >= 0 else ""
        if one.kind == "threshold":
            return f"{name} in ({one.low!r}, {one.high!r}]"
        words = {"missing": f"{name} where it is missing", "feature": f"a split on another feature than {name}"}
        return words.get(one.kind, f"another {one.kind}")

    def _of_orders(self, orders: Orders) -> list[str]:
        found = [
            f"orders     {orders.changed} of {counted(orders.queries, 'query', 'queries')} changed"
            f"{', by rounding alone' if orders.changed and self.holds else ''}; "
            f"{counted(orders.near, 'pair')} of neighbours within twice the bound, {orders.tied} became equal"
        ]
        if orders.ndcg is not None:
            found.append(f"ndcg@10    {orders.ndcg:+.6f}")
        if self.differences:
            found.append(
                f"touched    {orders.touched} of {counted(orders.documents, 'document')} have a value that differs"
            )
        if orders.refused:
            found.append(
                f"missing    {counted(orders.refused, 'document')} have missing values: fill them before scoring"
            )
        return found


def prove(given: Handover, raw: bytes, target: Target, *, data: Table | None = None) -> Proof:
    """Compare a file, as the target reads it, with the model. `data` are documents to compare on as well."""
    known = None if data is None else given.model.align_features(data).grouped()
    if known is not None and not target.takes_infinite:
        _refuse_infinite(known, target)
    target.check_file(given, raw)
    theirs = _read(given, raw, target)
    X = vectors(given, data=known)
    look = Comparison(given, theirs, raw, target)
    bound = max(bound_of(given, target, part) for part in _parts(given.form, X, known))
    orders, seen, scores = None, np.inf, np.full(len(X), np.nan)
    if all(one.kind not in ("shape", "feature") for one in look.differences):  # other trees may have no end
        seen, scores = _errors(look, X)
        if known is not None:
            orders, error = _orders(look, known, bound=bound)
            seen = max(seen, error)
    forest = forest_of(given.form)
    return Proof(
        target=str(target),
        form=_form(given.form),
        n_splits=0 if forest is None else len(forest.threshold),
        differences=tuple(look.differences),
        missing=look.missing(),
        inputs="all float32 inputs" if target.takes_infinite else "all finite float32 inputs",
        bound=bound,
        seen=seen,
        engine=look.engine,
        rows=X,
        scores=scores,
        orders=orders,
        names=given.form.front.names(given.names) if isinstance(given.form, TransformedTrees) else given.names,
        sha256=hashlib.sha256(raw).hexdigest(),
    )


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


def _read(given: Handover, raw: bytes, target: Target) -> Handed:
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


def _form(form: Handed) -> str:
    forest = forest_of(form)
    if forest is not None:
        found = f"{counted(forest.n_trees, 'tree')} of {counted(len(forest.values), 'leaf', 'leaves')}"
    elif isinstance(form, Affine) or (isinstance(form, Net) and len(form.layers) == 1):
        found = "a linear model"
    else:
        assert isinstance(form, Net)
        found = f"a network of {counted(len(form.layers), 'layer')}"
    front = front_of(form)
    if front is None or not (front.mixtures or len(front.added)):
        return found
    return f"{found} on {counted(front.widths[-1], 'transformed feature')}"


def _parts(form: Handed, X: Singles, data: Dataset | None) -> list[Singles]:
    """The vectors and the documents of the data, query by query where that matters."""
    if data is None:
        return [X]
    rows = np.asarray(dense(data.features), np.float32)
    if not within_query(form):
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
