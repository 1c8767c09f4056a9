"""Ranked lists of queries with their judgments, as metrics of each convention see them.

>>> lists = Lists([0.1, 0.9, 0.5], [0, 1, 2], [0, 3])
>>> lists.arrays(lists.view(Convention(ties="input"), mark_unjudged=False))["rows"].tolist()
[1, 2, 0]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import AnyArray, Array, Flags, Ints
from podium.base.errors import DataError
from podium.jit.sorting import any_ties, break_ties, check_scores, order_all
from podium.metrics.conventions import Convention
from podium.metrics.gains import survey
from podium.parsing.ids import Ids, id_keys


class View(NamedTuple):
    """The lists as metrics of equal conventions see them; metrics of one view are computed together."""

    ties: str
    precision: str
    from_list: bool
    """Whether the ideal order is over the list's documents, not over all judged ones."""
    mark_unjudged: bool
    """Whether the label of a document without judgment is NaN."""


class Lists:
    """Scores and labels of documents, query by query, with all judgments.

    `scores` and `labels` have one number per document; rows offsets[q]:offsets[q+1] are query q. `judged` are the
    labels of all judged documents of each query, also those not in the list, with their own offsets; without them
    every document in the list counts as judged, and no other. `unjudged` marks the documents of the list that have no
    judgment (their label is 0). `document_ids` are needed if ties are broken by them.
    """

    def __init__(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        offsets: ArrayLike,
        *,
        document_ids: Ids | ArrayLike | None = None,
        judged: ArrayLike | None = None,
        judged_offsets: ArrayLike | None = None,
        unjudged: ArrayLike | None = None,
    ) -> None:
        self.scores, self.labels = _numbers(scores, "scores"), _numbers(labels, "labels")
        self.offsets = _offsets(offsets, len(self.scores), "offsets")
        if len(self.labels) != len(self.scores):
            raise DataError(f"{len(self.labels)} labels for {len(self.scores)} scores. Give one of each per document.")
        check_scores(self.scores)
        self._survey = _finite_survey(self.labels, "label")
        self.document_ids = document_ids
        self.judged, self.judged_offsets = _judged(judged, judged_offsets, self.n_queries)
        self._judged_survey = self._survey if self.judged is None else _finite_survey(self.judged, "judged label")
        self.unjudged = None if unjudged is None else _mask(unjudged, len(self.scores), self.judged)
        self._rows: dict[tuple[str, str], Ints] = {}

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def view(self, how: Convention, *, mark_unjudged: bool) -> View:
        """The view of a metric of this convention; `mark_unjudged`: as `Kernel.sees_unjudged`."""
        from_list = how.ideal == "list" or self.judged is None
        return View(how.ties, how.scores, from_list, mark_unjudged and self.unjudged is not None)

    def arrays(self, view: View) -> dict[str, Any]:
        """The lists as `kernels.sweep` takes them."""
        scores, rows = self._compared(view.precision), np.empty(0, np.int64)
        if view.ties != "mean":
            rows = self._ranked(view.ties, view.precision)
        labels = np.where(self.unjudged, np.nan, self.labels) if view.mark_unjudged else self.labels  # type: ignore[arg-type]
        judged, cuts = (self.labels, self.offsets) if view.from_list else (self.judged, self.judged_offsets)
        if view.from_list and view.mark_unjudged:
            kept = ~self.unjudged  # type: ignore[operator]
            judged, cuts = self.labels[kept], np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        ranked = {"scores": scores, "rows": rows, "labels": labels, "offsets": self.offsets}
        return {**ranked, "judged": judged, "judged_offsets": cuts}

    def rows(self, how: Convention) -> Ints:
        """The rows of each query in rank order; documents with equal scores as they stand if ties are averaged."""
        return self._ranked("input" if how.ties == "mean" else how.ties, how.scores)

    def survey(self, *, from_list: bool) -> tuple[float, float, float]:
        """The smallest label or 0, the largest or 0, and any fractional one or 0."""
        parts = [self._survey] if from_list else [self._survey, self._judged_survey]
        lows, highs, odds = zip(*parts, strict=True)
        return min(lows), max(highs), next((odd for odd in odds if odd), 0.0)

    def _ranked(self, ties: str, precision: str) -> Ints:
        key = (ties, precision)
        if key not in self._rows:
            self._rows[key] = self._order(self._compared(precision), ties)
        return self._rows[key]

    def _compared(self, precision: str) -> Array:
        """The scores in the precision in which they are compared."""
        if precision != "float32":
            return self.scores
        with np.errstate(over="ignore"):
            return self.scores.astype(np.float32).astype(np.float64)

    def _order(self, scores: Array, ties: str) -> Ints:
        """The rows of each query in rank order, ties broken."""
        best_first, ends = order_all(scores, self.offsets)
        if ties == "docno":
            ids = _ids(self.document_ids, len(best_first))
        if ties == "input" or not any_ties(ends, self.offsets):
            return best_first
        if ties == "docno":
            keys = id_keys(ids, best_first, ends, offsets=self.offsets)
        else:
            keys = self.labels if ties == "best" else -self.labels
        return break_ties(best_first, ends, offsets=self.offsets, keys=keys)


