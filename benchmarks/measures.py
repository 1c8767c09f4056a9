"""NDCG@10, MAP and MRR of 10,000 queries of about 120 documents, beside pytrec_eval where that is installed.

    python benchmarks/measures.py [QUERIES]

CPU milliseconds, the best of interleaved repeats, without compilation. Both compute per-query values from what they
take natively: flat arrays here, dictionaries there; making those is not counted.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from podium.metrics import Metric, evaluate_all
from podium.ranking import order_all

METRICS = ["ndcg_cut_10", "map", "recip_rank"]


def main(n_queries: int = 10_000, repeats: int = 7) -> None:
    """Time, compare, print."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(60, 181, n_queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    scores = rng.normal(size=offsets[-1])
    labels = rng.choice(5, size=offsets[-1], p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.float64)
    ids = np.array([f"d{row}" for row in range(len(scores))], dtype=object)

    mean = [Metric.parse(name) for name in METRICS]
    trec = [Metric.parse(name, preset="trec") for name in METRICS]
    tied = np.round(2 * scores)
    runs: dict[str, Callable[[], Any]] = {
        "podium": lambda: evaluate_all(mean, scores, labels, offsets),
        "podium, 12 values of scores": lambda: evaluate_all(mean, tied, labels, offsets),
        "podium, preset trec": lambda: evaluate_all(trec, scores, labels, offsets, document_ids=ids),
        "podium, order only": lambda: order_all(scores, offsets),
    }
    peer = pytrec(scores, labels, offsets, ids)
    if peer is not None:
        runs["pytrec_eval"] = peer
    best = fastest(runs, repeats)
    for name, seconds in best.items():
        print(f"{name:30} {1e3 * seconds:8.1f} ms   {seconds / best['podium']:5.1f} ×")
    if peer is not None:
        theirs = np.array([[query[name] for query in peer().values()] for name in METRICS])
        ours = evaluate_all(trec, scores, labels, offsets, document_ids=ids)
        print(f"largest difference from pytrec_eval: {np.abs(theirs - ours).max():.1e}")


def pytrec(scores: Any, labels: Any, offsets: Any, ids: Any) -> Callable[[], dict[str, dict[str, float]]] | None:
    """pytrec_eval on the same data, or None."""
    try:
        import pytrec_eval
    except ImportError:
        return None
    spans = list(itertools.pairwise(offsets))
    run = {f"{q:06}": dict(zip(ids[a:b], scores[a:b].tolist(), strict=True)) for q, (a, b) in enumerate(spans)}
    grades = labels.astype(int)
    qrels = {f"{q:06}": dict(zip(ids[a:b], grades[a:b].tolist(), strict=True)) for q, (a, b) in enumerate(spans)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank"})
    return lambda: dict(sorted(evaluator.evaluate(run).items()))


def fastest(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The least CPU seconds of each, interleaved so that a busy machine is busy for all."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
