"""Results pages as queries: documents in the order shown, clicks as labels, and the positions."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.matrix_on_disk import take_rows
from podium.clicks.log.click_log import ClickLog, check_log
from podium.clicks.log.query_names import BY_TEXT
from podium.data.dataset import Dataset
from podium.data.table import Table


def page_data(log: ClickLog, data: Table) -> Dataset:
    """Make a dataset with one query for each page of a log, joined by ids to the features of the data.

    Labels are clicks, `positions` the ranks on the page; a page that occurred several times has that weight. Documents
    that the data does not have are left out, and so are pages that then show none. Boosted trees learn from it without
    the bias of positions.
    """
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
    pages, sizes = np.unique(log.page_of[kept], return_counts=True)
    weights: Array | None = None if log.counts is None else log.page_counts[pages]
    return Dataset(
        take_rows(data.features, shown), log.clicks[kept].astype(np.float64), np.append(0, np.cumsum(sizes)),
        query_ids=np.array([f"{log.query_ids[log.page_query[page]]}/{page}" for page in pages], dtype=object),
        document_ids=np.asarray(data.document_ids[shown]), feature_names=data.feature_names, categories=data.categories,
        query_weights=weights, positions=log.ranks()[kept].astype(np.int64), source=log.source,
    )  # fmt: skip
