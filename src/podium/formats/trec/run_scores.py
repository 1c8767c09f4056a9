"""Scores of several runs as features: a column for each run, missing if it did not return the document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from podium.base.errors import DataError
from podium.formats.feature_rows import QueryRows
from podium.formats.trec.trec import Run
from podium.jit.sorting import order_all


def run_rows(
    runs: Mapping[str, Run], judged: Mapping[str, Mapping[str, float]] | None, *, keep_unjudged: bool = False
) -> Iterator[QueryRows]:
    """The documents of each query, with their score in each run and the grade 0 if they are not judged.

    Queries without a judgment are left out if there are judgments, unless `keep_unjudged`.
    """
    for run in runs.values():
        if not (np.abs(run.scores) <= np.finfo(np.float32).max).all():
            raise DataError("a score is beyond float32. Scale the scores of the run.", where=run.source)
    scores = [ranked_scores(run) for run in runs.values()]
    queries = dict.fromkeys(query for of_run in scores for query in of_run)
    for query in queries:
        if judged is not None and query not in judged and not keep_unjudged:
            continue
        ids = list(dict.fromkeys(id for of_run in scores for id in of_run.get(query, {})))
        X = np.full((len(ids), len(runs)), math.nan, np.float32)
        for column, of_run in enumerate(scores):
            there = of_run.get(query, {})
            X[:, column] = [there.get(id, math.nan) for id in ids]
        grades = None if judged is None else np.array([judged.get(query, {}).get(id, 0.0) for id in ids])
        yield QueryRows(query, ids, X, grades)


def ranked_scores(run: Run) -> dict[str, dict[str, float]]:
    """The scores of the documents of each query, best first; equal scores keep their order."""
    rows, _ = order_all(run.scores, run.offsets)
    documents, bounds = run.document_ids.tolist(), run.offsets.tolist()
    return {
        str(query): {str(documents[row]): float(run.scores[row]) for row in rows[a:b].tolist()}
        for query, a, b in zip(run.query_ids.tolist(), bounds[:-1], bounds[1:], strict=True)
    }
