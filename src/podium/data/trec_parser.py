"""The compiled half of the TREC reader: whole lines of bytes to numbers, the bytes of document ids, and queries.

It knows only well-formed lines. At any other line it stops, and `podium.data.trec_lines` reads that one line slowly,
and says what is wrong with it. So there is one place that explains errors.
"""

from __future__ import annotations

from typing import Any

from podium.compiled import compiled
from podium.ids import text_hash
from podium.text_bytes import HASH, LF, byte, copy, decimal, is_space, line_end, place_of, same, skip_space, token_end

ROWS, NAMES, LISTS, QUERY_TEXT = range(4)
"""Places in `counts`: rows read, bytes of document ids, lists (consecutive lines of one query), bytes of query ids."""


@compiled
def parse(
    text: Any, at: int, end: int, columns: int, line: int, counts: Any,
    names: Any, bounds: Any, hashes: Any, values: Any,
    query_text: Any, query_bounds: Any, query_rows: Any, query_lines: Any,
) -> tuple[int, int]:  # fmt: skip
    """Read the lines of text[at:end], the last byte a line end, until `end` or a line that is not well-formed.

    columns: 4 (query, iteration, document, grade) or 6 (query, Q0, document, rank, score, tag, and more words).
    line: the number of the first line. Row r gets its number in values[r], its document at
    names[bounds[r]:bounds[r+1]],
    and the document's hash in hashes[r]. List k begins at row query_rows[k], line query_lines[k]; its query is at
    query_text[query_bounds[k]:query_bounds[k+1]]. `counts` says what was there before and is brought up to date.
    Returns where it stopped, and the number of that line.
    """
    base = place_of(text)
    at, stop, row, name, n_lists = at + base, end + base, counts[ROWS], place_of(names), counts[LISTS]
    queries = place_of(query_text)
    to = name + counts[NAMES]
    query, query_end = queries + query_bounds[max(n_lists - 1, 0)], queries + query_bounds[n_lists]
    due = query_lines[n_lists - 1] + row - query_rows[n_lists - 1] if n_lists > 0 else 0  # the next of the same list
    while at < stop:
        begin, at = at, skip_space(at)
        if byte(at) != LF and byte(at) != HASH:
            mine, mine_end, document, document_end, value, at = _line(at, columns)
            if at < 0:
                at = begin
                break
            if line != due or not same(mine, mine_end, query, query_end):
                query = query_end
                query_end = copy(mine, mine_end, query)
                query_rows[n_lists], query_lines[n_lists] = row, line
                n_lists += 1
                query_bounds[n_lists] = query_end - queries
            to = copy(document, document_end, to)
            hashes[row] = text_hash(document, document_end)
            values[row] = value
            row += 1
            due = line + 1
            bounds[row] = to - name
        at = (at if byte(at) == LF else line_end(at)) + 1
        line += 1
    counts[ROWS], counts[NAMES], counts[LISTS], counts[QUERY_TEXT] = row, to - name, n_lists, query_end - queries
    return at - base, line


@compiled
def _line(at: int, columns: int) -> tuple[int, int, int, int, float, int]:
    """Where query and document begin and end, the number, and a place in the line behind it (−1: not well-formed)."""
    query, query_end = at, token_end(at)
    at = skip_space(query_end)
    document = skip_space(token_end(at))
    if byte(at) == LF or byte(document) == LF:
        return 0, 0, 0, 0, 0.0, -1
    document_end = token_end(document)
    at = skip_space(document_end)
    if columns == 6:
        if byte(at) == LF:
            return 0, 0, 0, 0, 0.0, -1
        at = skip_space(token_end(at))
    value, at = decimal(at)
    if at < 0 or not is_space(byte(at)):
        return 0, 0, 0, 0, 0.0, -1
    at = skip_space(at)
    if (byte(at) == LF) == (columns == 6):  # a run has a tag here, qrels have nothing
        return 0, 0, 0, 0, 0.0, -1
    return query, query_end, document, document_end, value, (token_end(at) if columns == 6 else at)
