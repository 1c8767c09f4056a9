"""Parse TREC lines in compiled code: bytes to document ids, grades or scores, queries, and ranks.

The compiled `parse` reads well-formed lines only; its docstring has a picture of the buffers that it fills. At any
other line it stops, and its slow twin, `_Lines._take_line` in `trec_lines`, parses that line in Python, with all error
messages.
"""

from __future__ import annotations

from podium.base.arrays import Array, Bytes, Int32s, Ints, Words
from podium.jit.compiled import compiled
from podium.jit.memory import place_of
from podium.parsing.decimals import decimal
from podium.parsing.ids import text_hash
from podium.parsing.words import HASH, LF, byte, copy, is_space, line_end, same, skip_space, token_end

ROWS, NAMES, LISTS, QUERY_TEXT, OTHER = range(5)
"""Places in `counts`: rows read, bytes of document ids, lists (consecutive lines of one query), bytes of query ids;
and whether a second word is another than 0 or Q0."""


@compiled
def parse(
    text: Bytes, at: int, end: int, columns: int, line: int, counts: Ints,
    names: Bytes, bounds: Ints, hashes: Words, values: Array,
    query_text: Bytes, query_bounds: Ints, query_rows: Ints, query_lines: Ints, ranks: Int32s,
) -> tuple[int, int]:  # fmt: skip
    """Parse the lines of text[at:end], the last byte a line end, until `end` or a line that is not well-formed.

    columns: 4 (query, iteration, document, grade) or 6 (query, Q0, document, rank, score, tag, and more words).
    line: the number of the first line. A list is consecutive lines of one query. The buffers after these lines:

        line 1  q7 0 d1 2       row           0   1   2       list          0    1
        line 2  q7 0 d25 0      values        2   0   1       query_rows    0    2       its first row
        line 3  q8 0 d1 1       hashes        h1  h25 h1      query_lines   1    3       its first line
                                names         d1d25d1         query_text    q7q8
                                bounds        0 2   5 7       query_bounds  0 2  4

    With 6 columns, `ranks` has the rank of each row, −1 if it is no whole number of up to 9 digits.
    Row r has the document names[bounds[r]:bounds[r+1]], list k the query query_text[query_bounds[k]:query_bounds[k+1]].
    `counts` holds the filled size of each buffer, and is updated. Most lines begin (query and second column) and end
    (everything after the number) like the line before; only others are scanned byte by byte. Returns where it stopped,
    and the number of that line, which the slow twin `trec_lines._Lines._take_line` parses.
    """
    base = place_of(text)
    at, stop, row, name, n_lists = at + base, end + base, counts[ROWS], place_of(names), counts[LISTS]
    queries = place_of(query_text)
    to = name + counts[NAMES]
    query, query_end = queries + query_bounds[max(n_lists - 1, 0)], queries + query_bounds[n_lists]
    due = query_lines[n_lists - 1] + row - query_rows[n_lists - 1] if n_lists > 0 else 0  # the next of the same list
    start, to_document, tail, tail_size = 0, 0, 0, 0  # beginning and end of the line before
    while at < stop:
        begin, value, document = at, 0.0, at + to_document
        again = line == due and to_document > 0 and same(at, document, start, start + to_document)
        if again and byte(document) > _SPACE:  # the same query and second column; else find the columns
            document_end = token_end(document)
            value, at = _value(document_end, columns)
        else:
            at = skip_space(at)
            if byte(at) == LF or byte(at) == HASH:
                at, line = (at if byte(at) == LF else line_end(at)) + 1, line + 1
                continue
            new, new_end, document, document_end = _ids_of(at)
            counts[OTHER] |= document >= 0 and not _is_zero(skip_space(new_end))
            value, at = _value(document_end, columns) if document >= 0 else (0.0, -1)
        same_tail = at >= 0 and tail_size > 0 and same(at, at + tail_size, tail, tail + tail_size)
        if not same_tail:
            if at < 0 or not _ends(at, columns):
                at = begin
                break
            tail, tail_size = at, line_end(at) + 1 - at
        if not again and (line != due or not same(new, new_end, query, query_end)):
            query = query_end
            query_end = copy(new, new_end, query)
            query_rows[n_lists], query_lines[n_lists] = row, line
            n_lists += 1
            query_bounds[n_lists] = query_end - queries
        to = copy(document, document_end, to)
        hashes[row], values[row] = text_hash(document, document_end), value
        if columns == 6:
            ranks[row] = _rank(skip_space(document_end))
        row, line = row + 1, line + 1
        bounds[row], due = to - name, line
        start, to_document, at = begin, document - begin, at + tail_size
    counts[ROWS], counts[NAMES], counts[LISTS], counts[QUERY_TEXT] = row, to - name, n_lists, query_end - queries
    return at - base, line


_SPACE, _ZERO, _Q = 32, 48, 81


@compiled
def _ids_of(at: int) -> tuple[int, int, int, int]:
    """Start and end of query and document; the document is at −1 if the line has fewer columns."""
    query_end = token_end(at)
    second = skip_space(query_end)
    document = skip_space(token_end(second))
    if byte(second) == LF or byte(document) == LF:
        return 0, 0, -1, 0
    return at, query_end, document, token_end(document)


@compiled
def _is_zero(at: int) -> bool:
    """Whether the word here is 0 or Q0."""
    zero = at + 1 if byte(at) == _Q else at
    return byte(zero) == _ZERO and is_space(byte(zero + 1))


@compiled
def _value(at: int, columns: int) -> tuple[float, int]:
    """Parse the number of a line whose document ends here: its value and its end (−1: not well-formed)."""
    at = skip_space(at)
    if columns == 6:
        if byte(at) == LF:
            return 0.0, -1
        at = skip_space(token_end(at))
    return decimal(at)


@compiled
def _rank(at: int) -> int:
    """The whole number of 1 to 9 digits in the word here; −1 if it is none."""
    start, rank = at, 0
    while 0 <= byte(at) - _ZERO <= 9 and at - start < 9:
        rank, at = 10 * rank + byte(at) - _ZERO, at + 1
    return rank if at > start and is_space(byte(at)) else -1


@compiled
def _ends(at: int, columns: int) -> bool:
    """Whether a line is well-formed after its number: a run has a tag, qrels have nothing."""
    return is_space(byte(at)) and (byte(skip_space(at)) == LF) == (columns == 4)
