"""Reader of rankings: several TREC runs, or one PrefLib file, LETOR aggregation file or table (CSV, Parquet).

>>> votes = read_rankings(["bm25.run", "dense.run"])  # doctest: +SKIP
>>> votes.voters  # doctest: +SKIP
('bm25', 'dense')
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from podium.aggregation.rankings.letor_agg import Top, read_letor_agg
from podium.aggregation.rankings.preflib import read_preflib
from podium.aggregation.rankings.rankings import Rankings
from podium.aggregation.rankings.rankings_table import Missing, read_rankings_table
from podium.base.arrays import Ints
from podium.base.errors import DataError
from podium.base.files import reading
from podium.formats.sniff import is_rows, sniff
from podium.formats.tables.records import read_records
from podium.formats.trec.trec import Run, read_run
from podium.parsing.ids import Ids

Path = str | os.PathLike[str]


def read_rankings(paths: Sequence[Path], *, missing: Missing = "refuse", top: Top = "largest") -> Rankings:
    """Read rankings from one or several files; the format is detected from their content.

    Several files are runs, each a voter; one file may also be PrefLib's, LETOR's for aggregation, or a table.

    `paths`: one file or several.
    `missing`: refuse runs over different queries, or allow a run to abstain from a query.
    `top`: of LETOR's files for aggregation, whether the largest or the smallest number is at the top of a list.
    """
    formats = [sniff(path) for path in paths]
    if len(paths) == 1 and formats[0] == "preflib":
        return read_preflib(paths[0])
    if len(paths) == 1 and formats[0] == "letor":
        return read_letor_agg(paths[0], top=top)
    if len(paths) == 1 and formats[0] == "table":
        return read_rankings_table(paths[0], missing=missing)
    for path, sniffed in zip(paths, formats, strict=True):
        if sniffed in ("preflib", "letor") or (sniffed == "table" and "voter" in read_records(path).columns):
            kind = "letor-agg" if sniffed == "letor" else sniffed
            raise DataError(f"a {kind} file holds all its voters; give it alone.", where=os.fspath(path))
    return read_runs(paths, missing=missing)


def read_runs(paths: Sequence[Path], *, missing: Missing = "refuse") -> Rankings:
    """Read rankings from TREC runs, each a voter named after its file; ranked by score, equal scores tied."""
    if not paths:
        raise DataError("no runs to aggregate.")
    texts = [os.fspath(path) for path in paths]
    stems = [PurePath(text.removesuffix(".gz")).stem for text in texts]
    names = stems if len(set(stems)) == len(stems) else texts
    if len(set(names)) < len(names):
        raise DataError("the same run is given twice.", where=next(n for n in names if names.count(n) > 1))
    runs = [read_run(path) for path in paths]
    if missing == "refuse":
        _same_queries(runs)
    queries = list(dict.fromkeys(query for run in runs for query in run.query_ids.tolist()))
    rows, entry_offsets = _lists(runs, queries)
    scores = np.concatenate([run.scores for run in runs])[rows]
    return Rankings.from_lists(
        Ids.joined([run.document_ids for run in runs])[rows],
        entry_offsets,
        values=scores,
        scores=scores,
        query_ids=np.array(queries, dtype=object),
        voters=names,
        sources=texts,
    )


def _lists(runs: Sequence[Run], queries: list[str]) -> tuple[Ints, Ints]:
    """The rows of all runs together, those of the first query in every run first, and the offset of each list."""
    starts, sizes = np.zeros((2, len(queries), len(runs)), np.int64)
    before = 0
    for v, run in enumerate(runs):
        place = {query: q for q, query in enumerate(run.query_ids.tolist())}
        at = np.array([place.get(query, -1) for query in queries], np.int64)
        starts[:, v] = before + run.offsets[at]
        sizes[:, v] = np.where(at < 0, 0, run.offsets[at + 1] - run.offsets[at])
        before += len(run.scores)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.arange(offsets[-1]) + np.repeat(starts.ravel() - offsets[:-1], sizes.ravel()), offsets


def _same_queries(runs: Sequence[Run]) -> None:
    """Raise a clear error if the runs are over different queries: the missing one, and its line in another run."""
    for run in runs:
        answered = set(run.query_ids)
        for other in runs:
            absent = next((query for query in other.query_ids if query not in answered), None)
            if absent is not None:
                raise DataError(
                    f"query {absent} is ranked here but not in {run.source}: the runs are over different queries. "
                    "Add it there, or let that run abstain: missing='allow' (--missing allow).",
                    where=_first_line(str(other.source), str(absent)),
                )


def _first_line(path: str, query: str) -> str:
    """The place of the first line of a query in a run."""
    if is_rows(path):
        return path
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            if line.decode("utf-8", "surrogateescape").split()[:1] == [query]:
                return f"{path}:{number}"
    return path
