"""Pooling: the top documents of every run, as a sheet for judges to fill in.

    >>> from podium.formats.trec.trec import Run
    >>> bm25, dense = Run.from_dict({"q": {"a": 3, "b": 2, "c": 1}}), Run.from_dict({"q": {"c": 9, "a": 8, "d": 7}})
    >>> pooled = pool([bm25, dense], depth=2, names=["bm25", "dense"])
    >>> sorted(pooled.document_ids), pooled.found.sum(axis=0).tolist()
    (['a', 'b', 'c'], [2, 2])

Judges should not see which run found a document, nor at what rank: they get the documents of a query in random order,
each judge in another. Reference: Spärck Jones and van Rijsbergen, Report on the need for and provision of an "ideal"
information retrieval test collection, 1975.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Flags, Ints
from podium.base.errors import DataError, ParameterError
from podium.base.files import Source, writing
from podium.formats.trec.trec import AnyRun, as_run, first_documents


@dataclass(frozen=True, eq=False)
class Pool:
    """Pool of documents to judge; those of query q are offsets[q]:offsets[q+1], in random order."""

    query_ids: tuple[str, ...]  # (Q,) by first appearance in the runs
    offsets: Ints  # (Q+1,)
    document_ids: tuple[str, ...]  # (I,)
    runs: tuple[str, ...]  # (R,)
    found: Flags  # (I, R) whether a run has a document within the depth
    seed: int

    def alone(self) -> Ints:
        """Number of documents that only one run found, by run."""  # (R,)
        return np.asarray(self.found[self.found.sum(axis=1) == 1].sum(axis=0))


def pool(runs: Sequence[AnyRun], depth: int, *, names: Sequence[str] | None = None, seed: int = 0) -> Pool:
    """Pool the first `depth` documents of all runs, query by query; equal scores keep the run's order."""
    if depth < 1:
        raise ParameterError(f"depth must be at least 1; got {depth}.")
    if not runs:
        raise DataError("no runs to pool.")
    parsed = [as_run(run) for run in runs]
    called = [run.tag for run in parsed] if names is None else list(names)
    if len(called) != len(parsed) or len(set(called)) != len(called):
        raise DataError(f"{len(parsed)} runs need as many different names; got {', '.join(called)}.")
    pools: dict[str, dict[str, list[int]]] = {}  # query, document, numbers of the runs that found it
    for r, run in enumerate(parsed):
        for query, top in first_documents(run, depth).items():
            runs_of = pools.setdefault(query, {})
            for document in top:
                runs_of.setdefault(document, []).append(r)
    rng, documents, marks = random_numbers(seed), [], []
    for runs_of in pools.values():
        ids = sorted(runs_of)  # so that the order does not depend on the runs
        for k in rng.permutation(len(ids)).tolist():
            documents.append(ids[k])
            marks.append([r in runs_of[ids[k]] for r in range(len(parsed))])
    offsets = np.cumsum([0, *map(len, pools.values())]).astype(np.int64)
    matrix = np.array(marks, np.bool_).reshape(-1, len(parsed))
    return Pool(tuple(pools), offsets, tuple(documents), tuple(called), matrix, seed)


def write_sheet(
    pooled: Pool,
    target: Source,
    *,
    judges: Sequence[str] = ("judge",),
    columns: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a CSV sheet of query, document, judge and an empty grade: all of a judge's rows, then the next judge's.

    Every judge has the documents of a query in another order. `columns` are further ones, a cell for each document.
    `read_judgments` reads the sheet back.
    """
    more = columns or {}
    if not judges or len(set(judges)) != len(judges) or not all(map(str.strip, judges)):
        raise ParameterError(f"judges need names that differ; got {', '.join(map(repr, judges)) or 'none'}.")
    rng = np.random.default_rng([pooled.seed, 1])
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow(["query", "document", "judge", "grade", *more])
    for number, judge in enumerate(judges):
        for q, query in enumerate(pooled.query_ids):
            rows = np.arange(pooled.offsets[q], pooled.offsets[q + 1])
            for row in (rng.permutation(rows) if number else rows).tolist():
                sheet.writerow([query, pooled.document_ids[row], judge, "", *(cells[row] for cells in more.values())])
    with writing(target) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))
