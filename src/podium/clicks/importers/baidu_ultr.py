"""Importer of Baidu-ULTR (Zou et al. 2022): the Parquet form of its subsets on Hugging Face, a row per page.

    query_id, query_md5, url_md5 (list), position (list), click (list), n, …

The columns are those of the cards of the data sets `philipphager/baidu-ultr_uva-mlm-ctr`, `…_baidu-mlm-ctr` and
`…_tencent-mlm-ctr`; it was not tried on a real file. The query is `query_md5`, the hash of its text, or `query_id` if
that is missing; documents are `url_md5`, sorted by `position`. Display times and the other columns, among them the
large vectors of features, are not read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from podium.base.errors import DataError
from podium.clicks.log.click_files import id_text
from podium.clicks.log.click_log import ClickLog, Repeated
from podium.clicks.log.click_pages import PageList
from podium.formats.tables.tables import read_frame

if TYPE_CHECKING:
    import pyarrow as pa

_LISTS = ("url_md5", "position", "click")
_AT_A_TIME = 10_000


def read_baidu_ultr(path: str | os.PathLike[str], *, repeated: Repeated = "refuse") -> ClickLog:
    """Read a click log of Baidu-ULTR in Parquet.

    `path`: a file of the dataset.
    `repeated`: a document twice on a page: an error (`refuse`), or an impression for each place (`keep`).
    """
    return read_frame(
        path, lambda table: _read(table, os.fspath(path), repeated), columns=("query_md5", "query_id", *_LISTS, "n")
    )


def _read(table: pa.Table, name: str, repeated: Repeated) -> ClickLog:
    query = next((column for column in ("query_md5", "query_id") if column in table.column_names), None)
    missing = [column for column in _LISTS if column not in table.column_names]
    if query is None or missing:
        raise DataError(f"no column {(missing or ['query_id'])[0]!r}; is this Baidu-ULTR's clicks?", where=name)
    pages = PageList(name, unit="row ", repeated=repeated)
    number = 0
    for batch in table.to_batches(max_chunksize=_AT_A_TIME):
        for row in batch.to_pylist():
            number += 1
            try:
                _add(pages, row, query, number)
            except (ValueError, TypeError) as error:
                if isinstance(error, DataError):
                    raise
                raise DataError(f"{error}.", where=pages.place(number)) from None
    return pages.log()


def _add(pages: PageList, row: dict[str, Any], query: str, number: int) -> None:
    n = row.get("n")
    lists = [row[column] for column in _LISTS]
    for column, values in zip(_LISTS, lists, strict=True):
        if not isinstance(values, list):
            raise ValueError(f"{column!r} must be a list")
    documents, positions, clicks = (values if n is None else values[:n] for values in lists)
    if not len(documents) == len(positions) == len(clicks):
        raise ValueError(f"{len(documents)} documents, {len(positions)} positions, {len(clicks)} clicks")
    if not all(type(position) is int for position in positions) or not {0, 1}.issuperset(clicks):
        raise ValueError("positions must be whole numbers, and clicks 0 or 1")
    order = sorted(range(len(positions)), key=positions.__getitem__)
    names = [id_text(documents[k], "a document") for k in order]
    clicked = [at for at, k in enumerate(order, 1) if clicks[k]]
    pages.add(id_text(row[query], "the query"), names, clicked, line=number)
    if [positions[k] for k in order] != list(range(1, len(order) + 1)):
        pages.set_all("positions", [positions[k] for k in order])
