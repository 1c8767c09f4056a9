"""Files that are evaluated: runs against qrels, or scores against labelled data; and the segments of their queries."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from podium.base.errors import ParameterError
from podium.cli.judged import Columns, holds_qrels, read_judged

if TYPE_CHECKING:
    from podium.evaluation.evaluate import Evaluation
    from podium.metrics import Metric


def evaluate_files(
    judged: str,
    ranked: list[str],
    metrics: tuple[Metric, ...],
    *,
    chosen: dict[str, bool | int | None] | None = None,
    columns: Columns,
    queries: str | None,
) -> dict[str, Evaluation]:
    """Evaluate each file of scores, or each run; `chosen` are options of runs. Several are on the same queries.

    `columns` are those of tables of judgments, and `queries` a file that joins texts and ids of queries.
    """
    options: dict[str, Any] = chosen or {}
    if holds_qrels(judged, ranked[0], columns):
        qrels, runs = read_judged(judged, ranked, columns, queries)
        if len(runs) > 1:
            from podium.evaluation.compare_runs import evaluate_runs

            return evaluate_runs(qrels, runs, metrics, **options)
        from podium.evaluation.evaluate import evaluate_run

        return {name: evaluate_run(qrels, run, metrics, **options) for name, run in runs.items()}
    if any(options.values()):
        raise ParameterError("-c, -M and -J are for runs against qrels; with labelled data every document has a label.")
    from podium.evaluation.evaluate import evaluate
    from podium.formats import read_data
    from podium.formats.folder import is_table
    from podium.formats.scores_file import read_scores

    roles: dict[str, Any] = {"features": []} if is_table(judged) else {}  # labels are all that is needed
    data = read_data(judged, **roles)
    return {name: evaluate(data, read_scores(name, data), metrics) for name in ranked}


def read_segments(judged: str, queries: str | None, column: str) -> dict[str, str]:
    """The segment of each query: a column of a file of queries, or of the labelled table itself."""
    segments = _column_of_queries(judged, queries, column)
    if len(segments) > _FEW and len(set(segments.values())) == len(segments):
        raise ParameterError(
            f"--by {column}: each of {len(segments)} queries has a value of its own; a segment has several queries."
        )
    return segments


_FEW = 10


def _column_of_queries(judged: str, queries: str | None, column: str) -> dict[str, str]:
    from podium.formats.folder import is_table

    if queries is not None:
        from podium.text.collection.collection import read_query_column

        return read_query_column(queries, column)
    if os.path.exists(f"{judged}.queries"):
        from podium.formats.query_features_file import read_query_words

        return read_query_words(f"{judged}.queries", column)
    if not is_table(judged):
        raise ParameterError(
            f"--by {column}: give a file of queries that has this column, --queries FILE, or next to labelled data, "
            f"{judged}.queries; a labelled table may have it itself."
        )
    from podium.formats.tables.query_column import read_table_column

    return read_table_column(judged, column)
