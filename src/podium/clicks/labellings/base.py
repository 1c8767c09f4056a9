"""Labels made of clicks: a grade or a number for each document that people were shown.

    >>> from podium.clicks.log.click_log import ClickLog
    >>> log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["b", "a"], [2]), ("q", ["a", "b"], [])])
    >>> label_pairs(log, "ctr").values.tolist()
    [0.6, 0.2]

`how` is a way of labelling (ctr, coec, click-rate-grades, graph) or a click model, whose relevance is the label.
Numbers can be cut into grades. Real-valued labels go with `gain=linear` in measures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.base.progress import Progress, quiet
from podium.base.registry import Named, split_call
from podium.clicks.log.click_log import ClickLog, check_log
from podium.clicks.models.base import ClickModel, tally
from podium.data.dataset import Dataset
from podium.data.table import Table

Grades = int | Literal["quantiles"] | None
"""A number of equal parts of the range from 0 to 1, or quantiles (five), or None for the numbers themselves."""
QUANTILES = 5


@dataclass(frozen=True, repr=False)
class Labelling(Named):
    """A way to make a label of the clicks on a document."""

    kind: ClassVar[str] = "labelling"
    home: ClassVar[str] = "podium.clicks.labellings"
    most: ClassVar[float | None] = 1.0
    """The largest label; None where there is no limit."""
    makes_grades: ClassVar[bool] = False
    """Whether the labels are grades, which are not cut again."""

    def label(self, log: ClickLog) -> Array:
        """The label of each pair; NaN where it gets none."""  # (U,)
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class PairLabels:
    """The labels of the pairs of a log, with how often each was shown and clicked."""

    log: ClickLog
    values: Array  # (U,) NaN: none
    impressions: Array  # (U,)
    clicks: Array  # (U,)

    @property
    def n_labelled(self) -> int:
        return int((~np.isnan(self.values)).sum())

    def join(self, data: Table) -> Dataset:
        """The data with these labels. Documents without a label are left out, as are queries without any."""
        data = data.grouped()
        rows = np.append(self.values, np.nan)[pairs_of_rows(self.log, data)]
        kept = np.flatnonzero(~np.isnan(rows))
        if len(kept) == 0:
            raise DataError(
                f"none of the {data.n_documents} documents of the data has a label from the log. "
                "Are query and document ids the same in both?",
                where=data.source,
            )
        return _only_rows(replace(data, labels=rows, preferences=None, document_weights=None, score_offsets=None), kept)


def labels(log: ClickLog, data: Table, *, how: str = "ubm", grades: Grades = None, least: float = 1.0) -> Dataset:
    """The data with labels made of clicks, in place of its own; documents without a label are left out."""
    return label_pairs(log, how, grades=grades, least=least).join(data)


def label_pairs(
    log: ClickLog, how: str = "ubm", *, grades: Grades = None, least: float = 1.0, progress: Progress = quiet
) -> PairLabels:
    """The label of each pair of a log; pairs shown fewer than `least` times get none."""
    check_log(log)
    chosen = labelling(how)
    makes_grades = isinstance(chosen, Labelling) and chosen.makes_grades
    most = chosen.most if isinstance(chosen, Labelling) else 1.0
    if grades is not None and makes_grades:
        raise ParameterError(f"{chosen} makes grades already; leave out grades={grades}.")
    if isinstance(grades, int) and most is None:
        raise ParameterError(f"{chosen} has no largest value to divide by; use grades=quantiles.")
    impressions, clicks = tally(log)
    values = chosen.fit(log, progress=progress).relevance() if isinstance(chosen, ClickModel) else chosen.label(log)
    values = np.where(impressions >= max(least, np.nextafter(0.0, 1.0)), values, np.nan)
    return PairLabels(log, cut(values, grades), impressions, clicks)


def labelling(how: str) -> Labelling | ClickModel:
    """A way of labelling, or a click model, by its name."""
    name, _ = split_call(how)
    if name in ClickModel.catalogue():
        return ClickModel.parse(how)
    known = Labelling.catalogue()
    if name not in known:
        raise UnknownNameError("labelling", name, [*known, *ClickModel.catalogue()])
    return Labelling.parse(how)


def cut(values: Array, grades: Grades) -> Array:
    """Numbers as grades 0, 1, …: K equal parts of [0, 1], closed below, or quantiles, where a tie takes the lower."""
    if grades is None:
        return values
    if grades == "quantiles":
        there = values[~np.isnan(values)]
        if len(there) == 0:
            return values
        inner = np.quantile(there, np.arange(1, QUANTILES) / QUANTILES)
        return np.where(np.isnan(values), np.nan, np.searchsorted(inner, values, side="left"))
    if grades < 2:
        raise ParameterError(f"grades must be at least 2, or quantiles; got {grades}.")
    return np.minimum(np.floor(grades * values), grades - 1.0)


def pairs_of_rows(log: ClickLog, data: Table) -> NDArray[np.int64]:
    """The pair of each row of grouped data, found by the ids of its query and document; -1 where the log lacks it.

    Data without document ids has the numbers of its rows as ids, as in simulated logs.
    """
    queries = np.array([data.query_name(q) for q in range(data.n_queries)], object)[data.query_index]
    return log.find_pairs(queries, [data.document_name(row) for row in range(data.n_documents)])


def _only_rows(data: Dataset, rows: NDArray[np.int64]) -> Dataset:
    """Some rows of grouped data, without the queries that lose all of theirs."""
    sizes = np.bincount(data.query_index[rows], minlength=data.n_queries)
    queries = np.flatnonzero(sizes)

    def of(values: Any, chosen: NDArray[np.int64]) -> Any:
        return None if values is None else values[chosen]

    return replace(
        data,
        features=data.features[rows],
        labels=of(data.labels, rows),
        offsets=np.concatenate(([0], np.cumsum(sizes[queries]))),
        query_ids=of(data.query_ids, queries),
        document_ids=of(data.document_ids, rows),
        query_weights=of(data.query_weights, queries),
        comments=of(data.comments, rows),
        rows=None,
    )
