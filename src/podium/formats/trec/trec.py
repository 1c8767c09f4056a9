"""Qrels and runs: grades and scores of documents by query, read from files and written to them.

    >>> import io
    >>> qrels = read_qrels(io.BytesIO(b"q1 0 d1 2\\nq1 0 d2 0\\n"))
    >>> qrels.document_ids.tolist(), qrels.labels.tolist()
    (['d1', 'd2'], [2.0, 0.0])

Files are TREC's, `query iteration document grade` and `query Q0 document rank score tag`; or CSV, TSV, JSON, JSON
lines, Parquet and Arrow, whose columns are found by their usual names (`usual_columns`); or JSON of ranx, Quepid,
OpenSearch and Elasticsearch (`judgment_json`); or a BEIR folder. In memory they may be dictionaries, query → document →
grade or score, as in pytrec_eval and ranx; objects of ranx; data frames of pandas, polars or pyarrow; and named tuples,
as of ir_measures.

As in trec_eval, scores decide the order; ranks are kept for metrics that ndeval orders by them. Words after the tag,
blank lines and lines that begin with # are ignored. The qrels' iteration is the topic of diversity qrels, `query topic
document grade`, as is a column topic, subtopic or intent of a table: metrics of diversity read it, and for others the
grade of a document is its largest. If it is the same in all lines, there are no topics, and a document twice in a query
is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arguments import whole_number
from podium.base.arrays import Array, Int32s, Ints
from podium.base.columns import float_numbers
from podium.base.errors import DataError
from podium.base.files import Source, source_name, writing
from podium.data.table import Table
from podium.data.triples import Triples
from podium.formats.sniff import is_rows
from podium.formats.trec.nested_dictionaries import nested_columns
from podium.formats.trec.tabular_files import is_tabular, write_tabular
from podium.formats.trec.trec_lines import Columns, read_columns
from podium.jit.sorting import check_scores, order_all
from podium.parsing.ids import Ids, lines

if TYPE_CHECKING:
    from podium.formats.tables.records import Records
    from podium.formats.trec.judged_rows import Grouped


@dataclass(frozen=True, eq=False)
class Qrels:
    """Grades of judged documents, those of query q at offsets[q]:offsets[q+1]."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: Ints  # (Q+1,): rows offsets[q]:offsets[q+1] are query q
    document_ids: Ids  # (N,) text
    labels: Array  # (N,) grades
    source: str | None = None  # its file, for messages
    guessed: str | None = None
    """Which columns of its file were taken for what; None of a TREC file."""
    topics: Triples | None = None
    """Grades of documents by topic, of diversity qrels; labels are then the largest of a document."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "document_ids", Ids.of(self.document_ids))

    @classmethod
    def from_dict(cls, grades: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Make qrels from a dictionary: query → document → grade.

        `grades`: query id → document id → grade.
        """
        return cls(*nested_columns(grades, "grade"))


