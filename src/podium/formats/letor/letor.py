"""LETOR (SVMlight) files: `<label> [qid:<query>] <feature>:<value> … [# comment]`, one document per line.

    >>> import io
    >>> data = read_letor(io.BytesIO(b"2 qid:7 1:0.5 3:1 #docid = a\\n0 qid:7 2:4 #docid = b\\n"))
    >>> data.features.tolist(), data.labels.tolist(), data.document_ids.tolist()
    ([[0.5, 0.0, 1.0], [0.0, 4.0, 0.0]], [2.0, 0.0], ['a', 'b'])

Labels are finite numbers; query ids any text without white space; feature ids count from 1, in any order, none twice
in a line, up to `n_features` or 1048576 (2^20), since models keep numbers for every feature up to the last; absent
features are 0; `nan` and `NULL` are missing values (NaN). Lines of a query need not be adjacent. Blank lines and
lines of comment alone are skipped. Without qid, the sizes of queries are in `<file>.query` or `<file>.group`; without
these all lines are one query. Side files are read if they exist: preferences from `<file>.preferences`, topics of
documents from `<file>.topics`, links between documents from `<file>.relations`, features of queries from
`<file>.queries`, and names of features from `<file>.features`, which `podium features` writes.

Comments are kept as they are. Document ids come from them: the word after `docid =` if every line has one; else the
first word, if every line has one and no query has one twice (as in `# 7555 rambo`).
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Bytes, Ints, Singles
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name, writing
from podium.data.inputs import widened
from podium.data.table import Table
from podium.formats.letor.letor_lines import Lines
from podium.formats.lightgbm_files import query_sizes
from podium.jit.compiled import compiled
from podium.jit.memory import place_of, put_word
from podium.jit.tiers import tier
from podium.parsing.decimals import DOT, ZERO
from podium.parsing.ids import Ids
from podium.parsing.whole_lines import known_size, measured, whole_lines
from podium.parsing.words import SPARE, byte, copy

if TYPE_CHECKING:
    import scipy.sparse as sp

_BLOCK = 2**17  # numbers written at a time
_BYTES_PER_STEP = 40  # a kilobyte takes 60 microseconds


def read_letor(source: Source, *, n_features: int | None = None, sparse: bool | None = None) -> Table:
    """Read a dataset from a LETOR file: a path, "-" for standard input, or a binary file object; gzipped or not.

    `n_features` is the number of features, if the file may not mention the last ones; a higher id is an error.
    `sparse` asks for a CSR matrix or a dense one. By default it is dense, unless it would take more than 256 MB and
    less than a quarter of its cells are written.

    `source`: a path, also of a .gz file, or an open file.
    """
    return read_lines(source, Lines(source_name(source), n_features=n_features, sparse=sparse))


def read_lines(source: Source, lines: Lines) -> Table:
    """Read a LETOR file with `lines`, and its side files: sizes of queries, names of features, preferences …"""
    name = lines.name
    with reading(source) as stream:
        size = known_size(source, stream)
        blocks, bytes_ahead = measured(whole_lines(stream, name, size=size, ring=lines.threads + 1), size)
        with tier(bytes_ahead // _BYTES_PER_STEP) as plain:
            for end in lines.read(blocks, plain=plain):
                if size > 2 * end:
                    lines.matrix.expect(1.02 * size / end)
                size = 0
    if lines.rows == 0:
        raise DataError("no documents: the file is empty, or all comments and blank lines.", where=name)
    path = os.fspath(source) if isinstance(source, str | os.PathLike) and source != "-" else None
    data = lines.dataset(group=None if lines.with_qid else query_sizes(path))
    data = data if path is None else _named(data, path + ".features")
    if path is None:
        return data
    for field, (ending, _) in _SIDE_FILES.items():
        if os.path.exists(path + ending):
            data = _side_file(field).read(path + ending, data)
    return data


_SIDE_FILES = {
    "preferences": (".preferences", "preference_file"),
    "topics": (".topics", "topics_file"),
    "relations": (".relations", "relations_file"),
    "query_features": (".queries", "query_features_file"),
    "base_scores": (".init", "base_scores_file"),
}
"""By field of a dataset: the ending of the file that holds it next to a data file, and the module of that format."""


class _SideFile(NamedTuple):
    read: Callable[[Source, Table], Table]
    write: Callable[[Table, Source], None]


def _side_file(field: str) -> _SideFile:
    """Reader and writer of a field; few data files have side files, so the format is imported here."""
    module = importlib.import_module(f"podium.formats.{_SIDE_FILES[field][1]}")
    return _SideFile(getattr(module, f"read_{field}"), getattr(module, f"write_{field}"))


def write_letor(data: Table, target: Source) -> None:
    """Write a dataset as LETOR: to a path (gzipped if it ends in .gz), "-" for standard output, or a binary file.

    Rows are written in their order, labels and features with digits that read back as the same numbers, NaN as nan,
    comments as they were, else document ids as `#docid = id`. Preferences, topics, relations, features of queries and
    base scores go to side files: `<file>.preferences` and so on.

    `data`: a Dataset.
    `target`: a path, .gz if it is to be compressed, or an open file.
    """
    path = os.fspath(target) if isinstance(target, str | os.PathLike) and target != "-" else None
    if data.categories:
        raise DataError(
            "a LETOR file holds numbers, no categories. Write a frame instead: to_frame.", where=data.source
        )
    if data.row_weights is not None or data.positions is not None:
        what = "weights of rows" if data.positions is None else "positions"
        raise DataError(f"a LETOR file has no {what}. Write a frame or a cache.", where=data.source)
    if data.labels is None:
        raise DataError("a LETOR line begins with a label, and this data has none.", where=data.source)
    beside = [name for name in _SIDE_FILES if getattr(data, name) is not None]
    if beside and path is None:
        ending = _SIDE_FILES[beside[0]][0]
        raise DataError(f"{beside[0]} are written to <file>{ending}; give a path.", where=data.source)
    heads, which = _heads(data)
    notes = _notes(data)
    rows = max(1, _BLOCK * data.n_documents // max(data.features.size, 1))  # a sparse matrix has the size it stores
    with writing(target) as file:
        for start in range(0, data.n_documents, rows):
            part = slice(start, start + rows)
            note = None if notes is None else Ids.of([f" #{text}" if text else "" for text in notes[part]])
            file.write(_lines(heads[which[part]], data.features[part], note))
    for field in beside:
        _side_file(field).write(data, f"{path}{_SIDE_FILES[field][0]}")


def _named(data: Table, path: str) -> Table:
    """Add the names of features from the side file, if there is one."""
    if not os.path.exists(path):
        return data
    with reading(path) as file:
        try:
            about = json.loads(file.read())
            names, info = [str(name) for name in about["features"]], about.get("info")
        except (ValueError, KeyError, TypeError, RecursionError):
            raise DataError('expected JSON with "features", a list of names.', where=path) from None
    if len(names) < data.n_features or not isinstance(info, dict | None):
        raise DataError(f"{len(names)} names for {data.n_features} features.", where=path)
    data = widened(data, len(names))  # the last ones may be 0 in all lines
    return replace(data, feature_names=tuple(names), info=info)


def _heads(data: Table) -> tuple[Ids, Ints]:
    """The different line beginnings `label qid:query`, and the index of each row's."""
    assert data.labels is not None, "checked before"
    queries = [_query_word(data, q) for q in range(data.n_queries)]
    grades, of_row = np.unique(np.ascontiguousarray(data.labels).view(np.uint64), return_inverse=True)
    words = [_number(label) for label in grades.view(np.float64)]
    pairs, which = np.unique(data.query_index * len(words) + of_row.reshape(-1), return_inverse=True)
    parts = (divmod(pair, len(words)) for pair in pairs.tolist())
    return Ids.of([f"{words[label]} qid:{queries[query]}" for query, label in parts]), which.reshape(-1)


