"""One line of a LETOR file, read in the plain way: every rule of the format and every complaint is here.

The compiled parser reads the lines that are simple and right; the others come here, to be read or explained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from podium.errors import DataError

MOST_FEATURES = 2**20
"""The highest feature id where nobody says how many features there are: models keep numbers for each up to the last."""
_DECIMAL = re.compile(rb"[+-]?+(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?+\d++)?+")


@dataclass(frozen=True)
class Document:
    label: float
    qid: bytes | None
    columns: list[int]
    values: list[float]
    comment: bytes


def read_line(line: bytes, limit: int, where: str) -> Document:
    """A document from its line, which is neither blank nor a comment; feature ids may be up to `limit`."""
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
    for word in words[1:] if qid is None else words[2:]:
        feature, value = _pair(word, limit, where, query)
        if feature - 1 in columns:
            raise DataError(f"feature {feature} stands twice in this line{query}. Keep one of them.", where=where)
        columns[feature - 1] = value
    return Document(label, qid, list(columns), list(columns.values()), comment)


def _label(word: bytes, where: str) -> float:
    if not _DECIMAL.fullmatch(word):
        got = "" if _is_text(word) else " This does not look like a text file."
        if word == b"SQLite":
            got = (
                " If this is an index of documents: podium features INDEX QUERIES QRELS -o FILE makes data of it, and "
                "podium compare INDEX --queries FILE --qrels FILE compares methods on it."
            )
        raise DataError(
            f"the label must be a finite number; got {shown(word)}. "
            f"A line is: label qid:query feature:value … # comment.{got}",
            where=where,
        )
    label = float(word)
    if not np.isfinite(label):
        raise DataError(f"the label must be a finite number; {shown(word)} is too large.", where=where)
    return label


def _pair(word: bytes, limit: int, where: str, query: str) -> tuple[int, float]:
    """A feature's id and value."""
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
    """A word as messages show it: escaped and short."""
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
