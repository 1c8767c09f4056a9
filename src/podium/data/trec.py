"""TREC files: qrels (`query iteration document grade`) and runs (`query Q0 document rank score tag`).

    >>> import io
    >>> qrels = read_qrels(io.BytesIO(b"q1 0 d1 2\\nq1 0 d2 0\\n"))
    >>> run = read_run(io.BytesIO(b"q1 Q0 d3 1 0.9 mine\\nq1 Q0 d1 2 0.8 mine\\n"))
    >>> judged = join(qrels, run)
    >>> judged.labels.tolist(), judged.judged.tolist()
    ([0.0, 2.0], [2.0, 0.0])

As in trec_eval, the rank in a run is ignored (its scores make the order), as are the qrels' iteration, blank lines and
lines that begin with #. A document twice in a query is an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.data.dataset import Dataset
from podium.errors import DataError
from podium.files import Source, reading, source_name, writing


@dataclass(frozen=True, eq=False)
class Qrels:
    """Grades of judged documents, those of query q at offsets[q]:offsets[q+1]."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: NDArray[np.int64]  # (Q+1,)
    document_ids: NDArray[Any]  # (N,) text
    labels: NDArray[np.float64]  # (N,)
    source: str | None = None


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
    scores, first = _read(source, ["query", "Q0", "document", "rank", "score", "tag"], value=4)
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


def join(qrels: Qrels, run: Run, *, all_queries: bool = False) -> Judged:
    """The run's documents with their grades, for the queries in both.

    With `all_queries` every query of the qrels is there, without documents where the run has none of it: such a query
    counts as a failure, as in `trec_eval -c`. A query that only the run has is left out in either case.
    """
    place = {query: q for q, query in enumerate(run.query_ids)}
    chosen = [q for q, query in enumerate(qrels.query_ids) if all_queries or query in place]
    scores, labels, documents, judged, sizes, judged_sizes = [], [], [], [], [0], [0]
    for q in chosen:
        grades = qrels.labels[qrels.offsets[q] : qrels.offsets[q + 1]]
        known = dict(zip(qrels.document_ids[qrels.offsets[q] : qrels.offsets[q + 1]], grades.tolist(), strict=True))
        r = place.get(qrels.query_ids[q])
        rows = slice(0, 0) if r is None else slice(run.offsets[r], run.offsets[r + 1])
        documents.append(run.document_ids[rows])
        scores.append(run.scores[rows])
        labels.append([known.get(document, 0.0) for document in documents[-1]])
        judged.append(grades)
        sizes.append(len(documents[-1]))
        judged_sizes.append(len(grades))
    return Judged(
        query_ids=qrels.query_ids[chosen],
        offsets=np.cumsum(sizes, dtype=np.int64),
        document_ids=np.concatenate([np.empty(0, object), *documents]),
        scores=np.concatenate([np.empty(0), *scores]),
        labels=np.concatenate([np.empty(0), *labels]),
        judged_offsets=np.cumsum(judged_sizes, dtype=np.int64),
        judged=np.concatenate([np.empty(0), *judged]),
        n_qrels=len(qrels.query_ids),
        n_run=len(run.query_ids),
        n_both=sum(query in place for query in qrels.query_ids),
    )


def _read(source: Source, names: list[str], *, value: int) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Query → document → the number in column `value`; and the words of the first line."""
    name, found, first = source_name(source), dict[str, dict[str, float]](), list[str]()
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            words = raw.decode("utf-8", "surrogateescape").split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != len(names):
                raise DataError(
                    f"expected {len(names)} columns ({' '.join(names)}); got {len(words)}.", where=f"{name}:{number}"
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