def _query_word(data: Table, q: int) -> str:
    name = data.query_name(q)
    check_query_id(name, data.source)
    return name


def check_query_id(name: str, where: str | None) -> None:
    """Raise a clear error if LETOR text cannot hold the id of a query. `where`: the file that has it."""
    if name.split() != [name] or "#" in name:
        raise DataError(
            f"query id {name!r} has white space, '#' or nothing in it: LETOR cannot hold it. Write a file that can, by "
            "its name: .parquet.",
            where=where,
        )


def check_document_id(name: str, where: str | None) -> None:
    """Raise a clear error if LETOR text cannot hold the id of a document. `where`: the file that has it."""
    if name.split() != [name]:
        raise DataError(
            f"document id {name!r} has white space or nothing in it: LETOR cannot hold it. Write a file that can, by "
            "its name: .parquet.",
            where=where,
        )


def _notes(data: Table) -> NDArray[Any] | None:
    """The text after '#' of each row."""
    if data.comments is None:
        if data.document_ids is None:
            return None
        for name in map(str, data.document_ids):
            check_document_id(name, data.source)
        return np.array([f"docid = {name}" for name in data.document_ids], dtype=object)
    for comment in data.comments:
        if "\n" in comment:
            raise DataError(f"comment {comment!r} has a line end in it: LETOR cannot hold it.", where=data.source)
    return data.comments


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and (value or np.copysign(1, value) > 0) else repr(float(value))


