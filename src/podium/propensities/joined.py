"""Join of a click log and the dataset of its queries, for estimators that learn from features or grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.clicks.log.click_log import ClickLog
from podium.clicks.log.queries_by_text import BY_TEXT
from podium.clicks.models.examination import RANK, count_cells
from podium.data.dataset import Dataset


@dataclass(frozen=True)
class Joined:
    """Impressions and clicks of each document of a dataset at each rank."""

    data: Dataset  # the queries that were logged, grouped
    rows: Ints  # (U,) the row of each pair of the log; -1: not in the data
    row: Ints  # (M,) of each cell
    rank: Ints  # (M,) from 0
    shown: Array  # (M,)
    clicked: Array  # (M,)
    query: Ints  # (M,) the log's number of the query
    query_of_log: Ints  # (Q,) the log's number of each query of the data

    @property
    def n_ranks(self) -> int:
        return int(self.rank.max()) + 1


def join(log: ClickLog, data: Dataset, who: str) -> Joined:
    """Join a log and a dataset by ids; raises a clear error if a rank shows no document of the data."""
    if data.query_ids is None or data.document_ids is None:
        raise DataError("clicks are joined by ids; this data lacks query or document ids.", where=data.source)
    names = {str(name): number for number, name in enumerate(log.query_ids)}
    in_log = np.array([names.get(str(name), -1) for name in data.query_ids], np.int64)
    shown = np.isin(in_log, np.unique(log.page_query))
    used: Any = data.select(np.flatnonzero(shown))
    pairs = log.find_pairs(used.query_ids[used.query_index], used.document_ids)
    rows = np.full(log.n_pairs + 1, -1, np.int64)
    rows[pairs] = np.arange(len(pairs))
    rows = rows[:-1]
    n_ranks = int(log.ranks().max())
    cells = count_cells(log, RANK, n_ranks)
    pair = cells.pair
    kept = rows[pair] >= 0
    missing = np.setdiff1d(cells.cell, cells.cell[kept])
    if len(missing):
        raise DataError(
            f"{who}: the data has none of the documents that the log shows at rank {missing[0] + 1}. Give the data of "
            f"the log's queries, or leave lower ranks out (depth). {BY_TEXT}",
            where=data.source,
        )
    return Joined(
        used, rows, rows[pair[kept]], cells.cell[kept].astype(np.int64), cells.shown[kept], cells.clicked[kept],
        log.pair_query[pair[kept]].astype(np.int64), in_log[shown],
    )  # fmt: skip
