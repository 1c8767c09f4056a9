"""Results pages as queries: documents in the order shown, clicks as labels, and the positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from podium.base.arrays import AnyArray, Array, Ints
from podium.base.errors import DataError
from podium.base.matrix_on_disk import take_rows
from podium.clicks.log.click_log import ClickLog, check_log
from podium.clicks.log.queries_by_text import BY_TEXT
from podium.data.dataset import Dataset
from podium.data.table import Table


def page_data(log: ClickLog, data: Table) -> Dataset:
    """Make a dataset with one query for each page of a log, joined by ids to the features of the data.

    Labels are clicks, `positions` the ranks on the page; a page that occurred several times has that weight. Documents
    that the data does not have are left out, and so are pages that then show none. Boosted trees learn from it without
    the bias of positions.

    `log`: the pages that become queries.
    `data`: features of documents, with the query and document ids of the log.
    """
    return joined_pages(log, data)[0]


def joined_pages(log: ClickLog, data: Table) -> tuple[Dataset, Ints]:
    """The dataset of `page_data`, and the impressions of the log that are its rows."""
    check_log(log)
    if data.query_ids is None or data.document_ids is None:
        raise DataError("clicks are joined by ids; this data lacks query or document ids.", where=data.source)
    rows = np.full(log.n_pairs + 1, -1, np.int64)
    rows[log.find_pairs(data.query_ids[data.query_index], data.document_ids)] = np.arange(data.n_documents)
    rows[-1] = -1  # of documents that were never shown
    kept = np.flatnonzero(rows[log.pairs] >= 0)
    if not len(kept):
        raise DataError(f"the log shows no document of the data. {BY_TEXT}", where=data.source)
    shown = rows[log.pairs[kept]]
    pages = _pages(log, kept, take_rows(data.features, shown))
    return replace(pages, feature_names=data.feature_names, categories=data.categories), kept


def whole_pages(log: ClickLog) -> tuple[Dataset, Ints]:
    """The pages of a log as a dataset without features, and the impressions that are its rows: all."""
    check_log(log)
    rows = np.arange(log.n_impressions)
    return _pages(log, rows, np.empty((len(rows), 0), np.float32)), rows


def _pages(log: ClickLog, kept: Ints, features: AnyArray) -> Dataset:
    """Some impressions of a log as a dataset: pages as queries, clicks as labels, and the positions."""
    pages, sizes = np.unique(log.page_of[kept], return_counts=True)
    weights: Array | None = None if log.counts is None else log.page_counts[pages]
    return Dataset(
        features, log.clicks[kept].astype(np.float64), np.append(0, np.cumsum(sizes)),
        query_ids=np.array([f"{log.query_ids[log.page_query[page]]}/{page}" for page in pages], dtype=object),
        document_ids=np.asarray(log.document_ids[log.pairs[kept]]), query_weights=weights,
        positions=log.ranks()[kept].astype(np.int64), source=log.source,
    )  # fmt: skip
