"""TREC files: qrels (`query iteration document grade`) and runs (`query Q0 document rank score tag`).

    >>> import io
    >>> qrels = read_qrels(io.BytesIO(b"q1 0 d1 2\\nq1 0 d2 0\\n"))
    >>> run = read_run(io.BytesIO(b"q1 Q0 d3 1 0.9 mine\\nq1 Q0 d1 2 0.8 mine\\n"))
    >>> judged = join(qrels, run)
    >>> judged.labels.tolist(), judged.judged.tolist()
    ([0.0, 2.0], [2.0, 0.0])

Both can also be made from dictionaries, query → document → grade or score, as in pytrec_eval and ranx.

As in trec_eval, the rank in a run is ignored (scores decide the order), as are words after the tag, the qrels'
iteration, blank lines and lines that begin with #. A document twice in a query is an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arguments import whole_number
from podium.base.arrays import Array, Flags, Ints
from podium.base.columns import exact_float, float_numbers, id_text
from podium.base.errors import DataError
from podium.base.files import Source, source_name, writing
from podium.data.table import Table
from podium.formats.trec.trec_lines import read_columns
from podium.jit.sorting import break_ties, check_scores, order_all
from podium.parsing.ids import Ids, id_keys, lines


@dataclass(frozen=True, eq=False)
class Qrels:
    """Grades of judged documents, those of query q at offsets[q]:offsets[q+1]."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: Ints  # (Q+1,)
    document_ids: Ids  # (N,)
    labels: Array  # (N,)
    source: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "document_ids", Ids.of(self.document_ids))

    @classmethod
    def from_dict(cls, grades: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Make qrels from a dictionary: query → document → grade."""
        return cls(*_columns(_checked(grades, "grade")))


@dataclass(frozen=True, eq=False)
class Run:
    """Scores of retrieved documents, those of query q at offsets[q]:offsets[q+1]."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: Ints  # (Q+1,)
    document_ids: Ids  # (N,)
    scores: Array  # (N,)
    tag: str = "podium"
    source: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "document_ids", Ids.of(self.document_ids))

    @classmethod
    def from_dict(cls, scores: Mapping[str, Mapping[str, float]], *, tag: str = "podium") -> Run:
        """Make a run from a dictionary: query → document → score."""
        return cls(*_columns(_checked(scores, "score")), tag)

    @classmethod
    def from_scores(cls, data: Table, scores: ArrayLike, *, tag: str = "podium") -> Run:
        """Make a run from a score per row of a dataset, in the dataset's row order."""
        values = float_numbers(scores, "score", where=data.source)
        if len(values) != data.n_documents:
            raise DataError(f"{len(values)} scores for {data.n_documents} documents.", where=data.source)
        check_scores(values)
        values, data = data.to_grouped(values), data.grouped()
        queries = np.array([data.query_name(q) for q in range(data.n_queries)], dtype=object)
        documents = Ids.of([data.document_name(row) for row in range(data.n_documents)])
        return cls(queries, data.offsets, documents, values, tag)


@dataclass(frozen=True, eq=False)
class Judged:
    """A run with the grades of its documents, and all grades of each of its queries, retrieved or not."""

    query_ids: NDArray[Any]  # (Q,) text
    offsets: Ints  # (Q+1,) of the retrieved documents
    document_ids: Ids  # (N,)
    scores: Array  # (N,)
    labels: Array  # (N,) 0 if not judged
    unjudged: Flags  # (N,) whether a document has no judgment
    judged_offsets: Ints  # (Q+1,) of the judged documents
    judged: Array  # (M,) their grades
    n_qrels: int  # queries in the qrels
    n_run: int  # queries in the run
    n_both: int  # queries in both


def read_qrels(source: Source) -> Qrels:
    """Read qrels from a path, "-" or a binary file, gzipped or not."""
    columns = read_columns(source, ["query", "iteration", "document", "grade"], value="grade")
    return Qrels(columns.query_ids, columns.offsets, columns.document_ids, columns.values, source_name(source))


def read_run(source: Source) -> Run:
    """Read a run from a path, "-" or a binary file, gzipped or not. Its tag is that of the first line."""
    columns = read_columns(source, ["query", "Q0", "document", "rank", "score", "tag"], value="score")
    parts = (columns.query_ids, columns.offsets, columns.document_ids, columns.values)
    return Run(*parts, columns.tag, source_name(source))


