"""Rankings from what users have: several TREC runs, a PrefLib file, a LETOR aggregation file, a data frame.

>>> votes = read_rankings(["bm25.run", "dense.run"])  # doctest: +SKIP
>>> votes.voters  # doctest: +SKIP
('bm25', 'dense')
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Literal

import numpy as np

from podium.data.file_format import file_format
from podium.data.letor_agg import Top, read_letor_agg
from podium.data.preflib import read_preflib
from podium.data.rankings import Rankings
from podium.data.trec import Run, read_run
from podium.errors import DataError
from podium.files import reading

Missing = Literal["refuse", "allow"]
"""What to do where a voter ranks nothing for a query that another ranks."""
Path = str | os.PathLike[str]


def read_rankings(paths: Sequence[Path], *, missing: Missing = "refuse", top: Top = "largest") -> Rankings:
    """The rankings in one or several files, whose format is known by their content.

    Several files are TREC runs, each a voter; one file may also be PrefLib's or LETOR's for aggregation.
    """
    formats = [file_format(path) for path in paths]
    if len(paths) == 1 and formats[0] == "preflib":
        return read_preflib(paths[0])
    if len(paths) == 1 and formats[0] == "letor":
        return read_letor_agg(paths[0], top=top)
    for path, found in zip(paths, formats, strict=True):
        if found in ("preflib", "letor"):
            kind = "preflib" if found == "preflib" else "letor-agg"
            raise DataError(f"is a {kind} file, which holds all its voters; give it alone.", where=os.fspath(path))
    return read_runs(paths, missing=missing)


def read_runs(paths: Sequence[Path], *, missing: Missing = "refuse") -> Rankings:
    """Rankings from TREC runs, each a voter called by its file's name; scores make the ranks, equal ones tie."""
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
    return Rankings.from_entries(
        np.concatenate([np.repeat(run.query_ids, np.diff(run.offsets)) for run in runs]),
        np.repeat(np.array(names, dtype=object), [len(run.scores) for run in runs]),
        np.concatenate([run.document_ids for run in runs]),
        scores=np.concatenate([run.scores for run in runs]),
        voters=names,
        sources=texts,
    )


def rankings_from_frame(frame: Any, *, missing: Missing = "refuse") -> Rankings:
    """Rankings from a frame of pandas, polars or pyarrow with columns qid, voter, document and rank, score or both."""
    import narwhals as nw

    table = nw.from_native(frame)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    columns: dict[str, Any] = {}
    for name in ("qid", "voter", "document", "rank", "score"):
        if name in table.columns:
            values = table[name]
            if values.null_count() or (values.dtype.is_float() and values.is_nan().any()):
                raise DataError(f"column {name} has missing values. Leave the rows of unranked documents out.")
            columns[name] = values.to_numpy() if name in ("rank", "score") else values.to_list()
        elif name in ("qid", "voter", "document"):
            raise DataError(f"no column {name!r}; expected qid, voter, document, and rank or score.")
    if "rank" not in columns and "score" not in columns:
        raise DataError("no column 'rank' or 'score': one of them must say the order.")
    found = Rankings.from_entries(
        columns["qid"],
        columns["voter"],
        columns["document"],
        ranks=columns.get("rank"),
        scores=columns.get("score"),
        lines=range(len(columns["qid"])),
    )
    silent = np.flatnonzero(np.diff(found.entry_offsets) == 0)
    if missing == "refuse" and len(silent):
        query, voter = divmod(int(silent[0]), found.n_voters)
        raise DataError(
            f"voter {found.voters[voter]} ranks nothing for query {found.query_ids[query]}, which others rank. "
            "Add its ranking, or say missing='allow'."
        )
    return found


def _same_queries(runs: Sequence[Run]) -> None:
    """Refuse runs over different queries, naming one that is missing and where it stands."""
    for run in runs:
        known = set(run.query_ids)
        for other in runs:
            absent = next((query for query in other.query_ids if query not in known), None)
            if absent is not None:
                raise DataError(
                    f"query {absent} is ranked here but not in {run.source}: the runs are over different queries. "
                    "Add it there, or let that run abstain: missing='allow' (--missing allow).",
                    where=f"{other.source}:{_first_line(str(other.source), str(absent))}",
                )


def _first_line(path: str, query: str) -> int:
    """The line where a query of a run begins."""
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            if line.decode("utf-8", "surrogateescape").split()[:1] == [query]:
                return number
    return 1
