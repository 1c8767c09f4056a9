"""Tables of rankings: data frames of pandas, polars or pyarrow, CSV and Parquet files; a row per query, voter and
document.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"query": [7, 7, 7], "voter": list("xxy"), "document": list("abb"), "rank": [1, 2, 1]})
    >>> rankings_from_frame(frame).query(0).matrix().tolist()
    [[1.0, 2.0], [nan, 1.0]]

Columns: query (or qid), voter, document (or document_id, docid), and rank (1 is the top) or score or both; others are
not read. A document that a voter does not rank has no row.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from podium.aggregation.rankings.rankings import Rankings
from podium.base.columns import number_ids
from podium.base.errors import DataError
from podium.data.frames import column_numbers, frame_table
from podium.formats.column_roles import column_roles, finite_number, read_csv_roles
from podium.formats.sniff import table_kind
from podium.formats.tables.tables import read_frame

Missing = Literal["refuse", "allow"]
"""What to do if a voter ranks nothing for a query that another ranks."""

_COLUMNS = {
    "query": ("query", "qid"),
    "voter": ("voter",),
    "document": ("document", "document_id", "docid"),
    "rank": ("rank",),
    "score": ("score",),
}


def rankings_from_frame(frame: Any, *, missing: Missing = "refuse", source: str | None = None) -> Rankings:
    """Rankings from a data frame; `source` is its name in messages."""
    table = frame_table(frame, source=source)
    columns: dict[str, Any] = {}
    for role, name in _roles(list(table.columns), source).items():
        values = table[name]
        if values.null_count() or (values.dtype.is_float() and values.is_nan().any()):
            raise DataError(
                f"column {name!r} has missing values. Leave the rows of unranked documents out.", where=source
            )
        columns[role] = column_numbers(values, source) if role in ("rank", "score") else values.to_native()
    return _rankings(columns, range(len(table)), missing=missing, source=source)


def read_rankings_table(path: str | os.PathLike[str], *, missing: Missing = "refuse") -> Rankings:
    """Rankings from a .csv, .csv.gz or .parquet file. Ids in CSV are text: 007 stays 007."""
    name = os.fspath(path)
    if table_kind(name) == "parquet":
        return read_frame(path, lambda frame: rankings_from_frame(frame, missing=missing, source=name))
    values, lines = read_csv_roles(path, lambda head: _roles(head, name), _value)
    return _rankings(values, lines, missing=missing, source=name)


def _roles(columns: list[str], source: str | None) -> dict[str, str]:
    expected = "query, voter, document, and rank or score"
    roles = column_roles(columns, _COLUMNS, expected=expected, optional=("rank", "score"), source=source)
    if "rank" not in roles and "score" not in roles:
        raise DataError("no column 'rank' or 'score': one of them must say the order.", where=source)
    return roles


def _value(role: str, word: str, where: str) -> str | float:
    if not word:
        raise DataError(f"no {role}. Leave the rows of unranked documents out.", where=where)
    return finite_number(word, role, where) if role in ("rank", "score") else word


def _rankings(columns: dict[str, Any], lines: Sequence[int], *, missing: Missing, source: str | None) -> Rankings:
    """Rankings from columns of entries, with the line or row of each for messages."""
    if not len(lines):
        raise DataError("no rows: expected one per query, voter and document.", where=source)
    voters = number_ids(columns["voter"], "name of a voter", where=source)[1]
    rankings = Rankings.from_entries(
        columns["query"],
        columns["voter"],
        columns["document"],
        ranks=columns.get("rank"),
        scores=columns.get("score"),
        voters=voters,
        sources=None if source is None else [source] * len(voters),
        lines=lines,
    )
    silent = np.flatnonzero(np.diff(rankings.entry_offsets) == 0)
    if missing == "refuse" and len(silent):
        query, voter = divmod(int(silent[0]), rankings.n_voters)
        raise DataError(
            f"voter {rankings.voters[voter]} ranks nothing for query {rankings.query_ids[query]}, which others rank. "
            "Add its ranking, or let it abstain: missing='allow' (--missing allow).",
            where=source,
        )
    return rankings