def write_qrels(qrels: Qrels, target: Source) -> None:
    """Write qrels; whole grades without a point."""
    grades, which = np.unique(qrels.labels, return_inverse=True)
    words = Ids.of([int(grade) if grade.is_integer() else repr(grade) for grade in grades.tolist()])
    queries, zero, documents = _writable(qrels.query_ids), Ids.of(["0"]), _writable(qrels.document_ids)
    of_row = np.repeat(np.arange(len(queries)), np.diff(qrels.offsets))
    with writing(target) as file:
        for a, b in _blocks(len(of_row)):
            nothing = np.zeros(b - a, np.int64)
            file.write(lines([queries[of_row[a:b]], zero[nothing], documents[a:b], words[which[a:b]]]))


def write_run(run: Run, target: Source, *, top: int | None = None) -> None:
    """Write a run, the `top` documents of each query from the best down; equal scores keep their order.

    Ranks are ordinal, 1, 2, 3, also for equal scores, as the format demands.
    """
    rows, _ = order_all(run.scores, run.offsets)
    sizes = np.diff(run.offsets)
    rank, of_row = np.arange(len(rows)) - np.repeat(run.offsets[:-1], sizes), np.repeat(np.arange(len(sizes)), sizes)
    if top is not None:
        kept = rank < whole_number(top, "top", least=1)
        rows, rank, of_row = rows[kept], rank[kept], of_row[kept]
    queries, documents, words = _writable(run.query_ids), _writable(run.document_ids), _writable(["Q0", run.tag])
    numbers = Ids.of(range(1, int(rank.max(initial=0)) + 2))
    with writing(target) as file:
        for a, b in _blocks(len(rows)):
            scores = Ids.of(run.scores[rows[a:b]])
            q0, tag = (words[np.full(b - a, k)] for k in (0, 1))
            columns = [queries[of_row[a:b]], q0, documents[rows[a:b]], numbers[rank[a:b]], scores, tag]
            file.write(lines(columns))


AnyQrels = Qrels | Mapping[str, Mapping[str, float]]
"""Qrels, or a dictionary: query → document → grade."""
AnyRun = Run | Mapping[str, Mapping[str, float]]
"""A run, or a dictionary: query → document → score."""


def join(
    qrels: AnyQrels,
    run: AnyRun,
    *,
    all_queries: bool = False,
    max_documents: int | None = None,
    judged_only: bool = False,
    precision: Literal["float64", "float32"] = "float64",
) -> Judged:
    """Join the run's documents with their grades, for the queries in both.

    With `all_queries` every query of the qrels is there, without documents if the run lacks it: such a query counts as
    a failure, as in `trec_eval -c`. A query that only the run has is left out in either case.
    `max_documents` keeps the first documents of each query by score, equal scores by id with the last first
    (`trec_eval -M`); scores are compared in `precision`. `judged_only` then drops documents without a judgment or
    with a negative grade (`trec_eval -J`).
    """
    if max_documents is not None:
        max_documents = whole_number(max_documents, "max_documents", least=1)
    qrels, run = as_qrels(qrels), as_run(run)
    place = {query: q for q, query in enumerate(run.query_ids.tolist())}
    asked = qrels.query_ids.tolist()
    chosen = np.array([q for q, query in enumerate(asked) if all_queries or query in place], np.int64)
    answers = np.array([place.get(asked[q], -1) for q in chosen.tolist()], np.int64)
    judged_rows, judged_offsets = rows_of(qrels.offsets, chosen)
    rows, offsets = rows_of(run.offsets, answers)
    if max_documents is not None:
        rows, offsets = _first(run, rows, offsets, n=max_documents, precision=precision)
    judged, documents, scores = qrels.labels[judged_rows], run.document_ids[rows], run.scores[rows]
    matches = documents.find_in(qrels.document_ids[judged_rows], judged_offsets, offsets)
    unjudged = matches < 0
    labels = np.append(judged, 0.0)[matches]  # a match −1 is the last
    if judged_only:
        kept = ~unjudged & (labels >= 0.0)
        documents, scores, labels, unjudged = documents[kept], scores[kept], labels[kept], unjudged[kept]
        offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
    return Judged(
        query_ids=qrels.query_ids[chosen],
        offsets=offsets,
        document_ids=documents,
        scores=scores,
        labels=labels,
        unjudged=unjudged,
        judged_offsets=judged_offsets,
        judged=judged,
        n_qrels=len(asked),
        n_run=len(place),
        n_both=sum(query in place for query in asked),
    )


def as_qrels(qrels: object) -> Qrels:
    """Qrels unchanged, or from a dictionary."""
    if isinstance(qrels, Mapping):
        return Qrels.from_dict(qrels)
    if isinstance(qrels, Qrels):
        return qrels
    hint = " Give the run second." if isinstance(qrels, Run) else " Read a file with podium.read_qrels."
    raise DataError(f"expected Qrels or a dictionary query → document → grade; got {type(qrels).__name__}.{hint}")


