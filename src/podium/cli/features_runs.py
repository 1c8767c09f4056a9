"""`podium features RUN --also RUN`: scores of first stages as features, to learn how to weigh them."""

from __future__ import annotations

import os

from podium.base.errors import DataError, ParameterError
from podium.cli.features_log import say_written
from podium.cli.judged import Columns, read_judgments, read_ranked


def run_features(runs: list[str], qrels: str | None, output: str, columns: Columns, *, keep_unjudged: bool) -> None:
    """Write the scores of the documents of several runs, with grades; a run's file gives the name of its feature."""
    from podium.formats.feature_rows import grades_of, write_rows
    from podium.formats.trec.run_scores import run_rows

    names = [os.path.basename(run).partition(".")[0] for run in runs]
    if len(set(names)) < len(names):
        raise ParameterError(f"two runs are called {max(names, key=names.count)!r}, and so would be their features.")
    read = {name: read_ranked(run) for name, run in zip(names, runs, strict=True)}
    judged = None if qrels is None else grades_of(read_judgments(qrels, columns))
    parts = list(run_rows(read, judged, keep_unjudged=keep_unjudged))
    if not parts:
        raise DataError("no query of the runs has a judgment. Do the ids of queries agree?", where=qrels)
    written = write_rows(parts, output, names=names, about={"engine": "runs of first stages", "missing": "nan"})
    queries = {str(query) for run in read.values() for query in run.query_ids.tolist()}
    say_written(output, len(parts), written, len(names), len(queries))
