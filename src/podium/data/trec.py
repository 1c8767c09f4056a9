"""TREC files: qrels (`query iteration document grade`) and runs (`query Q0 document rank score tag`).

    >>> import io
    >>> qrels = read_qrels(io.BytesIO(b"q1 0 d1 2\\nq1 0 d2 0\\n"))
    >>> run = read_run(io.BytesIO(b"q1 Q0 d3 1 0.9 mine\\nq1 Q0 d1 2 0.8 mine\\n"))
    >>> judged = join(qrels, run)
    >>> judged.labels.tolist(), judged.judged.tolist()
    ([0.0, 2.0], [2.0, 0.0])

Both can also be made from dictionaries, query → document → grade or score, as pytrec_eval and ranx have them.

As in trec_eval, the rank in a run is ignored (its scores make the order), as are words after the tag, the qrels'
iteration, blank lines and lines that begin with #. A document twice in a query is an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.data.dataset import Dataset
from podium.errors import DataError, ParameterError
from podium.files import Source, reading, source_name, writing


@dataclass(frozen=True, eq=False)
class Qrels:
    """Grades of judged documents, those of query q at offsets[q]:offsets[q+1]."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: NDArray[np.int64]  # (Q+1,)
    document_ids: NDArray[Any]  # (N,) text
    labels: NDArray[np.float64]  # (N,)
    source: str | None = None

    @classmethod
    def from_dict(cls, grades: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Qrels from a dictionary: query → document → grade."""
        return cls(*_columns(_checked(grades, "grade")))


@dataclass(frozen=True, eq=False)
class Run:
    """Scores of retrieved documents, those of query q at offsets[q]:offsets[q+1]."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: NDArray[np.int64]  # (Q+1,)
    document_ids: NDArray[Any]  # (N,) text
    scores: NDArray[np.float64]  # (N,)
    tag: str = "podium"
    source: str | None = None

    @classmethod
    def from_dict(cls, scores: Mapping[str, Mapping[str, float]], *, tag: str = "podium") -> Run:
        """A run from a dictionary: query → document → score."""
        return cls(*_columns(_checked(scores, "score")), tag)

    @classmethod
    def from_scores(cls, data: Dataset, scores: ArrayLike, *, tag: str = "podium") -> Run:
        """A run from a score for each row of a dataset, in the dataset's row order."""
        values = np.asarray(scores, np.float64).ravel()
        if len(values) != data.n_documents:
            raise DataError(f"{len(values)} scores for {data.n_documents} documents.", where=data.source)
        values, data = data.to_grouped(values), data.grouped()
        queries = np.array([data.query_name(q) for q in range(data.n_queries)], dtype=object)
        documents = np.array([data.document_name(row) for row in range(data.n_documents)], dtype=object)
        return cls(queries, data.offsets, documents, values, tag)


@dataclass(frozen=True, eq=False)
class Judged:
    """A run with the grades of its documents, and all grades of each of its queries, retrieved or not."""

    query_ids: NDArray[Any]  # (Q,) text
    offsets: NDArray[np.int64]  # (Q+1,) of the retrieved documents
    document_ids: NDArray[Any]  # (N,) text
    scores: NDArray[np.float64]  # (N,)
    labels: NDArray[np.float64]  # (N,) 0 where not judged
    unjudged: NDArray[np.bool_]  # (N,) whether a document has no judgement
    judged_offsets: NDArray[np.int64]  # (Q+1,) of the judged documents
    judged: NDArray[np.float64]  # (M,) their grades
    n_qrels: int  # queries in the qrels
    n_run: int  # queries in the run
    n_both: int  # queries in both


def read_qrels(source: Source) -> Qrels:
    """Qrels from a path, "-" or a binary file, gzipped or not."""
    grades, _ = _read(source, ["query", "iteration", "document", "grade"], value=3)
    queries, offsets, documents, labels = _columns(grades)
    return Qrels(queries, offsets, documents, labels, source_name(source))


def read_run(source: Source) -> Run:
    """A run from a path, "-" or a binary file, gzipped or not. Its tag is that of the first line."""
    scores, first = _read(source, ["query", "Q0", "document", "rank", "score", "tag"], value=4, more=True)
    queries, offsets, documents, values = _columns(scores)
    return Run(queries, offsets, documents, values, first[5], source_name(source))


def write_qrels(qrels: Qrels, target: Source) -> None:
    """Write qrels; whole grades without a point."""
    with writing(target) as file:
        for query, rows in _queries(qrels):
            for row in rows:
                grade = float(qrels.labels[row])
                word = str(int(grade)) if grade.is_integer() else repr(grade)
                file.write(_line(query, "0", str(qrels.document_ids[row]), word))


def write_run(run: Run, target: Source, *, top: int | None = None) -> None:
    """Write a run, the `top` documents of each query from the best down; equal scores keep their order.

    Ranks are ordinal, 1, 2, 3, also for equal scores, as the format wants them.
    """
    from podium.ranking import order

    with writing(target) as file:
        for query, rows in _queries(run):
            for rank, place in enumerate(order(run.scores[rows]).tolist()[:top], 1):
                row = rows[place]
                score = repr(float(run.scores[row]))
                file.write(_line(query, "Q0", str(run.document_ids[row]), str(rank), score, run.tag))


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
    """The run's documents with their grades, for the queries in both.

    With `all_queries` every query of the qrels is there, without documents where the run has none of it: such a query
    counts as a failure, as in `trec_eval -c`. A query that only the run has is left out in either case.
    `max_documents` keeps the first documents of each query by score, equal scores by id with the last first
    (`trec_eval -M`); scores are compared in `precision`. `judged_only` then drops documents without a judgement or
    with a negative grade (`trec_eval -J`).
    """
    if max_documents is not None and max_documents < 1:
        raise ParameterError(f"max_documents must be at least 1; got {max_documents}.")
    qrels, run = as_qrels(qrels), as_run(run)
    place = {query: q for q, query in enumerate(run.query_ids)}
    chosen = [q for q, query in enumerate(qrels.query_ids) if all_queries or query in place]
    scores, labels, unjudged, documents, judged = [], [], [], [], []
    for q in chosen:
        mine = slice(qrels.offsets[q], qrels.offsets[q + 1])
        known = dict(zip(qrels.document_ids[mine], qrels.labels[mine].tolist(), strict=True))
        r = place.get(qrels.query_ids[q])
        rows = np.arange(0) if r is None else np.arange(run.offsets[r], run.offsets[r + 1])
        if max_documents is not None:
            rows = _first(run, rows, max_documents, precision)
        if judged_only:
            rows = rows[[known.get(document, -1.0) >= 0.0 for document in run.document_ids[rows]]]
        documents.append(run.document_ids[rows])
        scores.append(run.scores[rows])
        labels.append([known.get(document, 0.0) for document in documents[-1]])
        unjudged.append([document not in known for document in documents[-1]])
        judged.append(qrels.labels[mine])
    return Judged(
        query_ids=qrels.query_ids[chosen],
        offsets=np.cumsum([0, *map(len, documents)], dtype=np.int64),
        document_ids=np.concatenate([np.empty(0, object), *documents]),
        scores=np.concatenate([np.empty(0), *scores]),
        labels=np.concatenate([np.empty(0), *labels]),
        unjudged=np.concatenate([np.empty(0, np.bool_), *unjudged]).astype(np.bool_),
        judged_offsets=np.cumsum([0, *map(len, judged)], dtype=np.int64),
        judged=np.concatenate([np.empty(0), *judged]),
        n_qrels=len(qrels.query_ids),
        n_run=len(run.query_ids),
        n_both=sum(query in place for query in qrels.query_ids),
    )


def as_qrels(qrels: Any) -> Qrels:
    """Qrels as such, or from a dictionary."""
    if isinstance(qrels, Mapping):
        return Qrels.from_dict(qrels)
    if isinstance(qrels, Qrels):
        return qrels
    hint = " Give the run second." if isinstance(qrels, Run) else " Read a file with podium.data.read_qrels."
    raise DataError(f"expected Qrels or a dictionary query → document → grade; got {type(qrels).__name__}.{hint}")


def as_run(run: Any) -> Run:
    """A run as such, or from a dictionary."""
    if isinstance(run, Mapping):
        return Run.from_dict(run)
    if isinstance(run, Run):
        return run
    hint = " Give the qrels first." if isinstance(run, Qrels) else " Read a file with podium.data.read_run."
    raise DataError(f"expected a Run or a dictionary query → document → score; got {type(run).__name__}.{hint}")


def _first(run: Run, rows: NDArray[np.int64], n: int, precision: str) -> NDArray[np.int64]:
    """The first n rows by score, equal scores by id with the last first; in the order they stand in the run."""
    scores = run.scores[rows].astype(precision).tolist()
    keys = [(score, str(run.document_ids[row])) for score, row in zip(scores, rows, strict=True)]
    best = sorted(range(len(rows)), key=keys.__getitem__, reverse=True)[:n]
    return rows[sorted(best)]


def _read(
    source: Source, names: list[str], *, value: int, more: bool = False
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Query → document → the number in column `value`; and the words of the first line.

    With `more`, further words on a line are ignored.
    """
    name, found, first = source_name(source), dict[str, dict[str, float]](), list[str]()
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            words = raw.decode("utf-8", "surrogateescape").split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) < len(names) or (len(words) > len(names) and not more):
                hint = _SWAPPED.get((len(names), len(words)), "")
                raise DataError(
                    f"expected {len(names)} columns ({' '.join(names)}); got {len(words)}.{hint}",
                    where=f"{name}:{number}",
                )
            first = first or words
            documents = found.setdefault(words[0], {})
            if words[2] in documents:
                raise DataError(f"document {words[2]!r} stands twice in query {words[0]!r}.", where=f"{name}:{number}")
            documents[words[2]] = _number(words[value])
            if not math.isfinite(documents[words[2]]):
                raise DataError(
                    f"the {names[value]} must be a finite number; got {words[value]!r}.", where=f"{name}:{number}"
                )
    if not first:
        raise DataError(f"no lines: expected {' '.join(names)}.", where=name)
    return found, first


_SWAPPED = {
    (4, 6): " This looks like a run: give the qrels first and the run second.",
    (6, 4): " This looks like qrels: give the qrels first and the run second.",
}
"""What an error adds, by the number of columns expected and found."""


def _checked(given: Mapping[str, Mapping[str, float]], what: str) -> dict[str, dict[str, float]]:
    """A dictionary of dictionaries with plain numbers; ids as text."""
    found: dict[str, dict[str, float]] = {}
    for query, documents in given.items():
        if not isinstance(documents, Mapping):
            raise DataError(f"query {query!r}: expected a dictionary document → {what}; got {documents!r}.")
        numbers = found[str(query)] = {}
        for document, value in documents.items():
            try:
                numbers[str(document)] = float(value)
            except (TypeError, ValueError):
                numbers[str(document)] = math.nan
            if not math.isfinite(numbers[str(document)]):
                raise DataError(
                    f"query {query!r}, document {document!r}: the {what} must be a finite number; got {value!r}."
                )
    return found


def _number(word: str) -> float:
    """The number; NaN where it is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan


def _columns(
    found: dict[str, dict[str, float]],
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any], NDArray[np.float64]]:
    """Query ids, offsets, document ids, numbers."""
    sizes = [len(documents) for documents in found.values()]
    offsets = np.cumsum([0, *sizes], dtype=np.int64)
    documents = np.array([name for documents in found.values() for name in documents], dtype=object)
    numbers = np.array([value for documents in found.values() for value in documents.values()], dtype=np.float64)
    return np.array(list(found), dtype=object), offsets, documents, numbers


def _queries(judged: Qrels | Run) -> Iterator[tuple[str, NDArray[np.int64]]]:
    for q, query in enumerate(judged.query_ids):
        yield str(query), np.arange(judged.offsets[q], judged.offsets[q + 1])


def _line(*words: str) -> bytes:
    for word in words:
        if word.split() != [word]:
            raise DataError(f"{word!r} has white space or nothing in it: a TREC file cannot hold it.")
    return " ".join(words).encode("utf-8", "surrogateescape") + b"\n"