@dataclass(frozen=True, eq=False)
class Run:
    """Scores of retrieved documents, those of query q at offsets[q]:offsets[q+1]."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: Ints  # (Q+1,): rows offsets[q]:offsets[q+1] are query q
    document_ids: Ids  # (N,) text
    scores: Array  # (N,) larger is better
    tag: str = "podium"  # name of the system
    source: str | None = None  # its file, for messages
    guessed: str | None = None
    """Which columns of its file were taken for what; None of a TREC file."""
    ranks: Int32s | None = None  # (N,) as the file has them, for `Convention.order`

    def __post_init__(self) -> None:
        object.__setattr__(self, "document_ids", Ids.of(self.document_ids))

    @classmethod
    def from_dict(cls, scores: Mapping[str, Mapping[str, float]], *, tag: str = "podium") -> Run:
        """Make a run from a dictionary: query → document → score.

        `scores`: query id → document id → score.
        `tag`: name of the run.
        """
        return cls(*nested_columns(scores, "score"), tag)

    @classmethod
    def from_scores(cls, data: Table, scores: ArrayLike, *, tag: str = "podium") -> Run:
        """Make a run from a score per row of a dataset, in the dataset's row order.

        `data`: the dataset; documents without an id are named after their place.
        `scores`: a number per row.
        `tag`: name of the run.
        """
        values = float_numbers(scores, "score", where=data.source)
        if len(values) != data.n_documents:
            raise DataError(f"{len(values)} scores for {data.n_documents} documents.", where=data.source)
        check_scores(values)
        values, data = data.to_grouped(values), data.grouped()
        queries = np.array([data.query_name(q) for q in range(data.n_queries)], dtype=object)
        documents = Ids.of([data.document_name(row) for row in range(data.n_documents)])
        return cls(queries, data.offsets, documents, values, tag)


def read_qrels(
    source: Source, *, query: str | None = None, document: str | None = None, grade: str | None = None
) -> Qrels:
    """Read qrels from a path, "-" or a binary file, gzipped or not; of a BEIR folder, its qrels/test.tsv.

    `query`, `document` and `grade` name the columns of a table or of JSON records, if they have unusual names.

    `source`: a path, also of a .gz file, or an open file.
    """
    from podium.formats.trec.judged_files import qrels_file

    file, asked = qrels_file(source), {"query": query, "document": document, "grade": grade}
    if is_rows(file) or any(asked.values()):
        qrels = _qrels_of_rows(file, asked)
    else:
        qrels = _qrels(read_columns(file, _QRELS, value="grade"), source_name(file))
    if file is source:
        return qrels
    words = f"the judgments of {source_name(source)}"
    return replace(qrels, guessed=words if qrels.guessed is None else f"{words}; {qrels.guessed}")


def read_run(source: Source, *, query: str | None = None, document: str | None = None, score: str | None = None) -> Run:
    """Read a run from a path, "-" or a binary file, gzipped or not. The tag of a TREC run is that of its first line.

    `query`, `document` and `score` name the columns of a table or of JSON records, if they have unusual names.

    `source`: a path, also of a .gz file, or an open file.
    """
    asked = {"query": query, "document": document, "score": score}
    if is_rows(source) or any(asked.values()):
        return _run_of_rows(source, asked)
    columns = read_columns(source, ["query", "Q0", "document", "rank", "score", "tag"], value="score")
    parts = (columns.query_ids, columns.offsets, columns.document_ids, columns.values)
    return Run(*parts, columns.tag, source_name(source), ranks=columns.ranks)


def _qrels(columns: Columns | Grouped, name: str | None, guessed: str | None = None) -> Qrels:
    if columns.topics is None:
        return Qrels(columns.query_ids, columns.offsets, columns.document_ids, columns.values, name, guessed)
    from podium.formats.trec.topic_qrels import by_topic

    offsets, documents, labels, topics = by_topic(columns, name)
    return Qrels(columns.query_ids, offsets, documents, labels, name, guessed, topics)


def _qrels_of_rows(source: Source, asked: dict[str, str | None]) -> Qrels:
    from podium.formats.trec.judged_files import read_rows

    rows, name = read_rows(source, "grade", asked), source_name(source)
    if isinstance(rows, Mapping):
        with _named(name):
            return replace(Qrels.from_dict(rows), source=name)
    return _qrels(rows, name, rows.guessed)


def _run_of_rows(source: Source, asked: dict[str, str | None]) -> Run:
    from podium.formats.trec.judged_files import read_rows

    rows, name = read_rows(source, "score", asked), source_name(source)
    tag = os.path.basename(name).partition(".")[0] or "podium"
    if isinstance(rows, Mapping):
        with _named(name):
            return replace(Run.from_dict(rows, tag=tag), source=name)
    return Run(rows.query_ids, rows.offsets, rows.document_ids, rows.values, tag, name, rows.guessed, rows.ranks)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Add the file's name to an error about a dictionary."""
    try:
        yield
    except DataError as error:
        raise DataError(str(error), where=where) from None


