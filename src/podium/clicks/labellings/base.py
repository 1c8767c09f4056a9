"""Relevance labels from clicks: a grade or a number for each document that users were shown.

    >>> from podium.clicks.log.click_log import ClickLog
    >>> log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["b", "a"], [2]), ("q", ["a", "b"], [])])
    >>> label_pairs(log, "ctr").values.tolist()
    [0.6, 0.2]

`how` is a labelling (ctr, coec, click-rate-grades, graph) or a click model, whose relevance is the label. Numbers can
be cut into grades. Use real-valued labels with metrics of `gain=linear`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.base.progress import Progress, quiet
from podium.base.registry import Named, split_call
from podium.clicks.log.click_log import ClickLog, check_log
from podium.clicks.log.queries_by_text import BY_TEXT
from podium.clicks.models.base import ClickModel, tally
from podium.data.dataset import Dataset
from podium.data.table import Table

Grades = int | Literal["quantiles"] | None
"""Number of equal parts of the range from 0 to 1, or quantiles (five), or None for the numbers themselves."""
QUANTILES = 5


@dataclass(frozen=True, repr=False)
class Labelling(Named):
    """Labelling: makes a label of the clicks on a document."""

    kind: ClassVar[str] = "labelling"
    home: ClassVar[str] = "podium.clicks.labellings"
    most: ClassVar[float | None] = 1.0
    """Largest label; None if there is no limit."""
    makes_grades: ClassVar[bool] = False
    """Whether the labels are grades, which are not cut again."""

    def label(self, log: ClickLog) -> Array:
        """Label of each pair; NaN if it gets none.

        `log`: the pages with clicks; it needs what the labelling reads, such as dwell times.
        """  # (U,)
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class PairLabels:
    """Labels of the pairs of a log, with their impressions and clicks."""

    log: ClickLog  # pages from which the labels are
    values: Array  # (U,) NaN: none
    impressions: Array  # (U,) how often each pair was shown
    clicks: Array  # (U,) how often it was clicked

    @property
    def n_labelled(self) -> int:
        return int((~np.isnan(self.values)).sum())

    def join(self, data: Table) -> Dataset:
        """Set these labels in a dataset; documents without a label are left out, as are queries without any.

        `data`: a table with query and document ids, those of the log; labels that it has are replaced.
        """
        data = data.grouped()
        rows = np.append(self.values, np.nan)[pairs_of_rows(self.log, data)]
        kept = np.flatnonzero(~np.isnan(rows))
        if len(kept) == 0:
            raise DataError(
                f"none of the {data.n_documents} documents of the data has a label from the log. "
                f"Are query and document ids the same in both? {BY_TEXT}",
                where=data.source,
            )
        return _only_rows(replace(data, labels=rows, preferences=None, document_weights=None, score_offsets=None), kept)


def labels(log: ClickLog, data: Table, *, how: str = "ubm", grades: Grades = None, least: float = 1.0) -> Dataset:
    """Replace the labels of a dataset by labels from clicks; documents without a label are left out.

    `log`: the clicks.
    `data`: the dataset, whose ids are those of the log.
    `how`: a click model or labelling, such as `ubm` or `ctr`.
    `grades`: equal parts of the range from 0 to 1, or `quantiles`; None leaves the numbers.
    `least`: pairs shown less often get no label.
    """
    return label_pairs(log, how, grades=grades, least=least).join(data)


def label_pairs(
    log: ClickLog, how: str = "ubm", *, grades: Grades = None, least: float = 1.0, progress: Progress = quiet
) -> PairLabels:
    """Label the pairs of a log; pairs shown fewer than `least` times get no label.

    `how`: a click model or labelling, such as `ubm` or `ctr`.
    `grades`: equal parts of the range from 0 to 1, or `quantiles`; None leaves the numbers.
    `progress`: is told how far it is.
    `log`: the pages with clicks.
    """
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
    """Parse a labelling or a click model."""
    name, _ = split_call(how)
    if name in ClickModel.catalogue():
        return ClickModel.parse(how)
    labellings = Labelling.catalogue()
    if name not in labellings:
        raise UnknownNameError("labelling", name, [*labellings, *ClickModel.catalogue()])
    return Labelling.parse(how)


def cut(values: Array, grades: Grades) -> Array:
    """Cut numbers into grades 0, 1, …: K equal parts of [0, 1], closed below, or quantiles; ties take the lower."""
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


def pairs_of_rows(log: ClickLog, data: Table) -> Ints:
    """Pair of each row of grouped data, by the ids of its query and document; -1 if the log lacks it.

    Data without document ids has the numbers of its rows as ids, as in simulated logs.
    """
    queries = np.array([data.query_name(q) for q in range(data.n_queries)], object)[data.query_index]
    return log.find_pairs(queries, [data.document_name(row) for row in range(data.n_documents)])


def _only_rows(data: Dataset, rows: Ints) -> Dataset:
    """Select rows of grouped data; queries that lose all rows are dropped."""
    sizes = np.bincount(data.query_index[rows], minlength=data.n_queries)
    queries = np.flatnonzero(sizes)

    def of(values: Any, chosen: Ints) -> Any:
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
