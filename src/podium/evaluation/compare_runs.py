"""Compare runs: several systems' TREC runs against the same judgements, query by query.

    >>> import io
    >>> from podium.data.trec import read_qrels, read_run
    >>> qrels = read_qrels(io.BytesIO(b"1 0 a 1\\n2 0 b 1\\n3 0 c 1\\n"))
    >>> good = read_run(io.BytesIO(b"1 Q0 a 1 2 x\\n2 Q0 b 1 2 x\\n3 Q0 c 1 2 x\\n"))
    >>> poor = read_run(io.BytesIO(b"1 Q0 b 1 2 x\\n1 Q0 a 2 1 x\\n2 Q0 b 1 2 x\\n"))
    >>> found = compare_runs(qrels, {"good": good, "poor": poor}, ["mrr"])
    >>> {name: system.mean for name, system in found["mrr"].systems.items()}
    {'good': 1.0, 'poor': 0.5}

A query that a run does not answer, while another does, counts as a failure: 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from podium.data.trec import Qrels, Run
from podium.errors import DataError
from podium.evaluation.evaluate import evaluate_run, read_metrics
from podium.evaluation.significance import SystemComparison, compare_systems
from podium.metrics import Metric


def compare_runs(
    qrels: Qrels,
    runs: Mapping[str, Run],
    metrics: Sequence[str | Metric] = ("ndcg@10",),
    *,
    preset: str | None = None,
    seed: int = 0,
) -> dict[str, SystemComparison]:
    """For each metric the runs from the best down, with intervals, tests and letters."""
    if len(runs) < 2:
        raise DataError(f"a comparison needs two runs; got {', '.join(runs) or 'none'}.")
    chosen = read_metrics(metrics, preset)
    found = {name: evaluate_run(qrels, run, chosen) for name, run in runs.items()}
    answered = {query for one in found.values() for query in one.query_ids}
    queries = {str(query): q for q, query in enumerate(query for query in qrels.query_ids if query in answered)}
    values = np.zeros((len(chosen), len(found), len(queries)))  # (M, systems, Q)
    for s, one in enumerate(found.values()):
        values[:, s, [queries[query] for query in one.query_ids]] = one.values
    skipped = np.isnan(values).any(axis=1, keepdims=True)  # nothing relevant is judged, whatever is retrieved
    values = np.where(skipped, np.nan, values)
    return {str(m): compare_systems(table, list(found), seed=seed) for m, table in zip(chosen, values, strict=True)}