def write_qrels(qrels: Qrels, target: Source) -> None:
    """Write qrels: CSV, JSON or Parquet by the name, otherwise TREC's; whole grades without a point.

    `target`: a path, whose ending may be .csv, .json or .parquet, or an open file.
    `qrels`: grades by query; grades by topic are always written as TREC's diversity qrels.
    """
    if is_tabular(target) and qrels.topics is None:
        queries_of = np.repeat(qrels.query_ids, np.diff(qrels.offsets)).tolist()
        numbers = [int(grade) if grade.is_integer() else grade for grade in qrels.labels.tolist()]
        write_tabular({"query": queries_of, "document": qrels.document_ids.tolist(), "grade": numbers}, target)
        return
    if qrels.topics is not None:
        _write_by_topic(qrels, qrels.topics, target)
        return
    grades, which = np.unique(qrels.labels, return_inverse=True)
    words = Ids.of([int(grade) if grade.is_integer() else repr(grade) for grade in grades.tolist()])
    queries, zero, documents = _writable(qrels.query_ids), Ids.of(["0"]), _writable(qrels.document_ids)
    of_row = np.repeat(np.arange(len(queries)), np.diff(qrels.offsets))
    with writing(target) as file:
        for a, b in _blocks(len(of_row)):
            nothing = np.zeros(b - a, np.int64)
            file.write(lines([queries[of_row[a:b]], zero[nothing], documents[a:b], words[which[a:b]]]))


def _write_by_topic(qrels: Qrels, topics: Triples, target: Source) -> None:
    """Write diversity qrels, topics numbered from 1."""
    documents = qrels.document_ids.tolist()
    rows = [
        (query, int(topic) + 1, documents[int(qrels.offsets[q] + document)], int(grade) if grade % 1 == 0 else grade)
        for q, query in enumerate(qrels.query_ids.tolist())
        for document, topic, grade in topics.of(q).tolist()
    ]
    if is_tabular(target):
        names = ("query", "topic", "document", "grade")
        write_tabular({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}, target)
        return
    _writable(qrels.query_ids), _writable(documents)
    with writing(target) as file:
        for query, topic, name, grade in rows:
            file.write(f"{query} {topic} {name} {grade!r}\n".encode("utf-8", "surrogateescape"))


def write_run(run: Run, target: Source, *, top: int | None = None) -> None:
    """Write a run, the `top` documents of each query from the best down; equal scores keep their order.

    It is CSV, JSON or Parquet by the name, otherwise TREC's. Ranks are ordinal, 1, 2, 3, also for equal scores, as the
    TREC format demands.

    `target`: a path, whose ending may be .csv, .json or .parquet, or an open file.
    `run`: scores by query; its tag is the last column of TREC's format.
    """
    rows, _ = order_all(run.scores, run.offsets)
    sizes = np.diff(run.offsets)
    rank, of_row = np.arange(len(rows)) - np.repeat(run.offsets[:-1], sizes), np.repeat(np.arange(len(sizes)), sizes)
    if top is not None:
        kept = rank < whole_number(top, "top", least=1)
        rows, rank, of_row = rows[kept], rank[kept], of_row[kept]
    if is_tabular(target):
        columns = {"query": run.query_ids[of_row].tolist(), "document": run.document_ids[rows].tolist()}
        write_tabular({**columns, "rank": (rank + 1).tolist(), "score": run.scores[rows].tolist()}, target)
        return
    queries, documents, words = _writable(run.query_ids), _writable(run.document_ids), _writable(["Q0", run.tag])
    numbers = Ids.of(range(1, int(rank.max(initial=0)) + 2))
    with writing(target) as file:
        for a, b in _blocks(len(rows)):
            scores = Ids.of(run.scores[rows[a:b]])
            q0, tag = (words[np.full(b - a, k)] for k in (0, 1))
            file.write(lines([queries[of_row[a:b]], q0, documents[rows[a:b]], numbers[rank[a:b]], scores, tag]))


