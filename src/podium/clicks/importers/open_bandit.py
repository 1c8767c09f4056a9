"""Importer of the Open Bandit Dataset (Saito et al. 2020): CSV with an impression and its propensity per row.

    timestamp, item (or item_id), position, click, propensity (or propensity_score)

Every row is a page of one document at its position. There are no queries: all pages are of the query "all".
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from typing import BinaryIO

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.clicks.log.click_log import ClickLog
from podium.clicks.log.click_pages import PageList, as_milliseconds

_COLUMNS = {
    "item": ("item", "item_id"),
    "position": ("position",),
    "click": ("click",),
    "propensity": ("propensity", "propensity_score"),
}


def read_open_bandit(source: Source) -> ClickLog:
    """Read a CSV file of the Open Bandit Dataset.

    `source`: a path, or an open file.
    """
    pages = PageList(source_name(source))
    with reading(source) as file:
        rows = csv.reader(_lines(file, pages))
        try:
            header = next(rows, [])
            places = _places(header, pages)
            for row in rows:
                if row:
                    _add(pages, row, places, rows.line_num)
        except csv.Error as error:
            raise DataError(f"not a row of CSV: {error}.", where=pages.place(rows.line_num)) from None
    return pages.log()


def _lines(file: BinaryIO, pages: PageList) -> Iterator[str]:
    for number, raw in enumerate(file, 1):
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"not UTF-8 text: {error.reason}.", where=pages.place(number)) from None


def _places(header: list[str], pages: PageList) -> dict[str, int]:
    places = {}
    for role, names in _COLUMNS.items():
        name = next((name for name in names if name in header), None)
        if name is None:
            raise DataError(f"no column {names[0]!r}; there are: {', '.join(header)}.", where=pages.place(1))
        places[role] = header.index(name)
    if "timestamp" in header:
        places["timestamp"] = header.index("timestamp")
    return places


def _add(pages: PageList, row: list[str], places: dict[str, int], line: int) -> None:
    where = pages.place(line)
    if len(row) <= max(places.values()):
        raise DataError(f"a row of {len(row)} columns; the header has more.", where=where)
    word = {role: row[at] for role, at in places.items()}
    if word["click"] not in ("0", "1"):
        raise DataError(f"click must be 0 or 1; got {word['click'][:40]!r}.", where=where)
    try:
        position, propensity = int(word["position"]), float(word["propensity"])
    except ValueError:
        position, propensity = 0, math.nan
    if not 1 <= position < 2**31 or not 0 < propensity <= 1:
        raise DataError("position must be a whole number from 1, and propensity from 0 to 1.", where=where)
    pages.add("all", [word["item"]], [1] if word["click"] == "1" else [], line=line)
    pages.set_all("positions", [position])
    pages.set_all("propensities", [propensity])
    if "timestamp" in word:
        try:
            pages.set_number("times", as_milliseconds(word["timestamp"]))
        except ValueError:
            raise DataError(
                f"a time must be like 2019-11-24 00:01:03+00:00; got {word['timestamp'][:40]!r}.", where=where
            ) from None
