"""Parse LETOR lines: bytes to labels, columns, values, and the places of query ids and comments.

The compiled `parse` reads well-formed lines only; its docstring has a picture of the buffers that it fills. At any
other line (an error, or a number with more digits than it handles) it stops, and its slow twin `read_line` parses that
line in Python, with all rules of the format and all error messages.

`podium.parsing.decimals` parses the numbers; `podium.parsing.words` explains why helpers take addresses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from podium.base.arrays import Array, Bytes, Flags, Int32s, Ints, Singles
from podium.base.errors import DataError
from podium.jit.compiled import compiled
from podium.jit.memory import place_of, word
from podium.jit.tiers import CELLS_PER_STEP, is_small
from podium.parsing.decimals import ZERO, decimal, digits, is_digit, nine_bytes
from podium.parsing.words import HASH, LF, byte, line_end, same, skip_space

MOST_FEATURES = 2**20
"""The highest feature id by default; models keep numbers for every feature up to the last."""
_DECIMAL = re.compile(rb"[+-]?+(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?+\d++)?+")
_NUMERALS = b"0123456789.+-eE"
_USUAL = _NUMERALS + b": \t\r\v\f"
_LARGEST = float(np.finfo(np.float32).max)
_COLON = ord(":")
_KNOWN = 1024  # feature ids whose text is compared, not parsed
_KEYS = np.array([int.from_bytes(b" %d:" % k, "little") for k in range(1, _KNOWN + 1)], np.uint64)
_KEY_SIZES = np.array([len(b" %d:" % k) for k in range(1, _KNOWN + 1)], np.int64)
_KEY_MASKS = np.array([256**k - 1 for k in _KEY_SIZES.tolist()], np.uint64)
_QID, _NAN, _NULL = (np.uint64(int.from_bytes(text, "little")) for text in (b"qid:", b"nan", b"null"))
_LOWER, _THREE, _FOUR = np.uint64(0x20202020), np.uint64(0xFFFFFF), np.uint64(0xFFFFFFFF)


@compiled
def parse(
    text: Bytes, at: int, end: int, with_qid: int, limit: int,
    labels: Array, ends: Ints, columns: Int32s, values: Singles, spans: Ints, seen: Flags,
) -> tuple[int, int, int]:  # fmt: skip
    """Parse the lines of text[at:end], the last byte a line end, until `end` or a line for the slow twin `read_line`.

    That is a line which is not well-formed, or the first document beyond len(labels).

    with_qid: 1 every line has a query id, 0 none has, −1 not known yet (stop at the first document).
    limit: the largest feature id. The buffers after these lines:

        line 1  2 qid:7 1:.5 3:1 #a       row       0               1             2
        line 2  0 qid:7 2:4               labels    2               0             1
        line 3  1 qid:8 1:3               columns   0   2           1             0
                                          values    .5  1           4             3
                                          ends      0               2             3             4
                                          spans     6 7  18 19      −1 −1  −1 −1  38 39  −1 −1

    Row r has columns and values [ends[r]:ends[r+1]]. spans[r] are start and end of its query id in the text (−1: the
    query of the row before) and of its comment (−1: none). `seen` is False for each column; to find repeated ids in a
    line where they do not rise, ids must be among its columns, else the line is left to `read_line`.
    Returns where it stopped, and the number of rows and of lines read.
    """
    base = place_of(text)
    at, stop = at + base, end + base
    rows, lines, count, query, query_end = 0, 0, 0, base, base
    ends[0] = 0
    while at < stop:
        line, at = at, skip_space(at)
        if byte(at) != LF and byte(at) != HASH:
            label, at, new, new_end = _head(at, with_qid)
            if at < 0 or rows == len(labels):
                return line - base, rows, lines
            at, more, rising = _features(at, limit, columns, values, count)
            if at < 0 or not (rising or _all_differ(columns[count:more], seen)):
                return line - base, rows, lines
            labels[rows] = label
            again = same(new, new_end, query, query_end)
            spans[rows, 0], spans[rows, 1] = (-1, -1) if again else (new - base, new_end - base)
            spans[rows, 2], spans[rows, 3] = (at + 1 - base, line_end(at) - base) if byte(at) == HASH else (-1, -1)
            query, query_end, count = new, new_end, more
            rows += 1
            ends[rows] = count
        at = line_end(at) + 1
        lines += 1
    return at - base, rows, lines


class Document(NamedTuple):
    """A parsed line."""

    label: float
    qid: bytes | None
    columns: Sequence[int]
    values: list[float]
    comment: bytes


def read_usual(line: bytes, limit: int) -> Document | None:
    """Parse a line with a query id, rising feature ids and ordinary decimals; None: leave it to `read_line`."""
    body, _, comment = line.partition(b"#")
    words = body.split(None, 2)
    if len(words) < 2 or words[1][:4] != b"qid:" or len(words[1]) == 4:
        return None
    pairs = words[2] if len(words) == 3 else b""
    if words[0].translate(None, _NUMERALS) or pairs.translate(None, _USUAL):
        return None
    parts = pairs.split()
    keys, _, numbers = zip(*[part.partition(b":") for part in parts], strict=True) if parts else ((), (), ())
    try:
        label, columns, values = float(words[0]), [int(key) - 1 for key in keys], [float(number) for number in numbers]
    except ValueError:
        return None
    rising = columns == sorted(set(columns)) and (not columns or (columns[0] >= 0 and columns[-1] < limit))
    good = rising and b"".join(keys).isdigit() == bool(keys) and max(map(abs, values), default=0.0) <= _LARGEST
    return Document(label, words[1][4:], columns, values, comment) if good and abs(label) < math.inf else None


def read_line(line: bytes, limit: int, where: str) -> Document:
    """Parse a line, neither blank nor a comment; the slow twin of `parse`. Feature ids may be up to `limit`."""
    body, _, comment = line.partition(b"#")
    words = body.split()
    label = _label(words[0], where)
    qid = None
    if len(words) > 1 and words[1].startswith(b"qid:"):
        qid = words[1][4:]
        if not qid:
            raise DataError("the query id after 'qid:' is empty.", where=where)
    query = "" if qid is None else f" (query {shown(qid)})"
    columns: dict[int, float] = {}
    for pair in words[1:] if qid is None else words[2:]:
        feature, value = _pair(pair, limit, where, query)
        if feature - 1 in columns:
            raise DataError(f"feature {feature} stands twice in this line{query}. Keep one of them.", where=where)
        columns[feature - 1] = value
    return Document(label, qid, list(columns), list(columns.values()), comment)


def scatter(target: Singles, row: int, width: int, ends: Ints, columns: Int32s, values: Singles) -> None:
    """Copy parsed rows into the flat row-major matrix `target`, from `row` on, where its cells are 0."""
    if is_small(len(columns) // CELLS_PER_STEP):
        target[np.repeat((row + np.arange(len(ends) - 1)) * width, np.diff(ends)) + columns] = values
    else:
        _scatter(target, row, width, ends, columns, values)


@compiled
def _scatter(target: Singles, row: int, width: int, ends: Ints, columns: Int32s, values: Singles) -> None:
    for r in range(len(ends) - 1):
        base = (row + r) * width
        for k in range(ends[r], ends[r + 1]):
            target[base + columns[k]] = values[k]


def widen(flat: Singles, rows: int, old: int, new: int) -> None:
    """Widen rows × old cells at the front of `flat` to rows × new, in place; new cells are 0."""
    if is_small(rows * new // CELLS_PER_STEP):
        before = flat[: rows * old].reshape(rows, old).copy()
        after = flat[: rows * new].reshape(rows, new)
        after[:, :old], after[:, old:] = before, 0
    else:
        _widen(flat, rows, old, new)


@compiled
def _widen(flat: Singles, rows: int, old: int, new: int) -> None:
    for r in range(rows - 1, -1, -1):
        for c in range(new - 1, old - 1, -1):
            flat[r * new + c] = 0
        for c in range(old - 1, -1, -1):
            flat[r * new + c] = flat[r * old + c]


def narrow(flat: Singles, rows: int, old: int, new: int) -> None:
    """Keep the first `new` cells of each of rows × old, in place, at the front of `flat`."""
    if is_small(rows * new // CELLS_PER_STEP):
        flat[: rows * new] = flat[: rows * old].reshape(rows, old)[:, :new].copy().ravel()
    else:
        _narrow(flat, rows, old, new)


@compiled
def _narrow(flat: Singles, rows: int, old: int, new: int) -> None:
    for r in range(rows):
        for c in range(new):
            flat[r * new + c] = flat[r * old + c]


@compiled
def _head(at: int, with_qid: int) -> tuple[float, int, int, int]:
    """A line's label; where the features begin (−1: not well-formed); the query id's start and end."""
    label, at = decimal(at)
    if at < 0 or with_qid < 0 or not _ends_token(byte(at)):
        return label, -1, 0, 0
    at = skip_space(at)
    if with_qid == 0:
        return label, at, at, at
    if word(at) & _FOUR != _QID or _ends_token(byte(at + 4)):
        return label, -1, 0, 0
    start = at = at + 4
    while not _ends_token(byte(at)):
        at += 1
    return label, at, start, at


@compiled
def _features(at: int, limit: int, columns: Int32s, values: Singles, count: int) -> tuple[int, int, bool]:
    """Parse feature:value pairs; return their end (−1: not well-formed), the count, and whether ids rise."""
    top, rising = 0, True
    while True:
        at, after = _in_order(at, top, min(limit, _KNOWN), values, count - top)
        for feature in range(top, after):
            columns[count] = feature
            count += 1
        top = after
        at = skip_space(at)
        if byte(at) == LF or byte(at) == HASH:
            return at, count, rising
        feature, n = digits(word(at))
        at += n
        if n == 8:  # or more
            feature, at = _long_id(at - n)
        if byte(at) != _COLON or feature < 1 or feature > limit:
            return -1, count, rising
        value, at = _value(at + 1)
        if at < 0:
            return -1, count, rising
        columns[count], values[count] = feature - 1, value
        count += 1
        rising &= feature > top
        top = max(top, feature)


@compiled
def _in_order(at: int, top: int, most: int, values: Singles, first: int) -> tuple[int, int]:
    """Parse pairs with consecutive ids from top + 1 on, as in most files, and short values.

    Values go to values[first + top] and on. Returns where it stopped, and the last id.
    """
    before = at
    while top < most and word(at) & _KEY_MASKS[np.uint64(top)] == _KEYS[np.uint64(top)]:
        x, past = nine_bytes(at + _KEY_SIZES[np.uint64(top)])
        if past < 0:
            return at, top
        values[np.uint64(first + top)] = np.float32(x)
        before, at, top = at, past, top + 1
    if at > before and not _ends_token(byte(at)):  # if an id followed, a blank did
        return before, top - 1
    return at, top


@compiled
def _value(at: int) -> tuple[np.float32, int]:
    """Parse a value: float32 of the nearest double, NaN for nan and null in any case; its end (−1: not well-formed)."""
    x, past = decimal(at)
    value = np.float32(x)
    if past < 0:
        text = word(at) | _LOWER
        value = np.float32(np.nan)
        past = at + 3 if text & _THREE == _NAN else at + 4 if text & _FOUR == _NULL else at
        return value, (past if past > at and _ends_token(byte(past)) else -1)
    return value, (past if np.isfinite(value) and _ends_token(byte(past)) else -1)


@compiled
def _long_id(at: int) -> tuple[int, int]:
    """A feature id of eight digits or more (−1: more than fit), and where it ends."""
    start, feature = at, 0
    while is_digit(byte(at)):
        feature = feature * 10 + (byte(at) - ZERO)
        at += 1
    return (feature if at - start < 18 else -1), at


@compiled
def _all_differ(columns: Int32s, seen: Flags) -> bool:
    """Whether all columns differ; also False if one is beyond `seen`."""
    good = True
    for c in columns:
        good &= c < len(seen)
        if c < len(seen):
            good &= not seen[c]
            seen[c] = True
    for c in columns:
        if c < len(seen):
            seen[c] = False
    return good


@compiled
def _ends_token(c: int) -> bool:
    return c == 32 or 9 <= c <= 13 or c == HASH


def _label(word: bytes, where: str) -> float:
    if word.lower() == b"nan":  # not judged
        return np.nan
    if not _DECIMAL.fullmatch(word):
        got = "" if _is_text(word) else " This does not look like a text file."
        if word == b"SQLite":
            got = (
                " If this is an index of documents: podium features INDEX QUERIES QRELS -o FILE makes data of it, and "
                "podium compare INDEX --queries FILE --qrels FILE compares methods on it."
            )
        raise DataError(
            f"the label must be a finite number, or nan if the document was not judged; got {shown(word)}. "
            f"A line is: label qid:query feature:value … # comment.{got}",
            where=where,
        )
    label = float(word)
    if not np.isfinite(label):
        raise DataError(f"the label must be a finite number; {shown(word)} is too large.", where=where)
    return label


def _pair(word: bytes, limit: int, where: str, query: str) -> tuple[int, float]:
    """Parse a feature's id and value."""
    left, colon, right = word.partition(b":")
    if left == b"qid":
        raise DataError(f"{shown(word)}: the qid comes right after the label, and once.", where=where)
    if not colon or not re.fullmatch(rb"-?\d{1,4000}", left):
        raise DataError(
            f"expected feature:value, with a whole number before the colon; got {shown(word)}{query}.", where=where
        )
    feature = int(left)
    if feature < 1:
        raise DataError(f"feature {feature}: ids count from 1{query}.", where=where)
    if feature > limit:
        unless = (
            ", unless n_features says more. Number the features that occur from 1" if limit == MOST_FEATURES else ""
        )
        raise DataError(f"feature {shown(left)}, but there are {limit} features at most{query}{unless}.", where=where)
    if right.lower() in (b"nan", b"null"):
        return feature, float("nan")
    if not _DECIMAL.fullmatch(right):
        hint = " Leave a missing value out, or write nan." if right.lower().lstrip(b"+-").startswith(b"inf") else ""
        raise DataError(f"feature {feature} must be a finite number; got {shown(right)}{query}.{hint}", where=where)
    with np.errstate(over="ignore"):
        value = float(np.float32(float(right)))
    if not np.isfinite(value):
        raise DataError(f"feature {feature}: {shown(right)} is beyond 32-bit floats (3.4e38){query}.", where=where)
    return feature, value


def shown(word: bytes) -> str:
    """A word for error messages: escaped and short."""
    try:
        text = repr(word.decode())[1:-1]
    except UnicodeDecodeError:
        text = repr(word)[2:-1]
    return f"'{text if len(text) <= 40 else text[:37] + '…'}'"


def _is_text(word: bytes) -> bool:
    try:
        return word.decode().isprintable()
    except UnicodeDecodeError:
        return False