AnyQrels = Any
"""Qrels; a dictionary query → document → grade; ranx' Qrels; or rows: a data frame, or named tuples."""
AnyRun = Any
"""A run; a dictionary query → document → score; ranx' Run; or rows: a data frame, or named tuples."""


def as_qrels(qrels: AnyQrels) -> Qrels:
    """Qrels unchanged, or made from what holds them."""
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(plain := _plain(qrels), Mapping):
        return Qrels.from_dict(plain)
    if (records := _records(plain)) is not None:
        from podium.formats.trec.judged_rows import grouped_rows

        rows = grouped_rows(records, "grade")
        return _qrels(rows, None, rows.guessed)
    hint = " Give the run second." if isinstance(qrels, Run) else " Read a file with podium.read_qrels."
    raise DataError(
        "expected Qrels or a dictionary query → document → grade, a data frame, or named tuples; got "
        f"{type(qrels).__name__}.{hint}"
    )


def as_run(run: AnyRun) -> Run:
    """A run unchanged, or made from what holds it."""
    if isinstance(run, Run):
        return run
    if isinstance(plain := _plain(run), Mapping):
        return Run.from_dict(plain)
    if (records := _records(plain)) is not None:
        from podium.formats.trec.judged_rows import grouped_rows

        rows = grouped_rows(records, "score")
        columns = (rows.query_ids, rows.offsets, rows.document_ids, rows.values)
        return Run(*columns, guessed=rows.guessed, ranks=rows.ranks)
    hint = " Give the qrels first." if isinstance(run, Qrels) else " Read a file with podium.read_run."
    raise DataError(
        "expected a Run or a dictionary query → document → score, a data frame, or named tuples; got "
        f"{type(run).__name__}.{hint}"
    )


def _plain(value: Any) -> Any:
    """The dictionary in an object of ranx; anything else as it is."""
    return value.to_dict() if type(value).__module__.partition(".")[0] == "ranx" else value


def _records(value: Any) -> Records | None:
    """The rows of a frame, or of an iterable of named tuples or dicts; None if it is neither."""
    from podium.data.inputs import is_frame
    from podium.formats.tables.records import frame_records, row_records

    if isinstance(value, str | bytes | os.PathLike | Qrels | Run):
        return None
    if is_frame(value):
        return frame_records(value)
    if not isinstance(value, Iterable):
        return None
    rows = list(value)
    is_named = all(hasattr(row, "_asdict") or isinstance(row, Mapping) for row in rows)
    return row_records(rows) if rows and is_named else None


def first_documents(run: Run, depth: int) -> dict[str, list[str]]:
    """The first `depth` documents of each query, best first; equal scores keep their order."""
    rows, _ = order_all(run.scores, run.offsets)
    starts = run.offsets.tolist()
    return {
        str(query): [str(run.document_ids[row]) for row in rows[a : min(b, a + depth)].tolist()]
        for query, a, b in zip(run.query_ids.tolist(), starts[:-1], starts[1:], strict=True)
    }


def _writable(names: Iterable[str]) -> Ids:
    """The ids, if a TREC file can hold them."""
    ids = Ids.of(names)
    bad = ids.first_unwritable()
    if bad >= 0:
        raise DataError(
            f"{ids[bad]!r} has white space or nothing in it: a TREC file cannot hold it. Write a file that can, by its "
            "name: .csv, .json or .parquet."
        )
    return ids


def _blocks(n: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows to write at a time."""
    return ((a, min(a + _BLOCK, n)) for a in range(0, n, _BLOCK))


_BLOCK = 2**14
_QRELS = ["query", "iteration", "document", "grade"]
