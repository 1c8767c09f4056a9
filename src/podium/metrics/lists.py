"""Lists: the ranked lists of some queries, sorted once for all metrics that treat ties alike.

>>> lists = Lists([0.9, 0.5, 0.1], [0, 1, 2], [0, 3])
>>> labels, ends = lists.ranked("input", "float64")
>>> labels.tolist(), ends.tolist()
([0.0, 1.0, 2.0], [1, 2, 3])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import DataError
from podium.ids import Ids, id_keys
from podium.metrics import kernels
from podium.metrics.gains import survey
from podium.ranking import break_ties, order_all

Array = NDArray[np.float64]
Places = NDArray[np.int64]


class Lists:
    """Scores and labels of documents, query by query, with all that is judged.

    `scores` and `labels` have one number per document; rows offsets[q]:offsets[q+1] are query q. `judged` are the
    labels of all judged documents of each query, also those not in the list, with their own offsets; without them
    every document in the list counts as judged and no other is known. `unjudged` marks the documents of the list
    that have no judgement (their label is 0). `document_ids` are needed where ties are broken by them.
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
        _check_finite(self.labels, "label")
        self.document_ids = document_ids
        self.judged, self.judged_offsets = _judged(judged, judged_offsets, self.n_queries)
        self.unjudged = None if unjudged is None else _mask(unjudged, len(self.scores), self.judged)
        self._ranked: dict[tuple[str, str], tuple[Places, Places, Array]] = {}
        self._surveys: dict[bool, tuple[float, float, float]] = {}
        self._ideal: dict[tuple[bool, bool], tuple[Array, Places]] = {}

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def ranked(self, ties: str, precision: str, *, mark_unjudged: bool = False) -> tuple[Array, Places]:
        """The labels of each query in rank order, and where the tie group of each place ends.

        With `mark_unjudged` the label of a document without judgement is NaN.
        """
        key = (ties, precision)
        if key not in self._ranked:
            best_first, ends = self._order(ties, precision)
            self._ranked[key] = best_first, ends, self.labels[best_first]
        best_first, ends, labels = self._ranked[key]
        if mark_unjudged and self.unjudged is not None:
            labels = np.where(self.unjudged[best_first], np.nan, labels)
        return labels, ends

    def ideal(self, *, from_list: bool, mark_unjudged: bool = False) -> tuple[Array, Places]:
        """Each query's judged labels from the largest to the smallest, and their offsets."""
        from_list = from_list or self.judged is None
        drop = from_list and mark_unjudged and self.unjudged is not None
        if (from_list, drop) not in self._ideal:
            labels, cuts = (self.labels, self.offsets) if from_list else (self.judged, self.judged_offsets)
            if drop:
                kept = ~self.unjudged  # type: ignore[operator]
                labels, cuts = self.labels[kept], np.concatenate([[0], np.cumsum(kept)])[self.offsets]
            found = np.empty(len(labels))  # type: ignore[arg-type]
            kernels.ideal_labels(labels, cuts, found)  # type: ignore[arg-type]
            self._ideal[from_list, drop] = found, cuts
        return self._ideal[from_list, drop]

    def survey(self, *, from_list: bool) -> tuple[float, float, float]:
        """The smallest label at hand or 0, the largest or 0, and one that is not a whole number or 0."""
        from_list = from_list or self.judged is None
        if from_list not in self._surveys:
            parts = [survey(self.labels)] + ([] if from_list else [survey(self.judged)])  # type: ignore[arg-type]
            lows, highs, odds = zip(*parts, strict=True)
            self._surveys[from_list] = min(lows), max(highs), next((odd for odd in odds if odd), 0.0)
        return self._surveys[from_list]

    def _order(self, ties: str, precision: str) -> tuple[Places, Places]:
        """The rows of each query in rank order, and where the tie group of each place ends."""
        with np.errstate(over="ignore"):
            compared = self.scores.astype(np.float32).astype(np.float64) if precision == "float32" else self.scores
        best_first, ends = order_all(compared, self.offsets)
        if ties == "mean":
            return best_first, ends
        place = np.arange(len(self.scores)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        if ties == "docno":
            ids = _ids(self.document_ids, len(best_first))
        if not (ends - place > 1).any():  # no ties
            return best_first, ends
        if ties != "input":
            if ties == "docno":
                keys = id_keys(ids, best_first, ends, offsets=self.offsets)
            else:
                keys = self.labels if ties == "best" else -self.labels
            best_first = break_ties(best_first, ends, offsets=self.offsets, keys=keys)
        return best_first, place + 1


def _numbers(values: ArrayLike, what: str) -> Array:
    numbers = np.ascontiguousarray(values, np.float64)
    if numbers.ndim != 1:
        raise DataError(f"The {what} must be a flat list of numbers; got an array of shape {numbers.shape}.")
    return numbers


def _offsets(values: ArrayLike, n: int, what: str) -> Places:
    cuts = np.ascontiguousarray(values, np.int64)
    if cuts.ndim != 1 or len(cuts) < 1 or cuts[0] != 0 or cuts[-1] != n or (np.diff(cuts) < 0).any():
        raise DataError(f"The {what} must rise from 0 to {n}, the number of documents; got {values!r}.")
    return cuts


def _check_finite(labels: Array, what: str) -> None:
    bad = ~np.isfinite(labels)
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"The {what} of row {row} is {labels[row]}; expected a finite number, as for every document.")


def _judged(judged: ArrayLike | None, offsets: ArrayLike | None, n_queries: int) -> tuple[Array | None, Places]:
    if judged is None or offsets is None:
        if judged is not None or offsets is not None:
            raise DataError("Judged labels come with their own offsets: give both judged and judged_offsets.")
        return None, np.zeros(1, np.int64)
    labels = _numbers(judged, "judged labels")
    cuts = _offsets(offsets, len(labels), "judged_offsets")
    if len(cuts) != n_queries + 1:
        raise DataError(f"judged_offsets are for {len(cuts) - 1} queries, offsets for {n_queries}.")
    _check_finite(labels, "judged label")
    return labels, cuts


def _mask(unjudged: ArrayLike, n: int, judged: Array | None) -> NDArray[np.bool_]:
    mask = np.asarray(unjudged, np.bool_)
    if mask.shape != (n,):
        raise DataError(f"unjudged must say true or false for each of the {n} documents; got shape {mask.shape}.")
    if judged is None:
        raise DataError("Where some documents are unjudged, give what is judged: judged and judged_offsets.")
    return mask


def _ids(document_ids: Any, n: int) -> Ids | NDArray[Any]:
    if document_ids is None:
        raise DataError(
            "ties=docno orders documents of equal score by their ids, but there are none. "
            "Give document_ids, or choose ties=mean or ties=input."
        )
    if len(document_ids) != n:
        raise DataError(f"{len(document_ids)} document ids for {n} scores. Give one of each per document.")
    return document_ids if isinstance(document_ids, Ids) else np.asarray(document_ids, dtype=object)