def _numbers(values: ArrayLike, what: str) -> Array:
    numbers = np.ascontiguousarray(values, np.float64)
    if numbers.ndim != 1:
        raise DataError(f"The {what} must be a flat list of numbers; got an array of shape {numbers.shape}.")
    return numbers


def _offsets(values: ArrayLike, n: int, what: str) -> Ints:
    cuts = np.ascontiguousarray(values, np.int64)
    if cuts.ndim != 1 or len(cuts) < 1 or cuts[0] != 0 or cuts[-1] != n or (cuts[1:] < cuts[:-1]).any():
        raise DataError(f"The {what} must rise from 0 to {n}, the number of documents; got {values!r}.")
    return cuts


def _finite_survey(labels: Array, what: str) -> tuple[float, float, float]:
    summary = survey(labels)
    if not np.isfinite(summary).all():
        row = int((~np.isfinite(labels)).argmax())
        raise DataError(f"The {what} of row {row} is {labels[row]}; expected a finite number, as for every document.")
    return summary


def _judged(judged: ArrayLike | None, offsets: ArrayLike | None, n_queries: int) -> tuple[Array | None, Ints]:
    if judged is None or offsets is None:
        if judged is not None or offsets is not None:
            raise DataError("Judged labels come with their own offsets: give both judged and judged_offsets.")
        return None, np.zeros(1, np.int64)
    labels = _numbers(judged, "judged labels")
    cuts = _offsets(offsets, len(labels), "judged_offsets")
    if len(cuts) != n_queries + 1:
        raise DataError(f"judged_offsets are for {len(cuts) - 1} queries, offsets for {n_queries}.")
    return labels, cuts


def _mask(unjudged: ArrayLike, n: int, judged: Array | None) -> Flags:
    mask = np.asarray(unjudged, np.bool_)
    if mask.shape != (n,):
        raise DataError(f"unjudged must say true or false for each of the {n} documents; got shape {mask.shape}.")
    if judged is None:
        raise DataError("If some documents are unjudged, give the judgments: judged and judged_offsets.")
    return mask


def _ids(document_ids: Any, n: int) -> Ids | AnyArray:
    if document_ids is None:
        raise DataError(
            "ties=docno orders documents of equal score by their ids, but there are none. "
            "Give document_ids, or choose ties=mean or ties=input."
        )
    if len(document_ids) != n:
        raise DataError(f"{len(document_ids)} document ids for {n} scores. Give one of each per document.")
    return document_ids if isinstance(document_ids, Ids) else np.asarray(document_ids, dtype=object)