def as_run(run: object) -> Run:
    """A run unchanged, or from a dictionary."""
    if isinstance(run, Mapping):
        return Run.from_dict(run)
    if isinstance(run, Run):
        return run
    hint = " Give the qrels first." if isinstance(run, Qrels) else " Read a file with podium.read_run."
    raise DataError(f"expected a Run or a dictionary query → document → score; got {type(run).__name__}.{hint}")


def first_documents(run: Run, depth: int) -> dict[str, list[str]]:
    """The first `depth` documents of each query, best first; equal scores keep their order."""
    rows, _ = order_all(run.scores, run.offsets)
    starts = run.offsets.tolist()
    return {
        str(query): [str(run.document_ids[row]) for row in rows[a : min(b, a + depth)].tolist()]
        for query, a, b in zip(run.query_ids.tolist(), starts[:-1], starts[1:], strict=True)
    }


def rows_of(offsets: Ints, queries: Ints) -> tuple[Ints | slice, Ints]:
    """The rows of some queries, in their order, and the offsets of these rows; −1 is a query without rows."""
    if np.array_equal(queries, np.arange(len(offsets) - 1)):
        return slice(None), offsets
    starts = offsets[queries]
    sizes = np.where(queries < 0, 0, offsets[queries + 1] - starts)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], sizes), bounds


def _first(run: Run, rows: Ints | slice, offsets: Ints, *, n: int, precision: str) -> tuple[Ints, Ints]:
    """The first n rows of each query by score, equal scores by id with the last first; in their order in the run."""
    with np.errstate(over="ignore"):
        scores = run.scores[rows].astype(precision).astype(np.float64)
    best_first, ends = order_all(scores, offsets)
    keys = id_keys(run.document_ids[rows], best_first, ends, offsets=offsets)
    best_first = break_ties(best_first, ends, offsets=offsets, keys=keys)
    sizes = np.diff(offsets)
    kept = np.sort(best_first[np.arange(len(scores)) - np.repeat(offsets[:-1], sizes) < n])
    cut = np.concatenate([[0], np.cumsum(np.minimum(sizes, n))]).astype(np.int64)
    return np.arange(len(run.scores))[rows][kept], cut


def _checked(nested: Mapping[str, Mapping[str, float]], what: str) -> dict[str, dict[str, float]]:
    """A dictionary of dictionaries with ids as text and finite numbers."""
    checked: dict[str, dict[str, float]] = {}
    for query, documents in nested.items():
        if not isinstance(documents, Mapping):
            raise DataError(f"query {query!r}: expected a dictionary document → {what}; got {documents!r}.")
        numbers = checked[_new_id(query, checked, "query")] = {}
        for document, value in documents.items():
            name = _new_id(document, numbers, f"query {query!r}: document")
            try:
                numbers[name] = exact_float(value)
            except ValueError:
                numbers[name] = math.nan
            if not math.isfinite(numbers[name]):
                raise DataError(
                    f"query {query!r}, document {document!r}: the {what} must be a finite number; got {value!r}."
                )
    return checked


def _new_id(value: object, earlier: Mapping[str, Any], what: str) -> str:
    """An id as text, which no earlier key of the dictionary has."""
    try:
        name = id_text(value)
    except ValueError as error:
        raise DataError(f"{what} {error}") from None
    if name in earlier:
        raise DataError(f"{what} {name!r} is there twice, once as {value!r}. Keep one of them.")
    return name


def _columns(
    nested: dict[str, dict[str, float]],
) -> tuple[NDArray[Any], Ints, Ids, Array]:
    """Query ids, offsets, document ids, numbers."""
    offsets = np.cumsum([0, *map(len, nested.values())], dtype=np.int64)
    documents = Ids.of([name for documents in nested.values() for name in documents])
    numbers = np.array([value for documents in nested.values() for value in documents.values()], dtype=np.float64)
    return np.array(list(nested), dtype=object), offsets, documents, numbers


def _writable(names: Iterable[str]) -> Ids:
    """The ids, if a TREC file can hold them."""
    ids = Ids.of(names)
    bad = ids.first_unwritable()
    if bad >= 0:
        raise DataError(f"{ids[bad]!r} has white space or nothing in it: a TREC file cannot hold it.")
    return ids


def _blocks(n: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows to write at a time."""
    return ((a, min(a + _BLOCK, n)) for a in range(0, n, _BLOCK))


_BLOCK = 2**14