def _lines(heads: Ids, block: Singles | sp.csr_array, notes: Ids | None) -> bytes:
    """Format a line per row: its head, ` feature:value …`, its note.

    All features of a dense row, the stored ones of a sparse row; a whole number is written without a point.
    """
    if isinstance(block, np.ndarray):
        columns, which = np.arange(block.shape[1]), np.tile(np.arange(block.shape[1]), len(block))
        ends, numbers = np.arange(len(block) + 1) * block.shape[1], block.ravel()
    else:
        columns, which = np.unique(block.indices, return_inverse=True)
        ends, numbers = block.indptr.astype(np.int64), block.data
    keys, values = Ids.from_bytes([b" %d:" % (column + 1) for column in columns.tolist()]), _decimals(numbers)
    after = Ids.of([""] * len(heads)) if notes is None else notes
    sizes = [int((part.ends - part.starts).sum()) for part in (heads, values, keys[which], after)]
    out = np.empty(sum(sizes) + len(heads) + SPARE, np.uint8)
    size = _write(*_spans(heads), *_spans(keys), which.astype(np.int64), *_spans(values), ends, *_spans(after), out)
    return out[:size].tobytes()


def _decimals(numbers: Singles) -> Ids:
    """Format numbers with the fewest digits that identify the float32, from a million on with an exponent."""
    words = numbers.astype("S32").tolist()
    for k in np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= 1e6)).tolist():
        words[k] = np.format_float_scientific(numbers[k], trim="-", exp_digits=2).encode()
    return Ids.from_bytes(words)


def _spans(ids: Ids) -> tuple[Bytes, Ints, Ints]:
    return ids.text, np.ascontiguousarray(ids.starts), np.ascontiguousarray(ids.ends)


@compiled
def _write(
    head: Bytes, head_starts: Ints, head_ends: Ints, key: Bytes, key_starts: Ints, key_ends: Ints, which: Ints,
    value: Bytes, value_starts: Ints, value_ends: Ints, ends: Ints,
    note: Bytes, note_starts: Ints, note_ends: Ints, out: Bytes,
) -> int:  # fmt: skip
    """Write all rows to `out`; return the number of bytes."""
    heads, keys, values, notes = place_of(head), place_of(key), place_of(value), place_of(note)
    begin = at = place_of(out)
    for row in range(len(head_starts)):
        at = copy(heads + head_starts[row], heads + head_ends[row], at)
        for k in range(ends[row], ends[row + 1]):
            at = copy(keys + key_starts[which[k]], keys + key_ends[which[k]], at)
            start, end = values + value_starts[k], values + value_ends[k]
            if end - start > 2 and byte(end - 1) == ZERO and byte(end - 2) == DOT:
                end -= 2
            at = copy(start, end, at)
        at = copy(notes + note_starts[row], notes + note_ends[row], at)
        put_word(at, np.uint64(10))
        at += 1
    return at - begin
