"""Preference files: lines of `query winner loser [probability [weight]]`, separated by tabs, commas or spaces.

Winner and loser are document ids; for data without ids, row numbers within the query, from 0. The separator is a tab or
comma if the first line has one. A first line of column names, `qid winner loser probability weight`, blank lines and
lines that begin with # are skipped. The preferences of a LETOR file are in `<file>.preferences`, and read with it.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from podium.base.errors import DataError
from podium.base.files import Source, writing
from podium.data.preferences import from_rows
from podium.data.table import Table
from podium.formats.side_files import RowFinder, name_in_file, side_lines

_HEADER = ["qid", "winner", "loser", "probability", "weight"]


def read_preferences(source: Source, data: Table) -> Table:
    """Add the preferences of a file to data."""
    grouped = data.grouped()
    rows = RowFinder(grouped)
    winners, losers, odds, weights = [], [], [], []
    for k, (words, where) in enumerate(side_lines(source)):
        if k == 0 and [word.lower() for word in words] in (_HEADER, _HEADER[:4], _HEADER[:3]):
            continue
        if len(words) not in (3, 4, 5):
            raise DataError(
                f"expected: query winner loser [probability [weight]]; got {len(words)} columns.", where=where
            )
        winner, loser = (rows.find(words[0], document, where) for document in words[1:3])
        if winner == loser:
            raise DataError(f"document {words[1]!r} of query {words[0]!r} is preferred to itself.", where=where)
        winners.append(winner)
        losers.append(loser)
        odds.append(_number(words[3] if len(words) > 3 else "1", "probability", where, most=1.0))
        weights.append(_number(words[4] if len(words) > 4 else "1", "weight", where, most=np.finfo(np.float64).max))
    return replace(data, preferences=from_rows(winners, losers, odds, weights=weights, offsets=grouped.offsets))


def write_preferences(data: Table, target: Source) -> None:
    """Write the preferences of a dataset."""
    if data.preferences is None:
        raise DataError("this data has no preferences.", where=data.source)
    edges, offsets = data.preferences.edges, data.preferences.offsets
    data = data.grouped()
    with writing(target) as file:
        file.write(("\t".join(_HEADER) + "\n").encode())
        for q, (a, b) in enumerate(itertools.pairwise(offsets)):
            for first, second, *numbers in edges[a:b].tolist():
                names = [name_in_file(data, q, int(first)), name_in_file(data, q, int(second))]
                line = "\t".join([data.query_name(q), *names, *map(repr, numbers)])
                file.write(line.encode("utf-8", "surrogateescape") + b"\n")


def _number(word: str, what: str, where: str, *, most: float) -> float:
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if not 0 <= value <= most:
        between = "from 0 to 1" if most == 1.0 else "of at least 0"
        raise DataError(f"the {what} must be a number {between}; got {word!r}.", where=where)
    return value
